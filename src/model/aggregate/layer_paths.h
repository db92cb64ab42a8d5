// Where ops lie in the model, in few words: repeated layers are one path, "/Llama/layers/*/mlp".
//
// The path of an op begins with that of the innermost module around it. Where no module is around it, as with the optimizer, the
// outermost op of PyTorch stands for one; of other programs the whole path does.
//
// Modules that are numbered alike ("layers/0" and "layers/1", "block3" and "block4") are one, with `*` for the number, where
// what they hold is the same: the same modules below them at the same paths, with ops of the same types and input shapes in the
// forward pass. So stages of a network stay apart, and so do the different modules of a Sequential. Where modules of the same
// name fall into several such classes, each class lists its numbers instead, "{0,2,4}". A module that is called several
// times, "Decoder(2)", is one with all its calls, "Decoder(*)".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/aggregate/aggregate.h"
#include "model/fold/fold.h"

namespace dlkprof::model {

struct LayerPath {
  std::string module;  // of the innermost module
  std::string layer;   // the same, but no deeper than one module below the last number folded: "/Llama/layers/*/mlp"
  std::string which;   // of the layers folded, with its number: "/Llama/layers/3"; "" where no number is folded
};

// Of each row; empty for those that launched nothing.
[[nodiscard]] std::vector<LayerPath> find_layer_paths(const Fold& fold, const std::vector<OpRow>& rows);

}  // namespace dlkprof::model
