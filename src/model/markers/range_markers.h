// What the messages of a timeline's ranges say, each distinct one parsed once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/markers/marker.h"
#include "model/timeline/text_table.h"
#include "model/timeline/timeline.h"

namespace dlkprof::model {

// What is left of messages that differ in numbers and shapes only. A training run has millions of messages and hundreds of
// these.
struct Signature {
  Framework framework = Framework::none;
  MarkerKind kind = MarkerKind::op;
  std::uint32_t name = 0, type = 0;  // texts
  std::optional<int> key_rank;       // key_node_rank()
};

class RangeMarkers {
 public:
  // Ranges of other `domains` than these do not count, nor those of autotuning; empty: all count. Names and types go to `texts`.
  RangeMarkers(const Timeline& timeline, const std::vector<std::string>& domains, TextTable& texts);

  [[nodiscard]] bool counts(std::uint32_t range) const { return message_of_[range] != kNone; }
  // Of ranges that count.
  [[nodiscard]] std::uint32_t signature_index(std::uint32_t range) const { return messages_[message_of_[range]].signature; }
  [[nodiscard]] const Signature& signature(std::uint32_t range) const { return signatures_[signature_index(range)]; }
  [[nodiscard]] std::optional<std::int64_t> sequence(std::uint32_t range) const {
    const std::int64_t first = messages_[message_of_[range]].sequence;
    if (first == kNoSequence) return std::nullopt;
    return ranges_[range].sequence == kNone ? first : std::int64_t{ranges_[range].sequence};
  }
  [[nodiscard]] std::span<const Signature> signatures() const { return signatures_; }

 private:
  static constexpr std::int64_t kNoSequence = -1;  // PyTorch writes none below 0
  struct Message {
    std::int64_t sequence = kNoSequence;  // of the first range that has it, where ranges keep their own
    std::uint32_t signature = 0;
    std::uint32_t domain = 0;
  };
  class Reader;  // builds it

  std::span<const Range> ranges_;
  std::vector<Message> messages_;
  std::vector<std::uint32_t> message_of_;  // of each range; kNone: it does not count
  std::vector<Signature> signatures_;
};

}  // namespace dlkprof::model
