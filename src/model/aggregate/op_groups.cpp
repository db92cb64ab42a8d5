#include "model/aggregate/op_groups.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <unordered_map>

#include "model/aggregate/counter_join.h"
#include "model/aggregate/layer_paths.h"
#include "model/aggregate/spread.h"
#include "model/fold/time_arithmetic.h"
#include "model/names.h"

namespace dlkprof::model {
namespace {

constexpr std::array kByNames{"layer", "op", "type", "module", "direction", "kernel"};

class OpGroups {
 public:
  OpGroups(const Profile& profile, By by) : profile_(profile), by_(by), group_of_op_(profile.fold.ops.size(), kNone) {
    if (by == By::layer || by == By::module) paths_ = find_layer_paths(profile.fold, profile.aggregate.ops);
  }

  std::vector<OpGroupRow> make() {
    if (by_ == By::kernel) {
      add_kernels();
    } else {
      for (std::uint32_t i = 0; i < profile_.aggregate.ops.size(); ++i) add(i, profile_.aggregate.ops[i]);
    }
    add_activities();
    finish();
    return std::move(rows_);
  }

 private:
  using Key = std::tuple<std::string, Direction, std::uint32_t>;

  [[nodiscard]] Key key_of(std::uint32_t index, const Op& op) const {
    switch (by_) {
      case By::layer:
        return {paths_[index].layer, op.direction, 0};
      case By::module:
        return {paths_[index].module, Direction::none, 0};
      case By::op:
        return {op.name, op.direction, index};
      case By::direction:
        return {op.direction == Direction::none ? "none" : name_in(kDirections, op.direction), op.direction, 0};
      case By::type:
      case By::kernel:
        break;
    }
    return {op.type, Direction::none, 0};
  }

  std::uint32_t row_of(const Key& key) {
    const auto [known, is_new] = index_.try_emplace(key, static_cast<std::uint32_t>(rows_.size()));
    if (is_new) {
      OpGroupRow& row = rows_.emplace_back();
      std::tie(row.name, row.direction, std::ignore) = key;
      layers_.emplace_back();
    }
    return known->second;
  }

  void add(std::uint32_t index, const OpRow& part) {
    if (!part.launches()) return;
    const std::uint32_t number = group_of_op_[part.op] = row_of(key_of(index, profile_.fold.ops[part.op]));
    OpGroupRow& row = rows_[number];
    row.rows.push_back(index);
    ++row.ops;
    row.calls += part.cpu.n;
    add_ns(row.gpu_ns, part.gpu.total);
    add_ns(row.tc_gpu_ns, part.tc_gpu_ns);
    add_tensor_cores(row, part.uses_tc, part.tc_source);
    if (!paths_.empty() && !paths_[index].which.empty()) add_ns(layers_[number][paths_[index].which], part.gpu.total);
  }

  void add_kernels() {
    std::map<std::uint32_t, std::uint32_t> group_of_kernel;
    for (std::uint32_t i = 0; i < profile_.aggregate.kernels.size(); ++i) {
      const KernelRow& part = profile_.aggregate.kernels[i];
      const std::uint32_t number = row_of({profile_.timeline.kernels[part.kernel].name, Direction::none, part.kernel});
      OpGroupRow& row = rows_[number];
      row.rows.push_back(i);
      ++row.ops;
      add_ns(row.gpu_ns, part.gpu.total);
      if (part.uses_tc) add_ns(row.tc_gpu_ns, part.gpu.total);
      add_tensor_cores(row, part.uses_tc, part.tc_source);
    }
  }

  // The source is that of the verdict: of the parts that use them where any does.
  static void add_tensor_cores(OpGroupRow& row, bool uses, TensorCoreSource source) {
    if (uses && !row.uses_tc) row.tc_source = TensorCoreSource::unknown;
    row.uses_tc |= uses;
    if (uses == row.uses_tc) row.tc_source = std::max(row.tc_source, source);
  }

