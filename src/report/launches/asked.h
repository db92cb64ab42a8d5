// What a capture was asked to measure, in terms of sections: what its tables show unless told otherwise.
#pragma once

#include <string>
#include <vector>

#include "cupti/catalogue.h"
#include "model/run.h"

namespace dlkprof::report {

struct Asked {
  std::vector<cupti::Section> sections;  // those asked for whole, in the order of the catalogue
  std::vector<std::string> metrics;      // asked for by themselves
};

// Where the capture does not say what was asked for, every section.
[[nodiscard]] Asked asked_of(const model::Run& run, const cupti::Catalogue& catalogue);

}  // namespace dlkprof::report
