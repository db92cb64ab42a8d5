#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "base/error.h"

namespace dlkprof::cli {
namespace {

// Where stderr is no terminal, a log is not to be flooded.
constexpr auto kPlainInterval = std::chrono::seconds(10);

bool is_capture_name(const std::string& name, const std::string& base_name) {
  constexpr std::string_view kSuffix = ".dlkcap";
  if (!name.starts_with(base_name) || !name.ends_with(kSuffix)) return false;
  const auto middle = name.substr(base_name.size(), name.size() - base_name.size() - kSuffix.size());
  if (middle.empty()) return true;
  // _<pid> or _<pid>_<n>, as capture/writer.h names them; not the captures of a base name that begins with ours.
  return middle[0] == '_' && middle.size() > 1 &&
         std::all_of(middle.begin() + 1, middle.end(), [](unsigned char c) { return std::isdigit(c) != 0 || c == '_'; });
}

}  // namespace

std::vector<std::filesystem::path> captures_in(const std::filesystem::path& folder, const std::string& base_name) {
  std::vector<std::filesystem::path> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (is_capture_name(entry.path().filename().string(), base_name)) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

Progress::Progress(std::filesystem::path folder, std::string base_name, std::optional<std::uint64_t> expected, bool terminal)
    : folder_(std::move(folder)), base_name_(std::move(base_name)), expected_(expected), terminal_(terminal) {}

void Progress::read_new() {
  for (const auto& path : captures_in(folder_, base_name_)) {
    try {
      if (!readers_.contains(path)) readers_.emplace(path, capture::Reader::open(path));
      while (const auto record = readers_.at(path).next()) {
        if (const auto* launch = std::get_if<capture::LaunchRecord>(&*record)) {
          ++kernels_;
          passes_ += launch->passes;
          cost_ns_ += launch->cost_ns;
        }
      }
    } catch (const Error&) {  // just being created; the next look will do
    }
  }
}

std::string Progress::line() const {
  const double seconds = static_cast<double>(cost_ns_) * 1e-9;
  auto text = fmt::format("dlkprof: {} kernels measured, {} passes, {:.1f} s", kernels_, passes_, seconds);
  if (expected_ && kernels_ > 0 && *expected_ > kernels_) {
    const double left = seconds / static_cast<double>(kernels_) * static_cast<double>(*expected_ - kernels_);
    text += fmt::format(", about {:.0f} s left for {} more", left, *expected_ - kernels_);
  }
  return text;
}

void Progress::update() {
  read_new();
  if (kernels_ == shown_) return;
  const auto now = std::chrono::steady_clock::now();
  if (terminal_) {
    fmt::print(stderr, "\r\x1b[K{}", line());
  } else if (now - last_shown_ >= kPlainInterval) {
    fmt::print(stderr, "{}\n", line());
  } else {
    return;
  }
  std::fflush(stderr);
  shown_ = kernels_;
  last_shown_ = now;
}

void Progress::finish() {
  if (terminal_ && shown_ > 0) fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
}

}  // namespace dlkprof::cli