  [[nodiscard]] std::uint32_t group_of(std::size_t activity) const {
    if (by_ != By::kernel) return group_of_op_[profile_.fold.instances[profile_.fold.activity_instance[activity]].op];
    const std::uint32_t kernel = profile_.timeline.activities[activity].kernel;
    const auto found = index_.find({profile_.timeline.kernels[kernel].name, Direction::none, kernel});
    return found == index_.end() ? kNone : found->second;
  }

  void add_activities() {
    CounterJoin join(profile_.timeline);
    for (std::size_t i = 0; i < profile_.timeline.activities.size(); ++i) {
      if (!profile_.aggregate.has(profile_.fold, profile_.fold.activity_iteration[i])) continue;
      const std::uint32_t number = group_of(i);
      if (number == kNone) continue;
      const Activity& activity = profile_.timeline.activities[i];
      ++rows_[number].launches;
      if (activity.in_graph) add_ns(rows_[number].graph_gpu_ns, gpu_ns(activity));
      if (!profile_.timeline.is_kernel(activity)) add_ns(rows_[number].copies_gpu_ns, gpu_ns(activity));
      join.add(number, activity);
    }
    std::vector<Counters> counters = join.finish(rows_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].counters = std::move(counters[i]);
  }

  void finish() {
    const auto whole = static_cast<double>(profile_.aggregate.summary.all_ops.gpu_ns);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      OpGroupRow& row = rows_[i];
      if (by_ == By::kernel) row.calls = row.launches;
      if (whole > 0) row.share = static_cast<double>(row.gpu_ns) / whole;
      row.type = largest_type(row);
      describe_layers(layers_[i], row);
    }
    std::erase_if(rows_, [](const OpGroupRow& row) { return row.gpu_ns <= 0; });
    const auto order = [](const OpGroupRow& row) { return std::tuple(-row.gpu_ns, std::string_view(row.name), row.direction); };
    std::stable_sort(rows_.begin(), rows_.end(), [&](const auto& a, const auto& b) { return order(a) < order(b); });
  }

  [[nodiscard]] std::string largest_type(const OpGroupRow& row) const {
    std::map<std::string_view, std::int64_t> gpu_ns;
    const Aggregate& made = profile_.aggregate;
    for (const std::uint32_t part : row.rows) {
      const bool is_kernel = by_ == By::kernel;
      const Op& op = profile_.fold.ops[is_kernel ? made.kernels[part].op : made.ops[part].op];
      add_ns(gpu_ns[op.type], is_kernel ? made.kernels[part].gpu.total : made.ops[part].gpu.total);
    }
    const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto largest = std::max_element(gpu_ns.begin(), gpu_ns.end(), less);
    return largest == gpu_ns.end() ? "" : std::string(largest->first);
  }

  static void describe_layers(const std::map<std::string, std::int64_t>& times, OpGroupRow& row) {
    if (times.empty()) return;
    FoldedLayers& layers = row.layers.emplace();
    Spread spread;
    for (const auto& [path, gpu_ns] : times) {
      if (layers.gpu.n == 0 || gpu_ns > layers.gpu.most) layers.slowest = path;
      layers.gpu.add(gpu_ns);
      spread.add(static_cast<double>(gpu_ns));
    }
    layers.deviation = spread.deviation();
  }

  const Profile& profile_;
  By by_;
  std::vector<LayerPath> paths_;            // of each of Aggregate::ops
  std::vector<std::uint32_t> group_of_op_;  // of each of Fold::ops
  std::map<Key, std::uint32_t> index_;
  std::vector<OpGroupRow> rows_;
  std::vector<std::map<std::string, std::int64_t>> layers_;  // of each row: GPU time by layer
};

}  // namespace

std::span<const char* const> by_names() { return kByNames; }

std::vector<OpGroupRow> group_ops(const Profile& profile, By by) { return OpGroups(profile, by).make(); }

}  // namespace dlkprof::model
