// Loops in machine code.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "model/sass/sass.h"

namespace dlkprof::model {

// Sets the loops of a function and which of them each instruction lies in. `labels`: offsets by name, from the function's start.
// Functions that are called have loops of their own. Code that is too tangled to be the work of a compiler has none.
void find_loops(SassFunction& function, const std::map<std::string, std::uint64_t>& labels);

}  // namespace dlkprof::model
