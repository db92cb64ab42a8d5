// What a run was asked to measure, in terms of sections: what its tables show unless told otherwise.
#pragma once

#include <string>
#include <vector>

#include "cupti/catalogue.h"
#include "model/timeline/timeline.h"

namespace dlkprof::report {

struct Asked {
  std::vector<cupti::Section> sections;  // those asked for whole, in the order of the catalogue
  std::vector<std::string> metrics;      // asked for by themselves
};

// Of its first process; every section where that does not say what was asked for.
[[nodiscard]] Asked asked_of(const model::Timeline& timeline, const cupti::Catalogue& catalogue);

}  // namespace dlkprof::report
