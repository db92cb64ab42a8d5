// Figures by metric, for the many rows of a fold: names are kept once for all of them, and each row's figures lie in one piece.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dlkprof::model {

// The name of a metric. All that are alike share one text, which lives as long as the program: captures have few.
class MetricName {
 public:
  MetricName(std::string_view name);  // NOLINT(google-explicit-constructor): a name is one
  MetricName(const std::string& name) : MetricName(std::string_view(name)) {}  // NOLINT(google-explicit-constructor)
  MetricName(const char* name) : MetricName(std::string_view(name)) {}         // NOLINT(google-explicit-constructor)

  [[nodiscard]] const std::string& text() const { return *text_; }
  operator std::string_view() const { return *text_; }  // NOLINT(google-explicit-constructor)

  friend bool operator==(MetricName a, MetricName b) { return a.text_ == b.text_; }
  friend bool operator<(MetricName a, MetricName b) { return a.text_ != b.text_ && *a.text_ < *b.text_; }

 private:
  const std::string* text_;
};

// A std::map by name in as much as it is used here. References and iterators last until the next insertion.
template <typename Value>
class MetricMap {
 public:
  using value_type = std::pair<MetricName, Value>;
  using const_iterator = typename std::vector<value_type>::const_iterator;

  MetricMap() = default;
  MetricMap(std::initializer_list<value_type> entries) {
    for (const value_type& entry : entries) emplace(entry.first, entry.second);
  }

  [[nodiscard]] const_iterator begin() const { return entries_.begin(); }
  [[nodiscard]] const_iterator end() const { return entries_.end(); }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

  [[nodiscard]] const_iterator lower_bound(std::string_view name) const {
    const auto is_before = [](const value_type& entry, std::string_view other) { return entry.first.text() < other; };
    return std::lower_bound(begin(), end(), name, is_before);
  }
  [[nodiscard]] const_iterator find(std::string_view name) const {
    const auto place = lower_bound(name);
    return place != end() && place->first.text() == name ? place : end();
  }
  [[nodiscard]] bool contains(std::string_view name) const { return find(name) != end(); }
  // Throws std::out_of_range where there is none.
  [[nodiscard]] const Value& at(std::string_view name) const {
    return entries_.at(static_cast<std::size_t>(find(name) - begin())).second;
  }

  Value& operator[](MetricName name) { return emplace(name, Value()).first->second; }
  // Leaves alone what is there.
  auto emplace(MetricName name, Value value) {
    // Rows are filled in the order of names.
    auto place = entries_.empty() || entries_.back().first < name
                     ? entries_.end()
                     : std::lower_bound(entries_.begin(), entries_.end(), name,
                                        [](const value_type& entry, MetricName n) { return entry.first < n; });
    const bool is_new = place == entries_.end() || !(place->first == name);
    if (is_new) place = entries_.emplace(place, name, std::move(value));
    return std::pair(place, is_new);
  }

  friend bool operator==(const MetricMap&, const MetricMap&) = default;

 private:
  std::vector<value_type> entries_;  // by name
};

}  // namespace dlkprof::model
