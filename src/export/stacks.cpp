#include "export/stacks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "export/formats.h"
#include "model/fold/time_arithmetic.h"
#include "model/names.h"
#include "report/format/json.h"

namespace dlkprof::exports {
namespace {

std::vector<Stack> stacks_of(const model::Profile& profile) {
  std::vector<Stack> stacks;
  for (const model::KernelRow& row : profile.aggregate.kernels) {
    if (row.gpu.total <= 0) continue;
    const model::Op& op = profile.fold.ops[row.op];
    Stack stack{op_frames(op.name, op.type, model::name_in(model::kDirections, op.direction)), row.gpu.total};
    stack.frames.push_back(frame_of(profile.timeline.kernels[row.kernel].name));
    stacks.push_back(std::move(stack));
  }
  return stacks;
}

}  // namespace

std::string frame_of(const std::string& text) {
  std::string frame = valid_utf8(text);
  std::replace_if(
      frame.begin(), frame.end(), [](char c) { return c == ';' || static_cast<unsigned char>(c) < ' '; }, '_');
  return frame.empty() ? "(unnamed)" : frame;
}

std::vector<std::string> op_frames(const std::string& name, const std::string& type, const std::string& direction) {
  std::vector<std::string> frames;
  for (const std::string& part : split(name, '/')) {
    if (!part.empty()) frames.push_back(frame_of(part));
  }
  const std::string last = frame_of(type);
  if (frames.empty() || frames.back() != last) frames.push_back(last);
  if (!direction.empty()) frames.back() += " (" + frame_of(direction) + ")";
  return frames;
}

void write_folded_stacks(const std::vector<Stack>& stacks, const report::Sink& sink) {
  report::Buffer out(sink);
  for (const Stack& stack : stacks) {
    out.text += fmt::format("{} {}\n", fmt::join(stack.frames, ";"), stack.gpu_ns);
    out.drain();
  }
  out.finish();
}

Exported write_folded(const std::vector<Run>& runs, const report::Sink& sink) {
  write_folded_stacks(stacks_of(*runs.front().profile), sink);
  return {};
}

Exported write_speedscope(const std::vector<Run>& runs, const report::Sink& sink) {
  write_speedscope_stacks(runs.front().label + ": GPU time by op and kernel", stacks_of(*runs.front().profile), sink);
  return {};
}

void write_folded_job(const JobRun& job, const report::Sink& sink) { write_folded_stacks(job.stacks(), sink); }

void write_speedscope_job(const JobRun& job, const report::Sink& sink) {
  write_speedscope_stacks(job.label + ": GPU time of all ranks by op", job.stacks(), sink);
}

void write_speedscope_stacks(const std::string& title, const std::vector<Stack>& stacks, const report::Sink& sink) {
  std::map<std::string, std::size_t> numbers;
  std::string frames, samples, weights;
  std::int64_t end = 0;
  for (const Stack& stack : stacks) {
    samples += samples.empty() ? "[" : ",[";
    for (const std::string& frame : stack.frames) {
      const auto [place, is_new] = numbers.emplace(frame, numbers.size());
      if (is_new) {
        frames += frames.empty() ? "{\"name\":" : ",{\"name\":";
        report::add_json_text(frames, frame);
        frames += '}';
      }
      samples += fmt::format("{}{}", samples.ends_with('[') ? "" : ",", place->second);
    }
    samples += ']';
    weights += fmt::format("{}{}", weights.empty() ? "" : ",", stack.gpu_ns);
    model::add_ns(end, stack.gpu_ns);
  }
  std::string name;
  report::add_json_text(name, title);
  sink(fmt::format(R"({{"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"dlkprof","name":{},)"
                   R"("activeProfileIndex":0,"shared":{{"frames":[{}]}},"profiles":[{{"type":"sampled","name":{},)"
                   R"("unit":"nanoseconds","startValue":0,"endValue":{},"samples":[{}],"weights":[{}]}}]}})"
                   "\n",
                   name, frames, name, end, samples, weights));
}

}  // namespace dlkprof::exports
