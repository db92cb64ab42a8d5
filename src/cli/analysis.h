// Folding a timeline into ops and iterations, as the command line asks for it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "model/profile.h"

namespace CLI {
class App;
}

namespace dlkprof::cli {

// -m: whose markers to expect, in DLProf's words.
enum class Mode : std::uint8_t { automatic, simple, pytorch, tensorflow1, tensorflow2, tensorrt, jax };

struct Folding {
  Mode mode = Mode::automatic;
  model::FoldOptions fold;
  model::IterationRange range;
  [[nodiscard]] bool simple() const { return mode == Mode::simple; }
  // Whether anything was said of it on the command line.
  [[nodiscard]] bool is_asked() const {
    return mode != Mode::automatic || !fold.key_node.empty() || !fold.domains.empty() || range.is_asked() || !range.kind.empty();
  }
};

// What to do where no ops were recorded.
inline constexpr const char* kRecordOps = "Profile with --mode pytorch, or for another framework with --timeline on.";

// Adds --mode, --key_node, --iter_start, --iter_stop, --iter_kind and --domains.
void add_folding(CLI::App& app, Folding& folding);

// Throws UsageError: an iteration range that ends before it begins, or what simple mode does not have.
void check_folding(const Folding& folding);

// Says on stderr which of the domains asked for no range is in, and which there are: such ranges may come from a library that
// this run did not use, so that it is no error. `file` stands before it where it is not empty.
void say_unknown_domains(const model::Timeline& timeline, const std::vector<std::string>& asked, const std::string& file = "");

// Throws UsageError: no such key node, no such iterations.
[[nodiscard]] model::Profile analyse(model::Timeline timeline, const Folding& folding);
// Only which op and iteration everything is of, and which iterations are aggregated: for what shows no sums, in less memory.
[[nodiscard]] model::Profile place(model::Timeline timeline, const Folding& folding);

// For when a program has run for hours: says what is wrong with the folding that was asked for, and folds by the defaults.
[[nodiscard]] model::Profile analyse_somehow(model::Timeline timeline, const Folding& folding);

}  // namespace dlkprof::cli
