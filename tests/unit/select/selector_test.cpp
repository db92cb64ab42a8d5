#include "select/selector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace dlkprof::select::selector_test {
namespace {

using capture::Selection;
using testing::ElementsAre;

// Launches kernels by name, as a program would, and notes which of its launches (from 1) were selected.
class Program {
 public:
  explicit Program(const Selection& selection) : selector_(Selector::compile(selection)) {}

  // `key.function` follows the name.
  Verdict launch(const std::string& name, LaunchIdentity launch = {}) {
    const auto [at, fresh] = functions_.try_emplace(name, static_cast<std::uint32_t>(functions_.size()) + 1);
    launch.key.function = at->second;
    launch.name_id = selector_.name_id({name, name + "(int)", "_Z3" + name});
    if (launch.context_id == 0) launch.context_id = 1;
    if (launch.stream_id == 0) launch.stream_id = 7;
    const Verdict verdict = selector_.decide(selector_.match_names({name, name + "(int)", "_Z3" + name}), launch);
    ++launches_;
    if (verdict == Verdict::selected) selected_.push_back(launches_);
    return verdict;
  }
  void launch_times(int times, const std::string& name, const LaunchIdentity& identity = {}) {
    for (int i = 0; i < times; ++i) launch(name, identity);
  }

  [[nodiscard]] const std::vector<int>& selected() const { return selected_; }
  [[nodiscard]] const Selector& selector() const { return selector_; }

