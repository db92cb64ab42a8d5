// What a sweep runs: the program once with each combination of its parameters' values. Nothing is read or started here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dlkprof::cli {

// `{name}` in the program's arguments stands for each of the values in turn.
struct Parameter {
  std::string name;
  std::vector<std::string> values;
};

// Of `-L <name> <values>`: values are separated by commas; \, is a comma in a value, and \\ a backslash. Throws UsageError: a
// name of other characters than letters, digits, `_`, `-` and `.`; no value, an empty one, or one that is there twice.
[[nodiscard]] Parameter parse_parameter(const std::string& name, const std::string& values);

struct PlannedRun {
  std::vector<std::string> program;         // with its values put in
  std::string label;                        // "batch_size=4 precision=bf16"
  std::string base_name;                    // of its files; no two runs of a sweep have the same but by a hash's chance
  std::optional<std::uint64_t> batch_size;  // where a parameter is called so and all of its values are whole numbers
};

// Every combination, the last parameter changing fastest. A `{word}` that is no parameter stays as it is, and so does what is put
// in. `base_name` is what the names of all files begin with; another sweep's may be the same, as -L a b-1 and -L a-b 1 both give
// _a-b-1. Throws UsageError: a name given twice, one that `program` does not have, or more combinations than can be compared.
[[nodiscard]] std::vector<PlannedRun> plan_sweep(const std::vector<Parameter>& parameters,
                                                 const std::vector<std::string>& program, const std::string& base_name);

}  // namespace dlkprof::cli
