// Ops of a profile folded into rows: by layer group, module, op type, direction or kernel. A pure function of a profile: what
// --by of tables is made of. The reports of DLProf keep their rows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/aggregate/aggregate.h"
#include "model/profile.h"

namespace dlkprof::model {

enum class By : std::uint8_t {
  layer,      // LayerPath::layer, forward and backward pass apart
  op,         // nothing is folded: a row of Aggregate::ops each
  type,       // op type
  module,     // LayerPath::module, both passes together
  direction,  // forward pass, backward pass, neither
  kernel,     // kernel function, copy or set
};
// As --by takes them, in the order of the enumeration.
[[nodiscard]] std::span<const char* const> by_names();

// Layers that a row folds, by their GPU time in all iterations aggregated.
struct FoldedLayers {
  Stats gpu;                        // one value per layer; n: how many layers
  std::optional<double> deviation;  // ns; sample standard deviation over layers; none of fewer than two
  std::string slowest;              // its path with its number, "/Llama/layers/3"; gpu.most is its time
};

// Figures are of the iterations aggregated.
struct OpGroupRow {
  std::string name;                       // path, op name, op type, "fprop", "bprop", "none", or short kernel name
  Direction direction = Direction::none;  // of By::layer, op and direction; else none
  std::string type;                       // the op type that most of its GPU time is in
  std::uint64_t ops = 0;                  // ops that launched anything
  std::uint64_t calls = 0;                // instances of these ops; of By::kernel: launches
  std::uint64_t launches = 0;             // kernels, copies and sets
  std::int64_t gpu_ns = 0;                // sum; above 0 in every row
  std::int64_t copies_gpu_ns = 0;         // in copies and sets, which have no counters
  double share = 0;                       // of the GPU time of all ops, from 0 to 1
  std::int64_t tc_gpu_ns = 0;             // in kernels that use tensor cores
  std::int64_t graph_gpu_ns = 0;          // in kernels of CUDA graphs
  bool uses_tc = false;
  TensorCoreSource tc_source = TensorCoreSource::unknown;  // as of OpRow
  Counters counters;                                       // joined to all its launches as Counters says
  std::optional<FoldedLayers> layers;                      // of By::layer and module, where layers are folded
  std::vector<std::uint32_t> rows;                         // what it is made of: indices into Aggregate::ops, of By::kernel into
                                                           // Aggregate::kernels
};

// By GPU time, falling. Without GPU time there is no row.
[[nodiscard]] std::vector<OpGroupRow> group_ops(const Profile& profile, By by);

}  // namespace dlkprof::model