 private:
  Selector selector_;
  std::map<std::string, std::uint32_t> functions_;
  std::vector<int> selected_;
  int launches_ = 0;
};

Selection kernel_id(const std::string& value) { return {.kernel_id = value}; }

LaunchIdentity on(std::uint32_t context, std::uint32_t stream) {
  LaunchIdentity launch;
  launch.context_id = context;
  launch.stream_id = stream;
  return launch;
}
LaunchIdentity on_device(std::uint32_t device) {
  LaunchIdentity launch;
  launch.key.device = device;
  return launch;
}
LaunchIdentity with_grid(std::uint32_t x) {
  LaunchIdentity launch;
  launch.key.grid.x = x;
  return launch;
}

TEST(Selector, WithoutOptionsTakesAll) {
  Program program({});
  EXPECT_EQ(program.launch("foo"), Verdict::selected);
  EXPECT_EQ(program.launch("bar", on_device(3)), Verdict::selected);
  EXPECT_FALSE(program.selector().exhausted());
  EXPECT_FALSE(program.selector().needs_resource_names());
  EXPECT_FALSE(program.selector().limit_exceeded());
}

TEST(KernelIdExamples, SecondInvocationOfFoo) {
  Program program(kernel_id("::foo:2"));
  for (const char* name : {"foo", "bar", "bar", "foo", "foo", "foobar", "foobar"}) program.launch(name);
  EXPECT_THAT(program.selected(), ElementsAre(4));
}

TEST(KernelIdExamples, ThirdInvocationAndThoseEndingInFive) {
  Program program(kernel_id(":::.*5|3"));
  program.launch_times(35, "foo");
  EXPECT_THAT(program.selected(), ElementsAre(3, 5, 15, 25, 35));
}

TEST(KernelIdExamples, NamesThatEndInFoo) {
  Program program(kernel_id("::regex:^.*foo$:"));
  for (const char* name : {"foo", "barfoo", "foobar"}) program.launch(name);
  EXPECT_THAT(program.selected(), ElementsAre(1, 2));
}

TEST(KernelIdExamples, NamesThatDoNotStartWithFoo) {
  Program program(kernel_id("::regex:^(?!foo):"));
  for (const char* name : {"foo", "barfoo", "foobar", "bar"}) program.launch(name);
  EXPECT_THAT(program.selected(), ElementsAre(2, 4));
}

TEST(KernelIdExamples, SeventhInvocationsInContextsOneAndFiveOnStreamTwo) {
  Program program(kernel_id("1|5:2::7"));
  EXPECT_TRUE(program.selector().needs_resource_names());
  for (int round = 0; round < 8; ++round) {
    program.launch("foo", on(1, 2));  // 19 is the seventh of foo in either context
    program.launch("foo", on(5, 2));
    program.launch("bar", on(5, 2));  // 39 is the seventh of bar
    program.launch("foo", on(15, 2));
    program.launch("foo", on(1, 3));
    program.launch("foo", on(5, 22));
  }
  EXPECT_THAT(program.selected(), ElementsAre(19, 39));
}

TEST(KernelIdExamples, AllThatHoldGemm) {
  Program program(kernel_id("::regex:gemm:"));
  for (const char* name : {"sgemm", "gemm_sm90", "nvjet_hsh", "gem"}) program.launch(name);
  EXPECT_THAT(program.selected(), ElementsAre(1, 2));
}

TEST(KernelId, FieldsOfAllEmptyMatchAll) {
  Program program(kernel_id(":::"));
  program.launch_times(3, "foo");
  EXPECT_THAT(program.selected(), ElementsAre(1, 2, 3));
}

TEST(KernelId, StreamByTheNameGivenThroughNvtx) {
  Program program(kernel_id(":copy.*::"));
  LaunchIdentity named = on(1, 3);
  named.stream_name = "copy_in";
  EXPECT_EQ(program.launch("foo", named), Verdict::selected);
  named.stream_name = "compute";
  EXPECT_EQ(program.launch("foo", named), Verdict::unmatched);
  EXPECT_EQ(program.launch("foo", on(1, 3)), Verdict::unmatched);
}

// As Nsight Compute 2025.3 counts: by the name, whatever the grid, the template instance or the stream.
TEST(Invocation, IsCountedByName) {
  Program program(kernel_id(":::2"));
  program.launch("foo", with_grid(1));  // 1
  program.launch("bar", with_grid(1));
  program.launch("foo", with_grid(2));  // 3: second of foo
  program.launch("foo", with_grid(1));
  program.launch("bar", on(1, 8));  // 5: second of bar
  EXPECT_THAT(program.selected(), ElementsAre(3, 5));
}

TEST(Invocation, TemplateInstancesOfOneNameShareIt) {
  const KernelNames of_int{"Kernel2", "void Kernel2<int>(int)", "_Z7Kernel2IiEvT_"};
  const KernelNames of_float{"Kernel2", "void Kernel2<float>(float)", "_Z7Kernel2IfEvT_"};
  Selector by_function = Selector::compile(kernel_id("::Kernel2:2"));
  EXPECT_EQ(by_function.name_id(of_int), by_function.name_id(of_float));
  Selection mangled;
  mangled.kernel_name_base = "mangled";
  Selector by_mangled = Selector::compile(mangled);
  EXPECT_NE(by_mangled.name_id(of_int), by_mangled.name_id(of_float));
}

TEST(Invocation, OnlyMatchingLaunchesAdvanceIt) {
  Selection selection = kernel_id(":9:foo:2");
  selection.devices = {1};
  Program program(selection);
  LaunchIdentity launch = on(1, 9);
  program.launch("foo", launch);  // device 0
  launch.key.device = 1;
  program.launch("foo", launch);  // 2: the first
  program.launch("bar", launch);
  launch.stream_id = 8;
  program.launch("foo", launch);
  launch.stream_id = 9;
  program.launch("foo", launch);  // 5: the second
  EXPECT_THAT(program.selected(), ElementsAre(5));
}

TEST(Invocation, ZeroIsRefused) { EXPECT_THROW((void)Selector::compile(kernel_id("::foo:0")), UsageError); }

TEST(KernelName, AndKernelIdMustBothMatch) {
  Selection selection = kernel_id("::regex:gemm:");
  selection.kernel_name = "sgemm";
  Program program(selection);
  for (const char* name : {"sgemm", "dgemm", "sgemm2"}) program.launch(name);
  EXPECT_THAT(program.selected(), ElementsAre(1));
}

TEST(KernelName, BaseGovernsBothOptions) {
  const KernelNames names{"foo", "void ns::foo<int>(float*)", "_ZN2ns3fooIiEEvPf"};
  for (const auto& [base, name] : std::map<std::string, std::string>{
           {"function", names.function}, {"demangled", names.demangled}, {"mangled", names.mangled}}) {
    const auto by_name = Selector::compile({.kernel_name = name, .kernel_name_base = base});
    EXPECT_EQ(by_name.match_names(names), NameMatch::yes) << base;
    const auto by_id = Selector::compile({.kernel_id = "::" + name + ":", .kernel_name_base = base});
    EXPECT_EQ(by_id.match_names(names), NameMatch::yes) << base;
  }
}

TEST(KernelName, NearMissesAreToldAndNeverSelected) {
  const KernelNames names = kernel_names("_ZN7cutlass7Kernel2I17s1688gemm_128x128EEvT_");
  EXPECT_EQ(names.function, "Kernel2");
  Selector selector = Selector::compile(kernel_id("::regex:gemm:"));
  const NameMatch match = selector.match_names(names);
  EXPECT_EQ(match, NameMatch::near);
  EXPECT_EQ(selector.decide(match, {}), Verdict::unmatched);
  const auto with_name = Selector::compile({.kernel_id = "::regex:gemm:", .kernel_name = "Kernel2"});
  EXPECT_EQ(with_name.match_names(names), NameMatch::near);
  const auto with_other_name = Selector::compile({.kernel_id = "::regex:gemm:", .kernel_name = "Kernel3"});
  EXPECT_EQ(with_other_name.match_names(names), NameMatch::no) << "both must come near";
}

TEST(KernelNamesOf, GivesTheThreeForms) {
  const KernelNames cpp = kernel_names("_ZN2ns3fooIiEEvPf");
  EXPECT_EQ(cpp.mangled, "_ZN2ns3fooIiEEvPf");
  EXPECT_EQ(cpp.demangled, "void ns::foo<int>(float*)");
  EXPECT_EQ(cpp.function, "foo");
  const KernelNames c = kernel_names("nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_NNT");
  EXPECT_EQ(c.function, c.mangled);
  EXPECT_EQ(c.demangled, c.mangled);
}

TEST(Skip, CountsMatchingLaunches) {
  Program program({.kernel_name = "foo", .launch_skip = 2});
  for (const char* name : {"bar", "foo", "bar", "foo", "bar", "foo", "foo"}) program.launch(name);
  EXPECT_THAT(program.selected(), ElementsAre(6, 7));
}

TEST(Skip, BeforeMatchCountsAllLaunches) {
  Program program({.kernel_name = "foo", .launch_skip_before_match = 3});
  EXPECT_EQ(program.launch("bar"), Verdict::unmatched);
  EXPECT_EQ(program.launch("foo"), Verdict::skipped);
  EXPECT_EQ(program.launch("bar"), Verdict::unmatched);
  EXPECT_EQ(program.launch("foo"), Verdict::selected);
}

TEST(Skip, BeforeMatchComesFirst) {
  Program program({.launch_skip = 1, .launch_count = 1, .launch_skip_before_match = 2});
  program.launch_times(6, "foo");
  EXPECT_THAT(program.selected(), ElementsAre(4));
}

TEST(Skip, InvocationsAreNumberedFromTheProgramsStart) {
  Selection selection = kernel_id("::foo:3|4");
  selection.launch_skip_before_match = 3;
  Program program(selection);
  program.launch_times(6, "foo");
  EXPECT_THAT(program.selected(), ElementsAre(4));
}

TEST(Count, EndsTheSelection) {
  Program program({.kernel_name = "foo", .launch_skip = 1, .launch_count = 2});
  for (const char* name : {"foo", "bar", "foo"}) program.launch(name);
  EXPECT_FALSE(program.selector().exhausted());
  EXPECT_EQ(program.launch("foo"), Verdict::selected);
  EXPECT_TRUE(program.selector().exhausted());
  EXPECT_EQ(program.launch("foo"), Verdict::exhausted);
  EXPECT_EQ(program.launch("bar"), Verdict::unmatched);
  EXPECT_THAT(program.selected(), ElementsAre(3, 4));
}

TEST(Count, ZeroSelectsNothingInAnyMode) {
  for (const char* mode : {"global", "per-gpu", "per-launch-config"}) {
    Program program({.launch_count = 0, .filter_mode = mode});
    EXPECT_TRUE(program.selector().exhausted()) << mode;
    EXPECT_EQ(program.launch("foo"), Verdict::exhausted) << mode;
  }
}

TEST(Mode, GlobalCountsOverDevices) {
  Program program({.launch_skip = 1, .launch_count = 2});
  for (const std::uint32_t device : {0, 1, 0, 1, 0}) program.launch("foo", on_device(device));
  EXPECT_THAT(program.selected(), ElementsAre(2, 3));
  EXPECT_TRUE(program.selector().exhausted());
}

TEST(Mode, PerGpuCountsEachDevice) {
  Program program({.launch_skip = 1, .launch_count = 1, .filter_mode = "per-gpu"});
  for (const std::uint32_t device : {0, 0, 0, 1, 1, 1}) program.launch("foo", on_device(device));
  EXPECT_THAT(program.selected(), ElementsAre(2, 5));
  EXPECT_FALSE(program.selector().exhausted()) << "a third device may come";
}

TEST(Mode, PerGpuEndsWhenAllListedDevicesHaveEnough) {
  Program program({.launch_count = 1, .filter_mode = "per-gpu", .devices = {2, 0, 2}});
  for (const std::uint32_t device : {0, 0, 1, 1}) program.launch("foo", on_device(device));
  EXPECT_FALSE(program.selector().exhausted());
  program.launch("foo", on_device(2));
  EXPECT_TRUE(program.selector().exhausted());
  EXPECT_THAT(program.selected(), ElementsAre(1, 5));
}

TEST(Mode, PerLaunchConfigCountsEachConfiguration) {
  Program program({.launch_skip = 1, .launch_count = 1, .filter_mode = "per-launch-config"});
  program.launch_times(3, "foo", with_grid(1));  // 2
  program.launch_times(3, "foo", with_grid(2));  // 5
  program.launch_times(3, "bar", with_grid(1));  // 8
  program.launch_times(3, "foo", on_device(1));  // 11
  EXPECT_THAT(program.selected(), ElementsAre(2, 5, 8, 11));
  EXPECT_FALSE(program.selector().exhausted()) << "another configuration may come";
}

TEST(Mode, LeavesSkipBeforeMatchGlobal) {
  for (const char* mode : {"per-gpu", "per-launch-config"}) {
    Program program({.launch_skip_before_match = 2, .filter_mode = mode});
    for (const std::uint32_t device : {0, 1, 2, 0}) program.launch("foo", on_device(device));
    EXPECT_THAT(program.selected(), ElementsAre(3, 4)) << mode;
  }
}

TEST(Devices, LeaveOthersOutAndUncounted) {
  Program program({.launch_count = 2, .devices = {3, 1}});
  for (const std::uint32_t device : {0, 1, 2, 3, 1}) program.launch("foo", on_device(device));
  EXPECT_THAT(program.selected(), ElementsAre(2, 4));
}

TEST(Exhausted, IsNotClaimedForAnInvocation) {
  Program program(kernel_id("::foo:1"));
  program.launch_times(3, "foo");
  EXPECT_THAT(program.selected(), ElementsAre(1));
  EXPECT_FALSE(program.selector().exhausted()) << "foo may be launched with another grid";
}

TEST(ResourceNames, AreNeededForPatternsOnly) {
  for (const char* value : {"::foo:", "1:2:foo:", "::regex:foo:3|4", ":::"}) {
    EXPECT_FALSE(Selector::compile(kernel_id(value)).needs_resource_names()) << value;
  }
  for (const char* value : {"main:::", ":copy::", "1|5:::", ":0::"}) {
    EXPECT_TRUE(Selector::compile(kernel_id(value)).needs_resource_names()) << value;
  }
}

struct Refused {
  Selection selection;
  std::string says;
};
void PrintTo(const Refused& refused, std::ostream* out) { *out << refused.says; }

class BadSelection : public testing::TestWithParam<Refused> {};

TEST_P(BadSelection, IsAUsageErrorThatHelps) {
  try {
    (void)Selector::compile(GetParam().selection);
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.message(), testing::HasSubstr(GetParam().says));
    EXPECT_FALSE(error.remedy().empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Options, BadSelection,
                         testing::Values(Refused{{.kernel_id = "gemm"}, "--kernel-id gemm"},                                  //
                                         Refused{{.kernel_id = "::regex:(gemm:"}, "    ::regex:(gemm:\n                 ^"},  //
                                         Refused{{.kernel_id = "(1:::"}, "    (1:::\n      ^"},                               //
                                         Refused{{.kernel_id = ":[2::"}, "    :[2::\n       ^"},                              //
                                         Refused{{.kernel_id = ":::*"}, "    :::*\n"},                                        //
                                         Refused{{.kernel_name = "regex:(gemm"}, "    regex:(gemm\n               ^"},        //
                                         Refused{{.kernel_name_base = "full"}, "--kernel-name-base full"},                    //
                                         Refused{{.filter_mode = "per-node"}, "--filter-mode per-node"}));

TEST(Selector, SaysWhereNameAndDeviceDecideAlone) {
  EXPECT_TRUE(Selector::compile({}).goes_by_name_and_device());
  EXPECT_TRUE(Selector::compile({.kernel_name = "regex:gemm"}).goes_by_name_and_device());
  EXPECT_TRUE(Selector::compile({.devices = {1}}).goes_by_name_and_device());
  EXPECT_FALSE(Selector::compile({.launch_skip = 1}).goes_by_name_and_device());
  EXPECT_FALSE(Selector::compile({.launch_count = 1}).goes_by_name_and_device());
  for (const char* id : {"1:::", ":7::", ":::2"})
    EXPECT_FALSE(Selector::compile({.kernel_id = id}).goes_by_name_and_device()) << id;
}

TEST(HostileNames, AreMatchedInBoundedTime) {
  const std::string megabyte(std::size_t{1} << 20U, 'a');
  const std::string garbage("\xff\0\xc3(\x80", 5);
  const auto start = std::chrono::steady_clock::now();
  const auto evil = Selector::compile({.kernel_id = "::regex:(a+)+$:", .kernel_name = "regex:[^x]*[xy]"});
  EXPECT_EQ(evil.match_names({megabyte + "!", megabyte + "!", megabyte + "!"}), NameMatch::no);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  EXPECT_LT(spent.count(), 30.0);
  EXPECT_TRUE(evil.limit_exceeded());

  const auto sound = Selector::compile(kernel_id("::regex:gemm$:"));
  EXPECT_EQ(sound.match_names({megabyte + garbage + "gemm", "", ""}), NameMatch::yes);
  EXPECT_EQ(sound.match_names({garbage, megabyte, garbage}), NameMatch::no);
  EXPECT_EQ(sound.match_names({"", "", ""}), NameMatch::no);
  EXPECT_FALSE(sound.limit_exceeded());
}

}  // namespace
}  // namespace dlkprof::select::selector_test
