#include "report/ops/top_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/format/layout.h"
#include "report/ops/counter_fields.h"

namespace dlkprof::report {
namespace {

constexpr std::size_t kTypeWidth = 32;
constexpr std::size_t kNameAloneWidth = 76;  // beneath, by itself
constexpr std::size_t kMostName = 4096;

// The end of a long path says more than its beginning.
std::string shorten(const std::string& name, std::size_t width) {
  std::string text = printable(name, kMostName);
  if (display_width(text) <= width) return text;
  std::size_t from = text.size();
  for (std::size_t characters = 0; from > 0 && characters < width - 3;) {
    --from;
    if ((static_cast<unsigned char>(text[from]) & 0xC0U) != 0x80U) ++characters;  // not inside a UTF-8 sequence
  }
  return "..." + text.substr(from);
}

std::string occupancy_text(const model::Counters& counters) {
  const Cell cell = achieved_occupancy(counters);
  const auto* percent = std::get_if<double>(&cell);
  return percent == nullptr ? "" : fmt::format("{:.1f} %", *percent);
}

std::string time_text(const model::Stats& gpu) {
  return gpu.n == 0 ? "" : duration(static_cast<std::uint64_t>(std::max<std::int64_t>(gpu.total, 0)));
}

std::string share_text(const model::OpRow& row, std::int64_t whole) {
  if (row.gpu.n == 0 || whole <= 0) return "";
  return fmt::format("{:.1f} %", 100.0 * static_cast<double>(row.gpu.total) / static_cast<double>(whole));
}

std::string line(const std::string& op, const std::string& replay_mode, const std::string& calls, const std::string& time,
                 const std::string& share, const std::string& tensor, const std::string& occupancy) {
  std::string text = pad_right(op, kTypeWidth) + "  " + pad_right(replay_mode, 5) + pad_left(calls, 8) + pad_left(time, 11) +
                     pad_left(share, 8) + "  " + pad_right(tensor, 3) + pad_left(occupancy, 9);
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

}  // namespace

std::string top_ops(const model::Profile& profile, std::size_t most) {
  std::vector<model::OpRow> ops = profile.aggregate.ops;
  std::erase_if(ops, [](const model::OpRow& row) { return row.gpu.total <= 0; });
  if (ops.empty()) return "";
  const std::int64_t whole = profile.aggregate.summary.all_ops.gpu_ns;
  std::string text = line("Op type, and where it is", "", "calls", "GPU time", "share", "TC", "occup.");
  for (std::size_t i = 0; i < std::min(most, ops.size()); ++i) {
    const model::OpRow& row = ops[i];
    const model::Op& op = profile.fold.ops[row.op];
    text += line(shorten(op.type, kTypeWidth), direction(op.direction), with_separators(row.cpu.n), time_text(row.gpu),
                 share_text(row, whole), row.uses_tc ? "yes" : "no", occupancy_text(row.counters));
    text += "  " + shorten(op.name, kNameAloneWidth) + "\n";
  }
  if (ops.size() > most) text += fmt::format("and {} more ops with GPU time\n", with_separators(ops.size() - most));
  return text;
}

}  // namespace dlkprof::report
