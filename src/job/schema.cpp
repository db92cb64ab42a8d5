#include "job/schema.h"

#include <fmt/format.h>

#include "base/text.h"

namespace dlkprof::job {

std::string describe_job_schema() {
  std::string text = "| table | columns (**key**) | holds |\n| --- | --- | --- |\n";
  for (const JobTable& table : kJobTables) {
    std::string columns = fmt::format("**{}**", table.keys);  // in each table they come first
    const std::vector<std::string> all = split(table.columns, ',');
    for (std::size_t i = split(table.keys, ',').size(); i < all.size(); ++i) {
      const std::size_t first = all[i].find_first_not_of(' ');
      columns += ", " + all[i].substr(first, all[i].find(' ', first) - first);
    }
    text += fmt::format("| `{}` | {} | {} |\n", table.name, columns, table.meaning);
  }
  return text;
}

}  // namespace dlkprof::job
