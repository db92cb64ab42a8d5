// Op paths with their kernels as stacks, weighted by the GPU time of the iterations aggregated: for speedscope, and folded for
// flamegraph.pl and its kin.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "export/formats.h"
#include "model/names.h"
#include "report/format/json.h"

namespace dlkprof::exports {
namespace {

struct Stack {
  std::vector<std::string> frames;  // from the root
  std::int64_t gpu_ns = 0;
};

std::vector<std::string> frames_of(const model::Profile& profile, const model::KernelRow& row) {
  const model::Op& op = profile.fold.ops[row.op];
  std::vector<std::string> frames;
  for (std::string& part : split(op.name, '/')) {
    if (!part.empty()) frames.push_back(std::move(part));
  }
  const std::string direction = model::name_in(model::kDirections, op.direction);
  if (frames.empty() || frames.back() != op.type) frames.push_back(op.type);
  if (!direction.empty()) frames.back() += " (" + direction + ")";
  frames.push_back(profile.timeline.kernels[row.kernel].name);
  for (std::string& frame : frames) {
    frame = valid_utf8(frame);
    std::replace_if(
        frame.begin(), frame.end(), [](char c) { return c == ';' || static_cast<unsigned char>(c) < ' '; }, '_');
    if (frame.empty()) frame = "(unnamed)";
  }
  return frames;
}

std::vector<Stack> stacks_of(const model::Profile& profile) {
  std::vector<Stack> stacks;
  for (const model::KernelRow& row : profile.aggregate.kernels) {
    if (row.gpu.total > 0) stacks.push_back({frames_of(profile, row), row.gpu.total});
  }
  return stacks;
}

}  // namespace

Exported write_folded(const std::vector<Run>& runs, const report::Sink& sink) {
  report::Buffer out(sink);
  for (const Stack& stack : stacks_of(*runs.front().profile)) {
    out.text += fmt::format("{} {}\n", fmt::join(stack.frames, ";"), stack.gpu_ns);
    out.drain();
  }
  out.finish();
  return {};
}

Exported write_speedscope(const std::vector<Run>& runs, const report::Sink& sink) {
  std::map<std::string, std::size_t> numbers;
  std::string frames, samples, weights;
  std::int64_t end = 0;
  for (const Stack& stack : stacks_of(*runs.front().profile)) {
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
    end += stack.gpu_ns;
  }
  std::string name;
  report::add_json_text(name, runs.front().label + ": GPU time by op and kernel");
  sink(fmt::format(R"({{"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"dlkprof","name":{},)"
                   R"("activeProfileIndex":0,"shared":{{"frames":[{}]}},"profiles":[{{"type":"sampled","name":{},)"
                   R"("unit":"nanoseconds","startValue":0,"endValue":{},"samples":[{}],"weights":[{}]}}]}})"
                   "\n",
                   name, frames, name, end, samples, weights));
  return {};
}

}  // namespace dlkprof::exports
