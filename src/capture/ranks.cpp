#include "capture/ranks.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "base/text.h"

namespace dlkprof::capture {
namespace {

constexpr std::string_view kOfSlurm = "SLURM_";
constexpr const char* kRankVariables[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
constexpr const char* kNodeVariables[] = {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"};
constexpr const char* kSizeVariables[] = {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};

constexpr std::string_view kOfNode = "/node", kOfJob = "/job";

std::optional<std::uint32_t> number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

template <typename Names>
std::optional<std::uint32_t> number_in_environment(const Names& names) {
  for (const char* variable : names) {
    const char* text = std::getenv(variable);
    const bool is_of_slurm = std::string_view(variable).starts_with(kOfSlurm);
    if (text == nullptr || (is_of_slurm && std::getenv("SLURM_STEP_ID") == nullptr)) continue;
    if (const auto value = number(text)) return value;
  }
  return std::nullopt;
}

[[noreturn]] void refuse(const std::string& part) {
  throw Error("--ranks: " + printable(part, 80) + " is neither a rank, nor a range of ranks, nor a number per node or job", "",
              "Example: --ranks 0,8-15, --ranks 1/node or --ranks 16/job");
}

// "8" of "8/node".
std::optional<std::string_view> count_before(std::string_view part, std::string_view unit) {
  return part.ends_with(unit) ? std::optional(part.substr(0, part.size() - unit.size())) : std::nullopt;
}

// splitmix64 (Steele et al., OOPSLA 2014): numbers that follow one another give ones that do not.
std::uint64_t scattered(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111eb;
  return value ^ (value >> 31U);
}

// Whether a rank is the one drawn of its part, of `parts` that the ranks of a job are cut into.
bool is_drawn(std::uint64_t rank, std::uint64_t ranks, std::uint64_t parts) {
  if (parts >= ranks || rank >= ranks) return true;
  const std::uint64_t part = ((rank + 1) * parts + ranks - 1) / ranks - 1;
  const std::uint64_t first = part * ranks / parts, end = (part + 1) * ranks / parts;
  return rank == first + scattered(part) % (end - first);
}

}  // namespace

Ranks Ranks::parse(const std::string& text) {
  Ranks ranks;
  for (const std::string& part : split(text, ',')) {
    const auto of_node = count_before(part, kOfNode), of_job = count_before(part, kOfJob);
    if (of_node || of_job) {
      const auto count = number(of_node ? *of_node : *of_job);
      if (!count || *count == 0) refuse(part);
      (of_node ? ranks.on_node_ : ranks.of_job_) = *count;
      continue;
    }
    const auto dash = part.find('-');
    const auto first = number(std::string_view(part).substr(0, dash));
    const auto last = dash == std::string::npos ? first : number(std::string_view(part).substr(dash + 1));
    if (!first || !last || *first > *last) refuse(part);
    ranks.ranges_.emplace_back(*first, *last);
  }
  return ranks;
}

bool Ranks::contains(const RankPlace& place) const noexcept {
  if (lacking(place) != nullptr) return true;
  if (on_node_ != 0 && *place.on_node < on_node_) return true;
  if (of_job_ != 0 && is_drawn(place.rank, *place.ranks, of_job_)) return true;
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [&place](const auto& range) { return place.rank >= range.first && place.rank <= range.second; });
}

const char* Ranks::lacking(const RankPlace& place) const noexcept {
  if (on_node_ != 0 && !place.on_node) return "LOCAL_RANK, OMPI_COMM_WORLD_LOCAL_RANK, MPI_LOCALRANKID or SLURM_LOCALID";
  if (of_job_ != 0 && !place.ranks) return "WORLD_SIZE, OMPI_COMM_WORLD_SIZE, PMI_SIZE or SLURM_STEP_NUM_TASKS";
  return nullptr;
}

std::optional<std::uint32_t> rank_of_process() { return number_in_environment(kRankVariables); }

std::optional<RankPlace> place_of_process() {
  const auto rank = rank_of_process();
  if (!rank) return std::nullopt;
  return RankPlace{*rank, number_in_environment(kNodeVariables), number_in_environment(kSizeVariables)};
}

bool has_other_ranks() {
  const auto place = place_of_process();
  return place && place->ranks.value_or(2) > 1;
}

bool is_of_another_rank(const std::string& ranks) {
  if (ranks.empty()) return false;
  const auto place = place_of_process();
  return place && !Ranks::parse(ranks).contains(*place);
}

}  // namespace dlkprof::capture
