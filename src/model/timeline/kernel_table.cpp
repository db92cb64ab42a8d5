#include "model/timeline/kernel_table.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "base/text.h"
#include "capture/launch_key_hash.h"

namespace dlkprof::model {
namespace {

// By CopyKind, as Nsight Systems abbreviates them.
constexpr std::array<std::string_view, 11> kCopies{"",      " HtoD", " DtoH", " HtoA", " AtoH", " AtoA",
                                                   " AtoD", " DtoA", " DtoD", " HtoH", " PtoP"};

void mix(std::size_t& hash, std::uint32_t value) { hash = (hash ^ value) * 0x9e3779b97f4a7c15U + (hash >> 29U); }

}  // namespace

std::uint32_t KernelTable::kernel(const std::string& mangled) {
  const auto [known, is_new] = by_name_.try_emplace(mangled, kNone);
  if (!is_new) return known->second;
  Kernel kernel;
  kernel.mangled = valid_utf8(mangled);
  kernel.long_name = mangled.empty() ? "unknown" : valid_utf8(demangle(mangled));
  kernel.name = function_base_name(kernel.long_name);
  if (kernel.name.empty()) kernel.name = kernel.long_name;
  return known->second = add(std::move(kernel));
}

std::uint32_t KernelTable::copy(capture::CopyKind kind) {
  auto number = static_cast<std::size_t>(kind);
  if (number >= kCopies.size()) number = 0;
  if (by_kind_.at(number) == kNone) {
    const std::string name = fmt::format("[CUDA memcpy{}]", kCopies.at(number));
    by_kind_.at(number) = add({.kind = capture::ActivityKind::copy, .mangled = {}, .name = name, .long_name = name});
  }
  return by_kind_.at(number);
}

std::uint32_t KernelTable::set() {
  if (by_kind_.back() == kNone) {
    const std::string name = "[CUDA memset]";
    by_kind_.back() = add({.kind = capture::ActivityKind::set, .mangled = {}, .name = name, .long_name = name});
  }
  return by_kind_.back();
}

std::uint32_t KernelTable::add(Kernel kernel) {
  kernels_.push_back(std::move(kernel));
  return static_cast<std::uint32_t>(kernels_.size() - 1);
}

std::uint32_t KernelTable::config(std::uint32_t process, const capture::LaunchKey& key, std::uint32_t kernel) {
  const Identity identity{.process = process, .kernel = key.function == 0 ? kernel : kNone, .key = key};
  const auto [known, is_new] = by_identity_.try_emplace(identity, static_cast<std::uint32_t>(configs_.size()));
  if (is_new) configs_.push_back({.process = process, .key = key, .kernel = kernel});
  return known->second;
}

void KernelTable::move_to(Timeline& timeline) && {
  timeline.kernels = std::move(kernels_);
  timeline.configs = std::move(configs_);
}

std::size_t KernelTable::HashIdentity::operator()(const Identity& identity) const noexcept {
  std::size_t hash = capture::LaunchKeyHash()(identity.key);
  mix(hash, identity.process);
  mix(hash, identity.kernel);
  return hash;
}

}  // namespace dlkprof::model
