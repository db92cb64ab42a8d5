#include "base/inline_text.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <string_view>

namespace dlkprof::inline_text_test {
namespace {

// Two pages, of which only the first may be touched.
class Page {
 public:
  Page() : bytes_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    pages_ = static_cast<char*>(mmap(nullptr, 2 * bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_EQ(mprotect(pages_ + bytes_, bytes_, PROT_NONE), 0);
  }
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;
  ~Page() { munmap(pages_, 2 * bytes_); }
  [[nodiscard]] char* end() const { return pages_ + bytes_; }

 private:
  std::size_t bytes_;
  char* pages_;
};

TEST(InlineTextTest, LengthsUpToTheEndOfAPage) {
  const Page page;
  for (std::size_t length = 0; length < 100; ++length) {
    for (std::size_t behind = 0; behind < 20; ++behind) {
      char* const text = page.end() - behind - 1 - length;
      std::memset(text - 40, '\0', 40);  // what lies before is not its own
      std::memset(text, 'x', length);
      std::memset(text + length, '\0', behind + 1);
      EXPECT_EQ(inline_strnlen(text, 1000), length) << behind;
    }
  }
}

TEST(InlineTextTest, NoMoreThanIsAskedFor) {
  const Page page;
  std::memset(page.end() - 100, 'x', 100);
  for (std::size_t most = 0; most <= 100; ++most) EXPECT_EQ(inline_strnlen(page.end() - most, most), most);
  EXPECT_EQ(inline_strnlen("hello", 5), 5U);
  EXPECT_EQ(inline_strnlen("hello", 4), 4U);
}

TEST(InlineTextTest, BytesWithTheHighestBitAreNoEnd) {
  const std::string text(40, '\xff');
  EXPECT_EQ(inline_strnlen(text.c_str(), 100), text.size());
}

TEST(InlineTextTest, CopiesWhatIsAskedForAndNothingElse) {
  const Page page;
  for (std::size_t size = 0; size < 100; ++size) {
    char* const from = page.end() - size;  // nothing behind it may be read
    for (std::size_t at = 0; at < size; ++at) from[at] = static_cast<char>('a' + at % 26);
    std::string to(size + 2, '#');
    inline_memcpy(to.data() + 1, from, size);
    EXPECT_EQ(to, "#" + std::string(from, size) + "#");
  }
}

}  // namespace
}  // namespace dlkprof::inline_text_test
