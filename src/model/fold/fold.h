// DLProf's model (user guide, chapters 7 to 11): which op launched each kernel, in which direction and iteration.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/fold/lost_times.h"
#include "model/markers/marker.h"
#include "model/timeline/timeline.h"

namespace dlkprof::model {

enum class Direction : std::uint8_t { none, fprop, bprop };

struct FoldOptions {
  std::string key_node;              // op name or op id; empty: found
  std::vector<std::string> domains;  // NVTX domains that count, "default" for the one without name; empty: all
  friend bool operator==(const FoldOptions&, const FoldOptions&) = default;
};

// A unique operation.
struct Op {
  std::string id;    // unique, stable for the same program: "<type>_<fprop|bprop>_<n>", "<type>_<n>" without direction
  std::string name;  // path: /net/layer1/conv1, with (2) for repetition; of a backward op that of its forward op
  std::string type;
  Direction direction = Direction::none;
  Framework framework = Framework::none;
  std::string data_types, input_shapes;  // of its first instance
  std::string module;                    // of compiled code: path of the module that it was made from; else empty
  std::string made_of;                   // of compiled code: the ops that were made into it, "aten.add, aten.mul"
  std::string stack;                     // of Python, where it was written, the innermost frame first; "" where not known
  std::uint32_t group = kNone;           // index into Fold::groups: the group node it lies in
  std::uint32_t own_group = kNone;       // index into Fold::groups: the group node that it is itself
  bool eligible = false;                 // for tensor cores
  bool leaf = true;                      // no range inside any of its instances
};

// A node of the op tree that has others below it. A parent comes before its children.
struct Group {
  std::string name;  // path
  std::uint32_t parent = kNone;
};

// Begins the names of ops that stand for what no range surrounds: its kernel's or call's name follows.
inline constexpr std::string_view kUnassociated = "unassociated_";
[[nodiscard]] inline bool is_unassociated(std::string_view op_name) noexcept { return op_name.starts_with(kUnassociated); }

// Its time on the CPU: cpu_times(). What the GPU did for it: instance_activities.h.
struct OpInstance {
  std::uint32_t op = 0;
  std::uint32_t range = kNone;    // index into Timeline::ranges; kNone: unassociated
  std::uint32_t iteration = 0;    // index into Fold::iterations
  std::uint32_t forward = kNone;  // of a backward instance: index into Fold::instances of its forward one
};

// Times are those of the timeline. [start, stop] is inclusive, as in the guide.
struct Iteration {
  std::int64_t start_ns = 0, stop_ns = 0;
  std::uint32_t kind = kNone;  // index into Fold::kinds; kNone: it is not whole, or all are of one kind
};

// Iterations that do the same work (iteration_kinds.h).
struct IterationKind {
  std::string name;  // prefill, decode where shapes of inputs show it, else "kind 1" and so on by GPU time
};

enum class KeyNodeSource : std::uint8_t { none, asked, framework, repetition };

struct Fold {
  std::vector<Op> ops;
  std::vector<Group> groups;
  std::vector<OpInstance> instances;              // by start on the CPU
  std::vector<std::int64_t> call_ns;              // of each of instances: its time inside CUDA calls
  std::vector<std::uint32_t> activity_instance;   // of each Timeline::activities: index into instances
  std::vector<std::uint32_t> activity_iteration;  // of each Timeline::activities: index into iterations
  std::vector<Iteration> iterations;              // N + 1 where the key node was found N times; one where never
  std::vector<IterationKind> kinds;               // by GPU time, falling; empty where all whole iterations are of one
  std::uint32_t key_nodes_found = 0;              // N
  std::string key_node;                           // the name it was found by
  KeyNodeSource key_node_source = KeyNodeSource::none;
  std::int64_t times_lost_from_ns = kAllTimed;  // GPU times of what is launched later are lost
};

// Throws UsageError where a key node is asked for that there is not, naming near ones.
[[nodiscard]] Fold fold(const Timeline& timeline, const FoldOptions& options = {});

struct CpuTimes {
  std::int64_t cpu_ns = 0;       // length of the range; of unassociated calls their own length
  std::int64_t overhead_ns = 0;  // of which outside of CUDA calls
};

// `instance`: index into Fold::instances.
[[nodiscard]] CpuTimes cpu_times(const Timeline& timeline, const Fold& fold, std::size_t instance);

// The NVTX domains that ranges are in, as FoldOptions names them, each once.
[[nodiscard]] std::vector<std::string> domain_names(const Timeline& timeline);

// Where one iteration begins after another in a program that marks nothing: the positions in `sequence` (launch
// configurations in the order of launching) at which its longest-lasting repetition starts anew. Empty where nothing repeats.
[[nodiscard]] std::vector<std::size_t> find_repetition(std::span<const std::uint32_t> sequence);

// Whether an op of this type, with inputs of these data types ("" where not known), can use tensor cores.
[[nodiscard]] bool tensor_core_eligible(std::string_view type, std::string_view data_types);
// Whether a kernel of this name uses tensor cores, as far as its name says.
[[nodiscard]] bool tensor_core_name(std::string_view kernel);

}  // namespace dlkprof::model
