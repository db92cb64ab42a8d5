// Which launches --nvtx-include and --nvtx-exclude take, by the NVTX ranges that are open at them: those that some include
// matches, or all where there is none, without those that some exclude matches. Not thread-safe, as patterns are not.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/options.h"
#include "select/nvtx_expression.h"
#include "select/pattern.h"

namespace dlkprof::select {

// Of one domain, "" being the default one.
struct OpenNvtxRanges {
  std::string_view domain;
  std::vector<std::string_view> pushed;   // on the launching thread, outermost first
  std::vector<std::string_view> started;  // on any thread
};

class NvtxFilter {
 public:
  // Throws UsageError.
  explicit NvtxFilter(const capture::Selection& selection);

  [[nodiscard]] bool takes(std::span<const OpenNvtxRanges> open);
  // Whether some name in it, of whatever kind of range and domain, is this one or much like it.
  [[nodiscard]] bool is_near(std::string_view name);
  // A pattern took too much effort on some name, which was then taken not to match.
  [[nodiscard]] bool limit_exceeded() const;

 private:
  class Name {
   public:
    explicit Name(const NvtxName& name, std::string_view option);
    [[nodiscard]] bool matches(std::string_view name);
    [[nodiscard]] bool is_near(std::string_view name);
    [[nodiscard]] bool limit_exceeded() const { return pattern_ && pattern_->limit_exceeded(); }

   private:
    std::string literal_;
    std::optional<Pattern> pattern_;
  };
  struct Item {
    NvtxItem::Kind kind;
    std::optional<Name> name;
  };
  struct Expression {
    std::optional<Name> domain;
    bool push_pop, from_bottom, to_top;
    std::vector<Item> items;

    Expression(std::string_view option, const std::string& value);
    [[nodiscard]] bool matches(const OpenNvtxRanges& open);
    [[nodiscard]] bool matches_pushed(std::span<const std::string_view> pushed);
    [[nodiscard]] bool matches_started(std::span<const std::string_view> started);
  };

  static bool any_matches(std::vector<Expression>& expressions, std::span<const OpenNvtxRanges> open);

  std::vector<Expression> include_, exclude_;
};

}  // namespace dlkprof::select
