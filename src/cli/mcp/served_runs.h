// The runs that a server answers about. What was asked for last stays loaded.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/temporary_folder.h"
#include "model/profile.h"
#include "store/query.h"

namespace dlkprof::cli {

class ServedRuns {
 public:
  // With `files` only these can be asked for; without, any.
  explicit ServedRuns(std::vector<std::string> files) : files_(std::move(files)) {}

  // The file of a run: as given, or by its name; the only one where `run` is empty. Throws UsageError.
  [[nodiscard]] std::string file_of(const std::string& run) const;
  [[nodiscard]] std::vector<std::string> names() const;

  // Both throw Error and UsageError.
  [[nodiscard]] const model::Profile& profile(const std::string& file);
  // Of captures a database is written to a folder of our own, which goes with us.
  [[nodiscard]] store::QueryDatabase& database(const std::string& file);

 private:
  [[nodiscard]] std::filesystem::path write_database(const std::string& file);

  std::vector<std::string> files_;
  std::string loaded_, opened_;  // files
  std::unique_ptr<model::Profile> profile_;
  std::optional<TemporaryFolder> folder_;
  std::unique_ptr<store::QueryDatabase> database_;  // it may lie in that folder
};

}  // namespace dlkprof::cli
