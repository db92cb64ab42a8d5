// Kernels and launch configurations by number, each once, over all processes of a timeline.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/timeline/timeline.h"

namespace dlkprof::model {

class KernelTable {
 public:
  // Indices into kernels. Functions of the same name are one kernel; a name without text is that of an unknown one.
  [[nodiscard]] std::uint32_t kernel(const std::string& mangled);
  [[nodiscard]] std::uint32_t copy(capture::CopyKind kind);
  [[nodiscard]] std::uint32_t set();

  // Index into configs. The kernel tells configurations apart whose key names no function.
  [[nodiscard]] std::uint32_t config(std::uint32_t process, const capture::LaunchKey& key, std::uint32_t kernel);
  [[nodiscard]] const Config& config(std::uint32_t index) const { return configs_[index]; }

  // Gives the timeline all of them.
  void move_to(Timeline& timeline) &&;

 private:
  struct Identity {
    std::uint32_t process = 0;
    std::uint32_t kernel = kNone;
    capture::LaunchKey key;
    friend bool operator==(const Identity&, const Identity&) = default;
  };
  struct HashIdentity {
    std::size_t operator()(const Identity& identity) const noexcept;
  };
  std::uint32_t add(Kernel kernel);

  std::vector<Kernel> kernels_;
  std::vector<Config> configs_;
  std::unordered_map<std::string, std::uint32_t> by_name_;  // of kernels alone
  std::array<std::uint32_t, 12> by_kind_ = all_none();      // of copies by CopyKind, then of sets
  std::unordered_map<Identity, std::uint32_t, HashIdentity> by_identity_;

  static constexpr std::array<std::uint32_t, 12> all_none() {
    std::array<std::uint32_t, 12> none{};
    none.fill(kNone);
    return none;
  }
};

}  // namespace dlkprof::model
