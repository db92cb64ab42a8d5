// The database behind the page: a copy of a run's database, with tables beside it that views do not have and that the page draws
// from. Their names begin with `page_`; docs/user/page.md describes them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/new_file.h"
#include "cupti/catalogue.h"
#include "model/profile.h"
#include "model/sass/sass.h"
#include "report/compare/compare_view.h"
#include "store/schema.h"
#include "store/sqlite.h"

namespace dlkprof::view {

inline constexpr std::int64_t kOpsWithCounters = 4000;

struct Run {
  std::string label;
  std::filesystem::path database;           // of ours; hostile
  const model::Profile* profile = nullptr;  // the same run, folded and aggregated as its newest aggregation is
  model::Sass sass = {};                    // of its sampled kernels, as far as known
};

// A private temporary file, gone when it ends.
class RunCopy {
 public:
  // Throws Error: the database cannot be read, or there is no room for the copy.
  RunCopy(const Run& run, const cupti::Catalogue& catalogue);

  // Of a job, which is no run: what `fill` writes into an empty database. Nothing of it is left out to make the page smaller.
  RunCopy(std::string label, const std::function<void(store::Connection&)>& fill);
  // What its views hold, and what was left out, in sentences.
  void describe(std::vector<store::View> views, std::vector<std::string> notices);

  // What `dlkprof compare` says in words of another run beside this one: into table page_change. `other`: its place in the page.
  void add_changes(std::size_t other, const report::CompareView& comparison);

  // Leaves of the timeline the first, the median and the slowest of the iterations aggregated, event by event. Views of other
  // things keep their figures.
  void keep_three_iterations();
  // Leaves out times of single iterations, which ranges of iterations are summed up from: ranges begin and end with blocks then.
  void leave_out_single_iterations();
  // Likewise those of blocks of 8, so that ranges begin and end with blocks of 64: for when single ones were left out.
  void leave_out_blocks_of_eight();
  // Leaves out counters launch by launch; those of launch configurations keep theirs.
  void leave_out_launches();
  // Leaves out the counters and stall reasons of ops, and of kernels within ops, but of the kOpsWithCounters with the most GPU
  // time.
  void leave_out_counters_of_small_ops();

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return file_->path(); }
  [[nodiscard]] const std::string& label() const noexcept { return label_; }
  // Those whose events are there; empty: all.
  [[nodiscard]] const std::vector<std::int64_t>& kept_iterations() const noexcept { return kept_; }
  // So many ops have counters; none: all that were measured.
  [[nodiscard]] std::optional<std::int64_t> ops_with_counters() const noexcept { return ops_with_counters_; }
  [[nodiscard]] bool is_job() const noexcept { return is_job_; }
  [[nodiscard]] const std::vector<store::View>& views() const noexcept { return views_; }  // of a job
  [[nodiscard]] const std::vector<std::string>& notices() const noexcept { return notices_; }
  // Whether counters launch by launch are there.
  [[nodiscard]] bool has_launches() const noexcept { return has_launches_; }

 private:
  void leave_out_level(int level);

  std::unique_ptr<NewFile> file_;
  std::string label_;
  std::vector<std::int64_t> kept_;
  bool has_launches_ = true, is_job_ = false;
  std::vector<store::View> views_;
  std::vector<std::string> notices_;
  std::optional<std::int64_t> ops_with_counters_;
};

}  // namespace dlkprof::view
