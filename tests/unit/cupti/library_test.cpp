#include "cupti/library.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "base/error.h"

namespace dlkprof::cupti::library_test {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;

// A folder for one test with toolkits that hold empty libraries, and CUDA_HOME, CUDA_PATH and PATH put back at the end.
class Candidates : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("dlkprof_library_test_" + std::to_string(getpid()));
    fs::create_directories(root_);
    for (const char* name : {"CUDA_HOME", "CUDA_PATH", "PATH"}) {
      const char* value = std::getenv(name);
      saved_.emplace_back(name, value == nullptr ? "" : value);
      unsetenv(name);
    }
  }
  void TearDown() override {
    for (const auto& [name, value] : saved_) {
      if (value.empty()) {
        unsetenv(name.c_str());
      } else {
        setenv(name.c_str(), value.c_str(), 1);
      }
    }
    fs::remove_all(root_);
  }
  fs::path add_file(const fs::path& relative) const {
    const fs::path file = root_ / relative;
    fs::create_directories(file.parent_path());
    std::ofstream(file).put('\n');
    return file;
  }

  fs::path root_;
  std::vector<std::pair<std::string, std::string>> saved_;
};

TEST_F(Candidates, FollowTheOrderOfTheHeader) {
  const fs::path home = add_file("home/lib64/libcupti.so.13");
  const fs::path path = add_file("path/extras/CUPTI/lib64/libcupti.so.12");
  const fs::path nvcc = add_file("nvcc/targets/x86_64-linux/lib/libcupti.so.13");
  add_file("nvcc/bin/nvcc");
  setenv("CUDA_HOME", (root_ / "home").c_str(), 1);
  setenv("CUDA_PATH", (root_ / "path").c_str(), 1);
  setenv("PATH", (root_ / "nvcc/bin").c_str(), 1);

  const std::vector<fs::path> files = library_candidates({});
  ASSERT_GE(files.size(), 5);
  EXPECT_EQ(files[0], home);
  EXPECT_EQ(files[1], path);
  EXPECT_EQ(files[2], fs::canonical(nvcc));
  EXPECT_EQ(files[files.size() - 2], "libcupti.so.13");
  EXPECT_EQ(files.back(), "libcupti.so.12");
}

TEST_F(Candidates, AreWhatIsAskedForAlone) {
  const fs::path home = add_file("home/lib64/libcupti.so.13");
  setenv("CUDA_HOME", (root_ / "home").c_str(), 1);
  const fs::path asked = root_ / "mine" / "libcupti.so.13";
  EXPECT_THAT(library_candidates(asked), testing::ElementsAre(asked));
  fs::create_directories(root_ / "empty");
  EXPECT_THAT(library_candidates(root_ / "empty"), testing::ElementsAre(root_ / "empty" / "libcupti.so.13"));
}

TEST_F(Candidates, NameAFileOnceHoweverManyWaysLeadToIt) {
  const fs::path file = add_file("cuda/targets/x86_64-linux/lib/libcupti.so.13");
  fs::create_directory_symlink(file.parent_path(), root_ / "cuda" / "lib64");
  setenv("CUDA_HOME", (root_ / "cuda").c_str(), 1);
  setenv("CUDA_PATH", (root_ / "cuda").c_str(), 1);
  const std::vector<fs::path> files = library_candidates({});
  std::error_code error;
  EXPECT_EQ(std::ranges::count_if(files, [&](const fs::path& other) { return fs::equivalent(file, other, error); }), 1);
}

TEST_F(Candidates, TakeAToolkitsFolderToo) {
  const fs::path file = add_file("toolkit/lib64/libcupti.so.13");
  EXPECT_EQ(library_candidates(root_ / "toolkit").front(), file);
  EXPECT_EQ(library_candidates(file.parent_path()).front(), file);
}

TEST_F(Candidates, LoadNoFileThatIsNoLibrary) {
  const fs::path file = add_file("libcupti.so.13");
  try {
    (void)Library::load(file);
    FAIL() << "an empty file was loaded";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(file.string()));
    EXPECT_FALSE(error.detail().empty());
    EXPECT_THAT(error.remedy(), HasSubstr("CUDA_HOME"));
  }
}

TEST(Library, NamesTheFunctionThatIsMissing) {
  try {
    (void)Library::load("libm.so.6");
    FAIL() << "libm was taken for CUPTI";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("libm.so.6"));
    EXPECT_THAT(error.detail(), HasSubstr("cuptiGetVersion"));
  }
}

TEST(Library, RefusesCuptiFromBefore126) {
  EXPECT_NO_THROW(require_supported(24, "libcupti.so.12"));
  EXPECT_NO_THROW(require_supported(130001, "libcupti.so.13"));
  try {
    require_supported(23, "/old/libcupti.so.12");
    FAIL() << "CUDA 12.5 was taken";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("/old/libcupti.so.12"));
    EXPECT_THAT(error.message(), HasSubstr("23"));
    EXPECT_THAT(error.remedy(), HasSubstr("12.6"));
  }
}

TEST(Library, OpensOnceForAllThreads) {
  std::vector<const Library*> seen(8);
  std::vector<std::thread> threads;
  threads.reserve(seen.size());
  for (const Library*& library : seen) threads.emplace_back([&library] { library = &Library::open(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(seen, testing::Each(&Library::open("/no/such/file")));
  EXPECT_GE(seen[0]->version(), kMinimumVersion);
  EXPECT_TRUE(fs::is_regular_file(seen[0]->path())) << seen[0]->path();
}

TEST(Library, HasEveryFunction) {
  const Library& library = Library::open();
#define X(name) EXPECT_NE(library.name, nullptr) << #name;
  DLKPROF_CUPTI_FUNCTIONS(X)
#undef X
}

TEST(Check, GivesTheCallItsWordsAndTheRemedy) {
  const Library& library = Library::open();
  EXPECT_NO_THROW(check(library, CUPTI_SUCCESS, "cuptiX"));
  try {
    check(library, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "cuptiRangeProfilerEnable");
    FAIL() << "a failure passed";
  } catch (const Error& error) {
    EXPECT_EQ(error.detail(), "cuptiRangeProfilerEnable: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35)");
    EXPECT_EQ(error.remedy(), remedy_for(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES));
  }
  EXPECT_THROW(check(library, static_cast<CUptiResult>(12345), "cuptiX"), Error);
}

TEST(Check, WorksThroughTheMacros) {
  const Library& library = Library::open();
  auto params = DLKPROF_PARAMS(CUpti_Profiler_Host_GetSupportedChips_Params);
  EXPECT_EQ(params.structSize, CUpti_Profiler_Host_GetSupportedChips_Params_STRUCT_SIZE);
  DLKPROF_CUPTI(library, cuptiProfilerHostGetSupportedChips, &params);
  const std::vector<std::string> chips(params.ppChipNames, params.ppChipNames + params.numChips);
  EXPECT_THAT(chips, Contains("GH100"));
}

// The loader's cache of a machine may have another, or none.
TEST(LoadNvperf, TakesTheOneBesideCupti) {
  const Library& library = Library::open();
  library.load_nvperf();
  void* const loaded = dlopen(kNvPerf, RTLD_NOW | RTLD_NOLOAD);
  const link_map* map = nullptr;
  ASSERT_NE(loaded, nullptr);
  ASSERT_EQ(dlinfo(loaded, RTLD_DI_LINKMAP, &map), 0);
  EXPECT_EQ(fs::path(map->l_name).parent_path(), library.path().parent_path());
}

}  // namespace
}  // namespace dlkprof::cupti::library_test
