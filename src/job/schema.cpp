#include "job/schema.h"

#include <fmt/format.h>

#include "base/text.h"

namespace dlkprof::job {

std::string describe_job_schema() {
  std::string text = "| table | key | columns | holds |\n| --- | --- | --- | --- |\n";
  for (const JobTable& table : kJobTables) {
    std::string columns;
    for (const std::string& column : split(table.columns, ',')) {
      const std::size_t first = column.find_first_not_of(' ');
      columns += (columns.empty() ? "" : ", ") + column.substr(first, column.find(' ', first) - first);
    }
    text += fmt::format("| `{}` | {} | {} | {} |\n", table.name, table.keys, columns, table.meaning);
  }
  return text;
}

}  // namespace dlkprof::job
