#include "select/selector.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "select/counter_key.h"
#include "select/filters.h"
#include "select/kernel_id.h"
#include "select/nvtx_filter.h"

namespace dlkprof::select {
namespace {

struct SkipAndCount {
  std::uint64_t skipped = 0, selected = 0;
};

template <typename Value>
using CounterMap = std::unordered_map<CounterKey, Value, CounterKeyHash>;

}  // namespace

struct Selector::State {
  NameBase name_base = &KernelNames::function;
  std::vector<NameFilter> names;  // all must match
  NumberFilter context, stream, invocation;
  std::vector<std::uint32_t> devices;  // sorted, each once; empty: all

  bool in_ranges_alone = false;  // there is a filter by NVTX ranges

  FilterMode mode = FilterMode::global;
  std::uint64_t skip_before_match = 0, skip = 0;
  std::optional<std::uint64_t> count;

  std::uint64_t launches = 0;
  std::unordered_map<std::string, std::uint32_t> name_ids;
  std::unordered_map<std::uint32_t, std::uint64_t> invocations;  // by name_id
  CounterMap<SkipAndCount> counters;
  std::size_t counters_used_up = 0;

  void add_name(std::string_view option, std::string_view value, const NameField& field) {
    if (!field.text.empty()) names.emplace_back(option, value, field);
  }
  void add_kernel_id(std::string_view value);
  [[nodiscard]] bool takes_device(std::uint32_t device) const {
    return devices.empty() || std::ranges::binary_search(devices, device);
  }
  [[nodiscard]] bool matches_identity(const LaunchIdentity& launch);
  [[nodiscard]] bool matches_invocation(const LaunchIdentity& launch);
  [[nodiscard]] Verdict skip_or_select(const LaunchIdentity& launch);
};

void Selector::State::add_kernel_id(std::string_view value) {
  constexpr std::string_view kOption = "--kernel-id";
  const KernelId id = split_kernel_id(value);
  if (id.invocation == "0") {
    throw UsageError("--kernel-id asks for invocation 0", "", "Invocations are counted from 1: --kernel-id ::foo:1.");
  }
  add_name(kOption, value, id.name);
  context = NumberFilter({kOption, value, id.context});
  stream = NumberFilter({kOption, value, id.stream});
  invocation = NumberFilter({kOption, value, id.invocation});
}

bool Selector::State::matches_identity(const LaunchIdentity& launch) {
  if (!launch.in_ranges || !takes_device(launch.key.device)) return false;
  return context.matches(launch.context_id, launch.context_name) && stream.matches(launch.stream_id, launch.stream_name);
}

bool Selector::State::matches_invocation(const LaunchIdentity& launch) {
  if (invocation.matches_all()) return true;
  return invocation.matches(++invocations[launch.name_id]);
}

Verdict Selector::State::skip_or_select(const LaunchIdentity& launch) {
  if (skip == 0 && !count) return Verdict::selected;
  SkipAndCount& counter = counters[skip_and_count_key(mode, launch)];
  if (counter.skipped < skip) {
    ++counter.skipped;
    return Verdict::skipped;
  }
  if (!count) return Verdict::selected;
  if (counter.selected >= *count) return Verdict::exhausted;
  if (++counter.selected == *count) ++counters_used_up;
  return Verdict::selected;
}

KernelNames kernel_names(const std::string& mangled) {
  std::string demangled = demangle(mangled);
  std::string function = function_base_name(demangled);
  return {std::move(function), std::move(demangled), mangled};
}

Selector::Selector(std::unique_ptr<State> state) : state_(std::move(state)) {}
Selector::Selector(Selector&&) noexcept = default;
Selector& Selector::operator=(Selector&&) noexcept = default;
Selector::~Selector() = default;

Selector Selector::compile(const capture::Selection& selection) {
  auto state = std::make_unique<State>();
  state->name_base = parse_name_base(selection.kernel_name_base);
  state->mode = parse_filter_mode(selection.filter_mode);
  if (!selection.kernel_id.empty()) state->add_kernel_id(selection.kernel_id);
  state->add_name("--kernel-name", selection.kernel_name, split_name(selection.kernel_name));
  state->devices = selection.devices;
  std::ranges::sort(state->devices);
  state->devices.erase(std::unique(state->devices.begin(), state->devices.end()), state->devices.end());
  state->in_ranges_alone = selection.by_ranges();
  if (state->in_ranges_alone) (void)NvtxFilter(selection);  // throws where it cannot be read
  state->skip_before_match = selection.launch_skip_before_match;
  state->skip = selection.launch_skip;
  state->count = selection.launch_count;
  return Selector(std::move(state));
}

NameMatch Selector::match_names(const KernelNames& names) const {
  NameMatch match = NameMatch::yes;
  for (NameFilter& filter : state_->names) match = std::min(match, filter.match(names, state_->name_base));
  return match;
}

std::uint32_t Selector::name_id(const KernelNames& names) {
  const auto next = static_cast<std::uint32_t>(state_->name_ids.size() + 1);
  return state_->name_ids.try_emplace(names.*state_->name_base, next).first->second;
}

Verdict Selector::decide(NameMatch names, const LaunchIdentity& launch) {
  const bool skipped_before = state_->launches++ < state_->skip_before_match;
  if (names != NameMatch::yes || !state_->matches_identity(launch) || !state_->matches_invocation(launch)) {
    return Verdict::unmatched;
  }
  return skipped_before ? Verdict::skipped : state_->skip_or_select(launch);
}

bool Selector::exhausted() const {
  if (!state_->count) return false;
  if (*state_->count == 0) return true;
  switch (state_->mode) {
    case FilterMode::global:
      return state_->counters_used_up > 0;
    case FilterMode::per_gpu:  // only listed devices have counters
      return !state_->devices.empty() && state_->counters_used_up == state_->devices.size();
    case FilterMode::per_launch_config:  // another configuration may always come
      return false;
  }
  return false;
}

bool Selector::goes_by_name_and_device() const {
  const State& state = *state_;
  if (state.in_ranges_alone) return false;
  const bool counts = state.skip_before_match != 0 || state.skip != 0 || state.count.has_value();
  return !counts && state.context.matches_all() && state.stream.matches_all() && state.invocation.matches_all();
}

bool Selector::takes_device(std::uint32_t device) const { return state_->takes_device(device); }

bool Selector::needs_resource_names() const { return state_->context.is_pattern() || state_->stream.is_pattern(); }

bool Selector::limit_exceeded() const {
  return state_->context.limit_exceeded() || state_->stream.limit_exceeded() || state_->invocation.limit_exceeded() ||
         std::ranges::any_of(state_->names, &NameFilter::limit_exceeded);
}

}  // namespace dlkprof::select
