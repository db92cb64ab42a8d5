// What the files nsys_import.cpp, nsys_ranges.cpp and nsys_work.cpp share: a file of Nsight Systems while it is read.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <unordered_map>

#include "export/nsys_rows.h"
#include "model/timeline/kernel_table.h"
#include "model/timeline/notice_counts.h"
#include "model/timeline/text_table.h"
#include "model/timeline/timeline.h"
#include "store/sqlite.h"

namespace dlkprof::exports::nsys {

// CUPTI's numbers of calls are of one process.
struct CallName {
  std::uint32_t pid = 0;
  std::int64_t correlation = 0;
  friend auto operator<=>(const CallName&, const CallName&) = default;
};

// Reads table after table, and puts together what they say of one another. Whatever the file says, the timeline keeps what
// timeline.h promises.
class NsysReader {
 public:
  explicit NsysReader(const std::filesystem::path& path);

  [[nodiscard]] model::Timeline read();

 private:
  void read_strings();
  void read_processes();
  void read_devices();
  void read_ranges();
  void find_parents();
  void read_calls();
  void read_kernels(const char* table);
  void read_copies();
  void number_launches();
  void count_launches();
  void finish();

  std::uint32_t process_of(std::uint32_t pid);
  std::uint32_t thread_of(std::int64_t global_tid);
  std::uint32_t device_of(std::uint32_t process, std::uint32_t ordinal);
  [[nodiscard]] const std::string& text_of(std::int64_t id) const;
  std::uint32_t function_of(const Rows& row, std::uint32_t process, std::uint32_t kernel, const std::string& mangled);
  void add_activity(model::Activity activity, const Rows& row, std::uint32_t process);

  std::filesystem::path path_;
  store::Connection connection_;
  model::Timeline timeline_;
  model::TextTable texts_;
  model::KernelTable kernels_;
  model::NoticeCounts notices_;
  std::unordered_map<std::int64_t, std::string> strings_;
  std::map<std::uint32_t, std::uint32_t> processes_;                 // by pid
  std::map<std::int64_t, std::uint32_t> threads_;                    // by globalTid
  std::map<std::int64_t, std::uint32_t> gpus_;                       // TARGET_INFO_GPU.id -> index into devices
  std::map<CallName, std::uint32_t> calls_;                          // index into calls
  std::map<std::array<std::uint32_t, 4>, std::uint32_t> functions_;  // process, kernel, registers, shared memory
};

}  // namespace dlkprof::exports::nsys
