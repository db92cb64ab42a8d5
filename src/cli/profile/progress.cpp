#include "cli/profile/progress.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/say.h"
#include "cli/captures.h"

namespace dlkprof::cli {

Progress::Progress(std::filesystem::path folder, std::string base_name, std::optional<std::uint64_t> expected)
    : folder_(std::move(folder)), base_name_(std::move(base_name)), expected_(expected) {}

void Progress::read_new() {
  for (const auto& path : captures_by_name(folder_, base_name_)) {
    if (others_.contains(path)) continue;
    try {
      if (!readers_.contains(path)) {
        if (is_of_another_run(path, base_name_)) {
          others_.insert(path);
          continue;
        }
        readers_.emplace(path, capture::Reader::open(path));
      }
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
  const auto now = std::chrono::steady_clock::now();
  if (kernels_ == said_ || now < next_) return;
  say("{}\n", line());
  said_ = kernels_;
  pause_ *= 2;
  next_ = now + pause_;
}

}  // namespace dlkprof::cli
