#include "cli/machine.h"

#include <dlkprof/build_facts.h>
#include <dlkprof/version.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string_view>

#include "base/error.h"
#include "cupti/host.h"
#include "cupti/machine.h"

namespace dlkprof::cli {
namespace {

constexpr unsigned kSysAdminBit = 21;  // CAP_SYS_ADMIN, capabilities(7)

// As NVIDIA's datasheets name the GPU on each.
struct SoldAs {
  std::string_view gpu, chip;
};
constexpr std::array kSold{SoldAs{"v100", "GV100"}, SoldAs{"t4", "TU104"},   SoldAs{"a100", "GA100"}, SoldAs{"a30", "GA100"},
                           SoldAs{"a10", "GA102"},  SoldAs{"a40", "GA102"},  SoldAs{"l4", "AD104"},   SoldAs{"l40", "AD102"},
                           SoldAs{"l40s", "AD102"}, SoldAs{"h100", "GH100"}, SoldAs{"h200", "GH100"}, SoldAs{"gh200", "GH100"},
                           SoldAs{"b200", "GB100"}, SoldAs{"gb200", "GB100"}};

// The value of `key` in lines of "key: value" (or a tab); none where there is no such line.
std::optional<std::string_view> value_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!line.starts_with(key) || line.substr(key.size()).find(':') != 0) continue;
    const std::string_view value = line.substr(key.size() + 1);
    return value.substr(std::min(value.find_first_not_of(" \t"), value.size()));
  }
  return std::nullopt;
}

}  // namespace

std::optional<bool> counters_for_admins_only(const std::string& params) {
  const auto value = value_of(params, "RmProfilingAdminOnly");
  if (!value) return std::nullopt;
  return *value != "0";
}

bool has_sys_admin(const std::string& status) {
  const auto value = value_of(status, "CapEff");
  if (!value) return false;
  std::uint64_t capabilities = 0;
  (void)std::from_chars(value->data(), value->data() + value->size(), capabilities, 16);
  return ((capabilities >> kSysAdminBit) & 1U) != 0;
}

std::string version_text() {
  const std::string commit = *DLKPROF_COMMIT == '\0' ? "" : "commit " DLKPROF_COMMIT ", ";
  return fmt::format("dlkprof " DLKPROF_VERSION " ({}{})", commit, cupti::built_with());
}

std::string chip_named(const std::string& word) {
  std::string lower = word;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto* found = std::find_if(kSold.begin(), kSold.end(), [&lower](const SoldAs& one) { return one.gpu == lower; });
  return found == kSold.end() ? word : std::string(found->chip);
}

std::string choose_chip(const std::string& asked, const cupti::Library& library, const std::filesystem::path& cupti_path) {
  if (!asked.empty()) return chip_named(asked);
  try {
    if (!cupti::find_driver().devices.empty()) return cupti::chip_of_device(0, cupti_path);
  } catch (const Error&) {
    // No GPU here: then the chip must be named.
  }
  throw UsageError("no GPU is found here: name a chip with --chip", "",
                   fmt::format("There are: {}", fmt::join(cupti::Host::chips(library), ", ")));
}

}  // namespace dlkprof::cli
