#include "cupti/untrusted.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "base/error.h"
#include "unit/cupti/recording.h"

namespace dlkprof::cupti::untrusted_test {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kMetrics{"gpu__time_duration.sum", "smsp__inst_executed.sum"};

// `bytes` right before a page that nobody may read, so that reading past their end always faults.
class Fenced {
 public:
  explicit Fenced(std::span<const std::uint8_t> bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t held = (bytes.size() + page - 1) / page * page;
    size_ = held + page;
    start_ = static_cast<std::uint8_t*>(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (start_ == MAP_FAILED) throw std::bad_alloc();
    bytes_ = {start_ + held - bytes.size(), bytes.size()};
    if (!bytes.empty()) std::memcpy(bytes_.data(), bytes.data(), bytes.size());
    if (mprotect(start_ + held, page, PROT_NONE) != 0) throw std::bad_alloc();
  }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;
  ~Fenced() { munmap(start_, size_); }
  [[nodiscard]] std::span<const std::uint8_t> bytes() const noexcept { return bytes_; }

 private:
  std::uint8_t* start_ = nullptr;
  std::size_t size_ = 0;
  std::span<std::uint8_t> bytes_;
};

class Untrusted : public testing::Test {
 protected:
  [[nodiscard]] std::vector<double> evaluate(std::span<const std::uint8_t> image, std::size_t range = 0,
                                             const std::vector<std::string>& metrics = kMetrics) {
    return evaluator_.evaluate(image, range, metrics);
  }
  Host host_ = Host::create(Library::open(), "GH100");
  UntrustedEvaluator evaluator_{host_};
  std::vector<std::uint8_t> image_ = test::recorded_image();
};

TEST_F(Untrusted, GivesTheSameValues) {
  for (const std::size_t range : {0U, 35U, 70U}) EXPECT_EQ(evaluate(image_, range), host_.evaluate(image_, range, kMetrics));
  EXPECT_TRUE(evaluate(image_, 0, {}).empty());
}

TEST_F(Untrusted, SurvivesAnImageThatIsCut) {
  for (const std::size_t size : {0UL, 1UL, 100UL, 1000UL}) {
    const Fenced cut(std::span<const std::uint8_t>(image_).first(size));
    EXPECT_THROW((void)evaluate(cut.bytes()), Error) << size;
  }
  EXPECT_EQ(evaluate(image_)[0], 66656);
}

TEST_F(Untrusted, SurvivesARangeThatIsNotThere) { EXPECT_THROW((void)evaluate(image_, 1U << 30), Error); }

TEST_F(Untrusted, SurvivesBytesThatAreNoImage) {
  const std::vector<std::uint8_t> nothing(1 << 16);
  EXPECT_THROW((void)evaluate(nothing), Error);
}

// A child that dies costs milliseconds, of which a hostile capture could have any number.
TEST_F(Untrusted, GivesUpAfterManyDeadChildren) {
  for (std::size_t i = 0; i < 2 * UntrustedEvaluator::kMostFailures; ++i) {
    EXPECT_THROW((void)evaluate(image_, 1U << 30), Error);
  }
  EXPECT_THROW((void)evaluate(image_), Error);
}

TEST_F(Untrusted, OneChildEvaluatesManyImages) {
  const std::vector<double> first = evaluate(image_);
  const auto children = [] {
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    return usage.ru_minflt;  // of those that have ended
  };
  const auto before = children();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(evaluate(image_), first);  // of 70 MB: a slow machine takes a second for each
  EXPECT_EQ(children(), before);
}

TEST_F(Untrusted, PassesOnWhyNvperfRefused) {
  try {
    (void)evaluate(image_, 0, {"sm__nonsense.sum"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.detail(), HasSubstr("CUPTI_ERROR_INVALID_METRIC_NAME"));
    EXPECT_FALSE(error.remedy().empty());
  }
}

}  // namespace
}  // namespace dlkprof::cupti::untrusted_test
