#include "capture/options.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "base/error.h"

namespace dlkprof::capture {
namespace {

using nlohmann::json;

// The names and places of all options: the one list that writing and reading share.
template <typename Visit>
void fields(Visit&& visit, auto& options) {
  visit("kernel_id", options.selection.kernel_id);
  visit("kernel_name", options.selection.kernel_name);
  visit("kernel_name_base", options.selection.kernel_name_base);
  visit("launch_skip", options.selection.launch_skip);
  visit("launch_count", options.selection.launch_count);
  visit("launch_skip_before_match", options.selection.launch_skip_before_match);
  visit("filter_mode", options.selection.filter_mode);
  visit("devices", options.selection.devices);
  visit("nvtx_include", options.selection.nvtx_include);
  visit("nvtx_exclude", options.selection.nvtx_exclude);
  visit("replay_mode", options.collect);
  visit("cache_control", options.cache_control);
  visit("samples", options.samples);
  visit("keep_counters", options.keep_counters);
  visit("max_overhead_seconds", options.max_overhead_seconds);
  visit("max_memory_mb", options.max_memory_mb);
  visit("max_capture_mb", options.max_capture_mb);
  visit("sampling_interval_ns", options.sampling_interval_ns);
  visit("pc_sampling", options.pc_sampling);
  visit("timeline", options.timeline);
  visit("in_bursts", options.in_bursts);
  visit("iterations", options.iterations);
  visit("fast_range_texts", options.fast_range_texts);
  visit("metrics", options.metrics);
  visit("first_metrics", options.first_metrics);
  visit("output_directory", options.output_directory);
  visit("base_name", options.base_name);
  visit("cupti_path", options.cupti_path);
  visit("all_processes", options.all_processes);
  visit("ranks", options.ranks);
  visit("application_pid", options.application_pid);
  visit("profile_from_start", options.profile_from_start);
  visit("delay_seconds", options.delay_seconds);
  visit("duration_seconds", options.duration_seconds);
  visit("quiet", options.quiet);
  visit("fingerprint", options.fingerprint);
}

// Enumerators by name, in the order of their values.
template <typename T>
inline constexpr std::array<const char*, 0> kNames{};
template <>
inline constexpr std::array<const char*, 6> kNames<Collect>{"none", "kernel", "iteration", "auto", "sample", "source"};
template <>
inline constexpr std::array<const char*, 2> kNames<CacheControl>{"none", "all"};

template <typename T>
json to_value(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return kNames<T>.at(static_cast<std::size_t>(value));
  } else {
    return value;
  }
}
json to_value(const MetricRequest& request) { return request.names; }
template <typename T>
json to_value(const std::optional<T>& value) {
  return value ? to_value(*value) : json();
}
template <typename T>
json to_value(const std::vector<T>& values) {
  json array = json::array();
  for (const T& value : values) array.push_back(to_value(value));
  return array;
}

// get<T>() of the library turns -1 or 1.5 into some integer: types are checked here.
template <typename T>
bool from_value(const json& value, T& out) {
  if constexpr (std::is_enum_v<T>) {
    const auto* found = std::find(kNames<T>.begin(), kNames<T>.end(), value);
    out = static_cast<T>(found - kNames<T>.begin());
    return found != kNames<T>.end();
  } else {
    bool fits = false;
    if constexpr (std::is_same_v<T, bool>) {
      fits = value.is_boolean();
    } else if constexpr (std::is_integral_v<T>) {
      fits = value.is_number_unsigned() && value.get<std::uint64_t>() <= std::numeric_limits<T>::max();
    } else if constexpr (std::is_floating_point_v<T>) {
      fits = value.is_number();
    } else {
      fits = value.is_string();
    }
    if (fits) out = value.get<T>();
    return fits;
  }
}
template <typename T>
bool from_value(const json& value, std::vector<T>& out);
bool from_value(const json& value, MetricRequest& out) { return from_value(value, out.names); }
template <typename T>
bool from_value(const json& value, std::optional<T>& out) {
  if (value.is_null()) {
    out.reset();
    return true;
  }
  return from_value(value, out.emplace());
}
template <typename T>
bool from_value(const json& value, std::vector<T>& out) {
  out.clear();
  return value.is_array() &&
         std::all_of(value.begin(), value.end(), [&](const json& element) { return from_value(element, out.emplace_back()); });
}

Error not_ours(std::string detail) {
  return {fmt::format("the options in {} are not those of dlkprof", kOptionsVariable), std::move(detail),
          fmt::format("Start the program with dlkprof, and leave {} unset.", kOptionsVariable)};
}

}  // namespace

std::string to_json(const ProfileOptions& options) {
  json object = json::object();
  fields([&](const char* name, const auto& value) { object[name] = to_value(value); }, options);
  try {
    return object.dump();
  } catch (const json::type_error& error) {
    throw Error("an option holds bytes that are not valid UTF-8", error.what(), "Use a path and names in UTF-8.");
  }
}

ProfileOptions options_from_json(const std::string& text) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) throw not_ours("no JSON object");
  ProfileOptions options;
  fields(
      [&](const char* name, auto& value) {
        const auto found = object.find(name);
        if (found != object.end() && !from_value(*found, value))
          throw not_ours(fmt::format("{} has a wrong type or value", name));
      },
      options);
  return options;
}

}  // namespace dlkprof::capture
