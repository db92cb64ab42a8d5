#include "report/ops/reports.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <utility>

#include "model/aggregate/counter_join.h"
#include "model/aggregate/tensor_core_use.h"
#include "model/fold/time_arithmetic.h"
#include "report/ops/counter_fields.h"

namespace dlkprof::report {
namespace {

constexpr std::array kAxes{std::pair{"X", &capture::Dim3::x}, std::pair{"Y", &capture::Dim3::y},
                           std::pair{"Z", &capture::Dim3::z}};

// What is the same for all launches of a configuration, or all copies of a kind.
struct Shared {
  model::TensorCoreUse tensor;
  std::vector<Cell> counters;  // as counter_fields()
  Cell unreliable;
};

struct Call {
  std::uint32_t iteration = 0;
  const model::Activity* activity = nullptr;
  const model::Op* op = nullptr;
  const model::Kernel* kernel = nullptr;
  const capture::LaunchKey* key = nullptr;  // none of copies and sets
  const model::Call* api = nullptr;         // none where the capture holds none
  bool is_first = false;                    // of what that call caused: its time is counted there
  const Shared* shared = nullptr;
};

// Looks up what a row needs. Rows are asked for in order, once each; what is shared among them is made once.
class Calls {
 public:
  explicit Calls(const model::Profile& profile)
      : timeline_(profile.timeline), fold_(profile.fold), tensor_cores_(profile.timeline) {
    std::vector<bool> call_seen(timeline_.calls.size());
    for (std::uint32_t i = 0; i < timeline_.activities.size(); ++i) {
      if (!profile.aggregate.has(fold_, fold_.activity_iteration[i])) continue;
      shown_.push_back(i);
      const std::uint32_t call = timeline_.activities[i].call;
      is_first_.push_back(call != model::kNone && !call_seen[call]);
      if (call != model::kNone) call_seen[call] = true;
    }
  }

  [[nodiscard]] std::size_t size() const { return shown_.size(); }

  const Call& operator[](std::size_t row) {
    const std::uint32_t index = shown_[row];
    const model::Activity& activity = timeline_.activities[index];
    call_.iteration = fold_.activity_iteration[index];
    call_.activity = &activity;
    call_.op = &fold_.ops[fold_.instances[fold_.activity_instance[index]].op];
    call_.kernel = &timeline_.kernels[activity.kernel];
    call_.key = activity.config == model::kNone ? nullptr : &timeline_.configs[activity.config].key;
    call_.api = activity.call == model::kNone ? nullptr : &timeline_.calls[activity.call];
    call_.is_first = is_first_[row];
    call_.shared = &shared(activity);
    return call_;
  }

 private:
  const Shared& shared(const model::Activity& activity) {
    const auto [found, is_new] = shared_.try_emplace({activity.kernel, activity.config});
    Shared& made = found->second;
    if (!is_new) return made;
    made.tensor = tensor_cores_.of(activity);
    const model::Counters counters = model::counters_of_launch(timeline_, activity.config);
    for (const Field<model::Counters>& field : counter_fields()) made.counters.push_back(field.cell(counters));
    made.unreliable = scaling_fields().back().cell(counters);
    return made;
  }

