// The reports of launches and samples. The profile outlives the rows.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cupti/catalogue.h"
#include "model/profile.h"
#include "model/sass/sass.h"
#include "model/timeline/timeline.h"
#include "report/format/rows.h"

namespace dlkprof::report {

// The unit of a metric; empty where it is not known.
using UnitLookup = std::function<std::string(const std::string& metric)>;

// A row per measured launch, a column per metric, in base units: what scripts read. Columns: what identifies the launch; one a
// metric, named as NVPerf names it, the union over all launches in the order in which they were asked for; then
// model/aggregate/computed.h's figures; then how many launches of its configuration were measured in the same way, at which
// clock, and of each metric how many of them have a value, and how far these lie apart.
[[nodiscard]] Rows metrics_report(const model::Profile& profile, const UnitLookup& unit_of);

// What the kernel tables show, for scripts: a row per value, in base units. Rows without a value are left out.
[[nodiscard]] Rows kernels_report(const model::Profile& profile, const std::vector<cupti::Section>& sections);

// Where each figure comes from: a row per metric of a launch configuration, of the launches that were measured alike
// (model/aggregate/provenance.h): on how many launches, how far they lie apart, how they were collected, at which clock.
[[nodiscard]] Rows measured_report(const model::Profile& profile);

// Where in the code warps were found by PC sampling, a row per instruction: kernels by the GPU cycles sampled in them, within a
// kernel the instructions with most samples first. `sass` outlives the rows, too.
[[nodiscard]] Rows source_report(const model::Profile& profile, const model::Sass& sass);

// A metric of an op or kernel with how sure it is, of replay mode sample: each op that has samples, and after it its kernels, by
// GPU time; for each its metrics by name.
[[nodiscard]] Rows sampling_report(const model::Profile& profile);

// What GPUs did over time: a row per stretch of time in which a GPU was sampled, by GPU, metric and time.
[[nodiscard]] Rows utilization_report(const model::Profile& profile);

// What a run was asked to measure, in terms of sections: what its tables show unless told otherwise.
struct Asked {
  std::vector<cupti::Section> sections;  // those asked for whole, in the order of the catalogue
  std::vector<std::string> metrics;      // asked for by themselves
};

// Of its first process; every section where that does not say what was asked for.
[[nodiscard]] Asked asked_of(const model::Timeline& timeline, const cupti::Catalogue& catalogue);

// The unit that a section row names, else NVPerf's where CUPTI can be opened on this machine, else none. The
// catalogue comes first so that a report reads the same with and without CUPTI.
[[nodiscard]] UnitLookup unit_lookup(const cupti::Catalogue& catalogue, const model::Timeline& timeline,
                                     const std::filesystem::path& cupti_path = {});

}  // namespace dlkprof::report
