#include "cli/run_loader.h"

#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/say.h"
#include "base/text.h"
#include "export/nsys_import.h"
#include "store/database.h"

namespace dlkprof::cli {

model::Timeline load_run(const RunFiles& files, model::RawEvaluator* evaluator) {
  if (!files.nsys.empty()) return exports::read_nsys_sqlite(files.nsys);
  return files.is_database() ? store::read_timeline(files.database) : model::load_timeline(files.captures, evaluator);
}

std::string run_name(const std::string& file) {
  constexpr std::string_view kDatabase = "_dldb";
  std::error_code ignored;
  std::filesystem::path path = file;
  if (std::filesystem::is_directory(path, ignored)) {
    path = std::filesystem::weakly_canonical(path, ignored);
    return path.has_filename() ? path.filename().string() : file;
  }
  std::string name = path.stem().string();
  if (name.size() > kDatabase.size() && name.ends_with(kDatabase)) name.resize(name.size() - kDatabase.size());
  return name;
}

void say_notices(const model::Timeline& timeline, const std::string& file) {
  const std::string where = file.empty() ? "" : printable(file) + ": ";
  for (const capture::NoticeRecord& notice : timeline.notices) {
    if (notice.severity == capture::Severity::info) continue;
    const Error words(where + printable(notice.what), printable(notice.detail), printable(notice.remedy));
    say("dlkprof: {}\n", words.message());
  }
}

}  // namespace dlkprof::cli