  const model::Timeline& timeline_;
  const model::Fold& fold_;
  model::TensorCoreTable tensor_cores_;
  std::vector<std::uint32_t> shown_;                                  // indices into Timeline::activities
  std::vector<bool> is_first_;                                        // of each of them: as Call
  std::map<std::pair<std::uint32_t, std::uint32_t>, Shared> shared_;  // by kernel and configuration
  Call call_;
};

Fields<Call> op_fields(const model::Fold& fold) {
  Fields<Call> fields{{"Iteration", "", [](const Call& call) -> Cell { return std::uint64_t{call.iteration}; }}};
  append(fields, op_name_fields(fold), [](const Call& call) -> const model::Op& { return *call.op; });
  fields.push_back({"Op Type", "", [](const Call& call) -> Cell { return call.op->type; }});
  return fields;
}

Fields<Call> time_fields(const model::Timeline& timeline) {
  return {
      {"Kernel Name", "", [](const Call& call) -> Cell { return call.kernel->name; },
       [](const Call& call) { return &call.kernel->long_name; }},
      {"Device ID", "",
       [&timeline](const Call& call) -> Cell { return std::uint64_t{timeline.devices[call.activity->device].record.index}; }},
      {"GPU Start Time (ns)", "ns",
       [](const Call& call) { return is_timed(*call.activity) ? Cell{call.activity->start_ns} : Cell{}; }},
      {"GPU Time (ns)", "ns",
       [](const Call& call) {
         return is_timed(*call.activity) ? Cell{call.activity->end_ns - call.activity->start_ns} : Cell{};
       }},
      {"API Call Start (ns)", "ns", [](const Call& call) { return call.api != nullptr ? Cell{call.api->start_ns} : Cell{}; }},
      {"API Call Time (ns)", "ns",
       [](const Call& call) { return call.is_first ? Cell{call.api->end_ns - call.api->start_ns} : Cell{}; }},
      {"Uses TC", "", [](const Call& call) -> Cell { return call.shared->tensor.uses; }},
  };
}

// "Grid X", "Grid Y", "Grid Z"
Fields<Call> size_fields(const char* what, capture::Dim3 capture::LaunchKey::*size) {
  Fields<Call> fields;
  for (const auto& [axis, member] : kAxes) {
    fields.push_back({std::string(what) + " " + axis, "", [size, member](const Call& call) {
                        return call.key != nullptr ? Cell{std::uint64_t{call.key->*size.*member}} : Cell{};
                      }});
  }
  return fields;
}

// What the guide has after the sizes.
Fields<Call> rest_fields() {
  return {{"Data Type", "", [](const Call& call) { return text_cell(call.op->data_types); }},
          {"Input Shapes", "", [](const Call& call) { return text_cell(call.op->input_shapes); }},
          {"Parameters", "", [](const Call&) { return Cell{}; }},
          {"Output Shapes", "", [](const Call&) { return Cell{}; }},
          {"Long Kernel Name", "", [](const Call& call) { return text_cell(call.kernel->long_name); }}};
}

// Ours.
Fields<Call> more_fields() {
  Fields<Call> fields{{"Stream ID", "", [](const Call& call) -> Cell { return std::uint64_t{call.activity->stream}; }},
                      {"Bytes", "byte", [](const Call& call) {
                         return call.kernel->kind == capture::ActivityKind::kernel ? Cell{} : Cell{call.activity->bytes};
                       }}};
  for (std::size_t i = 0; i < counter_fields().size(); ++i) {
    const Field<model::Counters>& field = counter_fields()[i];
    fields.push_back({field.name, field.unit, [i](const Call& call) { return call.shared->counters[i]; }});
  }
  fields.push_back({"TC Source", "", [](const Call& call) -> Cell {
                      return model::name_in(model::kTensorCoreSources, call.shared->tensor.source);
                    }});
  fields.push_back({"Unreliable", "", [](const Call& call) { return call.shared->unreliable; }});
  return fields;
}

}  // namespace

Rows iteration_report(const model::Profile& profile) {
  Fields<Call> fields = op_fields(profile.fold);
  append(fields, time_fields(profile.timeline));
  append(fields, size_fields("Grid", &capture::LaunchKey::grid));
  append(fields, size_fields("Block", &capture::LaunchKey::block));
  append(fields, rest_fields());
  append(fields, more_fields());
  const auto calls = std::make_shared<Calls>(profile);
  return make_rows("iteration", std::move(fields), calls->size(),
                   [calls](std::size_t row) -> const Call& { return (*calls)[row]; });
}

}  // namespace dlkprof::report
