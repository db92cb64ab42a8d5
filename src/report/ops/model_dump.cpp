#include "report/ops/reports.h"

#include <string_view>

#include "model/fold/instance_activities.h"
#include "model/fold/time_arithmetic.h"
#include "report/format/json.h"
#include "report/ops/fields.h"

namespace dlkprof::report {
namespace {

using Members = std::vector<std::pair<const char*, Cell>>;

Cell index_cell(std::uint32_t index) { return index == model::kNone ? Cell{} : Cell{std::uint64_t{index}}; }

void add_object(std::string& out, const Members& members) {
  const char* before = "{\"";
  for (const auto& [name, value] : members) {
    out += before;
    out += name;
    out += "\": ";
    add_json(out, value);
    before = ", \"";
  }
  out += '}';
}

template <typename Element, typename Describe>
void add_array(Buffer& out, std::string_view name, const std::vector<Element>& elements, Describe describe) {
  out.text += ",\n  ";
  add_json_text(out.text, name);
  out.text += ": [";
  const char* before = "\n    ";
  for (const Element& element : elements) {
    out.text += before;
    before = ",\n    ";
    add_object(out.text, describe(element));
    out.drain();
  }
  out.text += elements.empty() ? "]" : "\n  ]";
}

Members describe_op(const model::Op& op) {
  return {{"id", op.id},
          {"name", op.name},
          {"type", op.type},
          {"direction", direction_cell(op.direction)},
          {"data_types", text_cell(op.data_types)},
          {"input_shapes", text_cell(op.input_shapes)},
          {"group", index_cell(op.group)},
          {"eligible", op.eligible},
          {"leaf", op.leaf}};
}

// `instance` is one of the fold's.
Members describe_instance(const model::Profile& profile, const model::InstanceActivities& activities,
                          const model::OpInstance& instance) {
  Members members{{"op", std::uint64_t{instance.op}},
                  {"iteration", std::uint64_t{instance.iteration}},
                  {"forward", index_cell(instance.forward)}};
  const bool has_range = instance.range != model::kNone;
  members.emplace_back("start_ns", has_range ? Cell{profile.timeline.ranges[instance.range].start_ns} : Cell{});
  const auto index = static_cast<std::size_t>(&instance - profile.fold.instances.data());
  const model::CpuTimes cpu = model::cpu_times(profile.timeline, profile.fold, index);
  members.emplace_back("cpu_ns", cpu.cpu_ns);
  members.emplace_back("overhead_ns", cpu.overhead_ns);
  const model::GpuTimes gpu = activities.times(index);
  members.emplace_back("gpu_ns", gpu.gpu_ns);
  members.emplace_back("mapped_ns", gpu.mapped_ns);
  members.emplace_back("idle_ns", gpu.idle_ns);
  return members;
}

// `work` is one of the timeline's.
Members describe_activity(const model::Profile& profile, const model::Activity& activity) {
  const auto index = static_cast<std::size_t>(&activity - profile.timeline.activities.data());
  const bool timed = model::is_timed(activity);
  return {{"kernel", std::uint64_t{activity.kernel}},
          {"instance", index_cell(profile.fold.activity_instance[index])},
          {"iteration", std::uint64_t{profile.fold.activity_iteration[index]}},
          {"device", std::uint64_t{activity.device}},
          {"start_ns", timed ? Cell{activity.start_ns} : Cell{}},
          {"end_ns", timed ? Cell{activity.end_ns} : Cell{}}};
}

}  // namespace

void write_model(const model::Profile& profile, const Sink& sink) {
  const model::Fold& fold = profile.fold;
  Buffer out(sink);
  out.text = "{\n  \"key_node\": ";
  add_object(out.text, {{"name", text_cell(fold.key_node)},
                        {"source", model::name_in(model::kKeyNodeSources, fold.key_node_source)},
                        {"found", std::uint64_t{fold.key_nodes_found}}});
  add_array(out, "iterations", fold.iterations, [](const model::Iteration& iteration) {
    return Members{{"start_ns", iteration.start_ns}, {"stop_ns", iteration.stop_ns}};
  });
  add_array(out, "ops", fold.ops, describe_op);
  add_array(out, "groups", fold.groups, [](const model::Group& group) {
    return Members{{"name", group.name}, {"parent", index_cell(group.parent)}};
  });
  const model::InstanceActivities activities(profile.timeline, fold);
  add_array(out, "instances", fold.instances,
            [&](const model::OpInstance& instance) { return describe_instance(profile, activities, instance); });
  add_array(out, "kernels", profile.timeline.kernels, [](const model::Kernel& kernel) {
    return Members{{"name", kernel.name}, {"long_name", kernel.long_name}};
  });
  add_array(out, "works", profile.timeline.activities,
            [&profile](const model::Activity& activity) { return describe_activity(profile, activity); });
  out.text += "\n}\n";
  out.finish();
}

}  // namespace dlkprof::report
