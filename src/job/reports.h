// Reports of a job as tables.
#pragma once

#include <string>
#include <vector>

#include "job/analysis.h"
#include "report/format/people.h"
#include "report/format/table.h"

namespace dlkprof::job {

struct JobReport {
  const char* name;
  const char* a_row_per;
  report::Table (*table)(const JobAnalysis& job);
  std::vector<report::PeopleColumn> columns;  // that a terminal shows, the most important first
  bool is_whole_in_page = false;              // however many rows it has
};

[[nodiscard]] const std::vector<JobReport>& job_reports();
[[nodiscard]] std::vector<std::string> job_report_names();

// For a terminal: how many ranks there are, and what was found.
[[nodiscard]] std::string job_screen(const JobAnalysis& job, const report::Page& page);

}  // namespace dlkprof::job
