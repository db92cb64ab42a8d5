// What a framework's NVTX message says: the strings of PyTorch, PyProf, XLA/JAX, TensorFlow, TensorRT, DeepSpeed, Megatron and
// vLLM, and everybody else's, which name an op by themselves. Messages are hostile input: never evaluated, and cut.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dlkprof::model {

enum class Framework : std::uint8_t { none, pytorch, dlkprof, pyprof, xla, tensorflow, tensorrt, deepspeed, megatron, vllm };

// What a range is in the model.
enum class MarkerKind : std::uint8_t {
  op,         // an operation: aten::conv2d, Conv2D, a TensorRT layer, a thunk
  scope,      // a function, module or step around operations; named in the path of those inside
  backward,   // an autograd node's own range: what is inside belongs to the forward op with the same `sequence`
  machinery,  // of no interest in a path: autograd::engine::evaluate_function, dlkprof:phase: forward
};

struct Marker {
  Framework framework = Framework::none;
  MarkerKind kind = MarkerKind::op;
  std::string name;                      // the part of the op path that this range adds; printable, at most kMaxMarkerName bytes
  std::string type;                      // op type: aten::conv2d, Conv2D, fusion; "dataloader" of every data loader's waits
  std::optional<std::int64_t> sequence;  // PyTorch's autograd sequence number
  std::optional<std::int64_t> op_id;     // PyTorch's record-function number; an XLA module's program id
  std::string shapes;                    // of all inputs, as the framework writes them: "[[4, 3, 32, 32], []]"; cut as data_types
  std::string called_at;                 // of a module, where Python calls it: "net.py:12 in forward"; "" where that is not told
  std::string data_types;                // "[float16, float16]"; "" where the message has none; at most kMaxMarkerShapes bytes
};

// Between a module's name and where it is called.
inline constexpr std::string_view kCallSite = " @ ";

inline constexpr std::size_t kMaxMarkerName = 512;
inline constexpr std::size_t kMaxMarkerShapes = 4096;
inline constexpr std::size_t kMaxMarkerMessage = std::size_t{1} << 20U;  // what follows is not looked at

// Never throws on any input, and takes time linear in the message.
[[nodiscard]] Marker parse_marker(std::string_view domain, std::string_view message);

// Whether a marker of this name ends an iteration in programs of its framework, best first: the name of the default key node
// of `markers`' frameworks. Lower is better; none where it is no candidate.
[[nodiscard]] std::optional<int> key_node_rank(const Marker& marker);

}  // namespace dlkprof::model
