// The comparison of jobs as data and for people.
#pragma once

#include <vector>

#include "job/compare/compare_jobs.h"
#include "report/compare/compare_view.h"
#include "report/format/table.h"

namespace dlkprof::job {

// Named jobs, ops, ranks, collectives and findings.
[[nodiscard]] std::vector<report::Table> compare_jobs_tables(const ComparedJobs& compared);

// With at most so many ops, ranks and collectives of each pair.
[[nodiscard]] report::CompareView compare_jobs_view(const ComparedJobs& compared, std::size_t most);

// What changed, the most important first.
[[nodiscard]] std::vector<std::string> compare_jobs_sentences(const JobComparison& comparison);

}  // namespace dlkprof::job
