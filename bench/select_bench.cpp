// What the selector costs the program: decide() once a launch, match_names() once a kernel function.
#include <benchmark/benchmark.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "select/selector.h"

namespace {

using namespace dlkprof;  // NOLINT(google-build-using-namespace)

// The launches of a model of some hundred configurations on one device.
constexpr std::size_t kConfigurations = 256;

std::array<select::LaunchIdentity, kConfigurations> launches() {
  std::array<select::LaunchIdentity, kConfigurations> all;
  for (std::uint32_t i = 0; i < kConfigurations; ++i) {
    all[i].key.function = i / 4;
    all[i].key.grid = {.x = 1 + (i % 4), .y = 64, .z = 1};
    all[i].key.block = {.x = 128};
    all[i].context_id = 1;
    all[i].stream_id = 7;
  }
  return all;
}

void decide(benchmark::State& state, const capture::Selection& selection, select::NameMatch names) {
  const auto all = launches();
  auto selector = select::Selector::compile(selection);
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(selector.decide(names, all[i++ % kConfigurations]));
}

void match_names(benchmark::State& state, const capture::Selection& selection, std::size_t name_bytes) {
  auto name = std::string(name_bytes, 'x') + "_gemm_";
  const select::KernelNames names{.function = "Kernel2", .demangled = name, .mangled = name};
  const auto selector = select::Selector::compile(selection);
  for (auto _ : state) benchmark::DoNotOptimize(selector.match_names(names));
}

using select::NameMatch;
const capture::Selection kGemm{.kernel_id = "::regex:gemm:"};

BENCHMARK_CAPTURE(decide, all, {}, NameMatch::yes);
BENCHMARK_CAPTURE(decide, name_does_not_match, kGemm, NameMatch::no);
BENCHMARK_CAPTURE(decide, name_matches, kGemm, NameMatch::yes);
BENCHMARK_CAPTURE(decide, stream_number, {.kernel_id = ":7:regex:gemm:"}, NameMatch::yes);
BENCHMARK_CAPTURE(decide, invocation_number, {.kernel_id = "::regex:gemm:2"}, NameMatch::yes);
BENCHMARK_CAPTURE(decide, invocation_pattern, {.kernel_id = ":::.*5|3"}, NameMatch::yes);
BENCHMARK_CAPTURE(decide, count_per_launch_config, {.launch_count = 1, .filter_mode = "per-launch-config"}, NameMatch::yes);

BENCHMARK_CAPTURE(match_names, plain, {.kernel_name = "sgemm"}, 200);
BENCHMARK_CAPTURE(match_names, near_in_200_bytes, kGemm, 200);
BENCHMARK_CAPTURE(match_names, near_in_10_kilobytes, kGemm, 10'000);
BENCHMARK_CAPTURE(match_names, near_in_a_megabyte, kGemm, 1'000'000);
BENCHMARK_CAPTURE(match_names, given_up_on_a_megabyte, {.kernel_id = "::regex:(x+)+$:"}, 1'000'000);

}  // namespace
