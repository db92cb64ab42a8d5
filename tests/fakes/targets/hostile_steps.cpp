#include "targets/hostile_steps.h"

#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <vector>

#include "targets/training.h"

namespace target {
namespace {

void (*g_launch_some)() = nullptr;

int number_in(const std::string& text) { return std::atoi(text.c_str()); }

std::string repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

// --- Names ------------------------------------------------------------------------------------------------------------

std::string name_of(const std::string& kind) {
  if (kind == "pointers") return "_Z1f" + repeated("P", 4090) + "i";
  if (kind == "templates") return "_Z1fI" + repeated("1aIiE", 400) + "EvRT_" + repeated("RT_", 660);
  if (kind == "nested")
    return "_ZN7cutlass4gemm6kernel" + repeated("1AIN7cutlass4gemm6kernel", 60) + "1B" + repeated("EE", 60) + "Evv";
  return "_Z" + kind;
}

void launch_named(const std::string& name) {
  Training training(Entry::plain, nullptr);
  training.launch(name.c_str());
  report("named", training.checksum());
}

// named:<kind>:<kB> - a kernel of a hostile name, from a thread with so small a stack; without <kB> from this one.
void named(const std::string& text) {
  g_launch_some();
  const auto colon = text.find(':');
  static std::string name;
  name = name_of(text.substr(0, colon));
  if (colon == std::string::npos) return launch_named(name);
  CUcontext context = nullptr;
  CHECK(cuCtxGetCurrent(&context));
  static CUcontext current;
  current = context;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, static_cast<std::size_t>(number_in(text.substr(colon + 1))) << 10U);
  pthread_t thread{};
  const auto body = [](void*) -> void* {
    CHECK(cuCtxSetCurrent(current));
    launch_named(name);
    return nullptr;
  };
  if (pthread_create(&thread, &attributes, body, nullptr) == 0) pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

// names:N - so many kernels, each of a name of its own.
void names(const std::string& text) {
  g_launch_some();
  Training training(Entry::plain, nullptr);
  for (int i = 0; i < number_in(text); ++i) {
    const std::string name = "kernel_" + std::to_string(i);
    training.launch(("_Z" + std::to_string(name.size()) + name + "Pf").c_str());
  }
  report("names", training.checksum());
}

// --- Host functions ---------------------------------------------------------------------------------------------------

// host_waits:N - so many times: a host function in a stream waits for a flag that is set once more was launched.
// host_waits:N:thread - which another thread does, once it has launched too.
void host_waits(const std::string& text) {
  g_launch_some();
  CUcontext context = nullptr;
  CHECK(cuCtxGetCurrent(&context));
  static std::atomic<std::intptr_t> flag{0};
  const auto wait = [](void* value) {
    while (flag < reinterpret_cast<std::intptr_t>(value)) std::this_thread::sleep_for(std::chrono::microseconds(50));
  };
  const bool on_another_thread = text.ends_with(":thread");
  Training training(Entry::plain, nullptr), of_others(Entry::plain, nullptr);
  for (std::intptr_t i = 1; i <= number_in(text); ++i) {
    CHECK(cuLaunchHostFunc(nullptr, wait, reinterpret_cast<void*>(i)));
    std::thread other;
    if (on_another_thread) {
      other = std::thread([&] {
        CHECK(cuCtxSetCurrent(context));
        of_others.launch("_Z6othersv");
        flag = i;
      });
    }
    training.iterate();
    if (on_another_thread) other.join();
    flag = i;
    CHECK(cuCtxSynchronize());
  }
  report("host waits", training.checksum() + " " + of_others.checksum());
}

// timed:N - so many times, as XLA times kernels: one that holds the stream back, for 100 ms at most, until more was launched.
// Between two of them as much time passes as it may take XLA to compile.
void timed(const std::string& text) {
  static constexpr auto kLongest = std::chrono::milliseconds(100);
  static std::atomic<bool> released{false};
  static std::atomic<int> gave_up{0};
  const auto hold = [](void*) {
    const auto until = std::chrono::steady_clock::now() + kLongest;
    while (!released && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(std::chrono::microseconds(50));
    if (!released) ++gave_up;
  };
  g_launch_some();
  Training training(Entry::plain, nullptr);
  for (int i = 0; i < number_in(text); ++i) {
    released = false;
    training.launch("_ZN15stream_executor3gpu12_GLOBAL__N_111DelayKernelEPVNS_17GpuSemaphoreStateES2_");
    CHECK(cuLaunchHostFunc(nullptr, hold, nullptr));
    training.iterate();
    released = true;
    CHECK(cuCtxSynchronize());
    training.iterate();
    CHECK(cuCtxSynchronize());
    std::this_thread::sleep_for(3 * kLongest);
  }
  report("timed", training.checksum() + " " + std::to_string(gave_up) + " gave up");
}

// tries:events:N - a kernel, so many times, each between two events that take times, as cuDNN and Triton choose kernels.
// tries:untimed:N - between two that take none. tries:range:N - within the range of autotuning that python/dlkprof opens.
void tries(const std::string& text) {
  const auto colon = text.find(':');
  const std::string how = text.substr(0, colon);
  g_launch_some();
  Training training(Entry::plain, nullptr);
  CUevent events[2] = {};
  for (CUevent& event : events) CHECK(cuEventCreate(&event, how == "untimed" ? CU_EVENT_DISABLE_TIMING : CU_EVENT_DEFAULT));
  const nvtxRangeId_t range = how == "range" ? nvtxRangeStartA("dlkprof:autotuning") : 0;
  for (int i = 0; i < number_in(text.substr(colon + 1)); ++i) {
    if (how != "range") CHECK(cuEventRecord(events[0], nullptr));
    training.launch("_Z5triedPf");
    if (how != "range") CHECK(cuEventRecord(events[1], nullptr));
    CHECK(cuCtxSynchronize());
  }
  if (range != 0) nvtxRangeEnd(range);
  for (CUevent event : events) CHECK(cuEventDestroy(event));
  report("tries", training.checksum());
}

// host_stuck - a host function in a stream waits for ever.
void host_stuck(const std::string&) {
  g_launch_some();
  const auto wait = [](void*) {
    while (true) pause();
  };
  CHECK(cuLaunchHostFunc(nullptr, wait, nullptr));
  report("host stuck", "");
}

// --- Ranges -----------------------------------------------------------------------------------------------------------

void nest(const std::string& text) {
  for (int i = 0; i < number_in(text); ++i) nvtxRangePushA("level");
  g_launch_some();
  for (int i = 0; i < number_in(text); ++i) nvtxRangePop();
  report("nest", text);
}

// What no caller of NVTX may give, and some do.
void wild_ranges(const std::string& text) {
  nvtxRangePushA(nullptr);
  nvtxRangePushEx(nullptr);
  nvtxRangePop();
  for (int i = 0; i < 5; ++i) nvtxRangePop();
  auto* const domain = reinterpret_cast<nvtxDomainHandle_t>(~std::uintptr_t{0});  // NOLINT: never followed
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = reinterpret_cast<nvtxStringHandle_t>(std::uintptr_t{0xdeadbeef});  // NOLINT
  attributes.payloadType = 99;
  nvtxDomainRangePushEx(domain, &attributes);
  nvtxDomainRangePop(domain);
  nvtxDomainRangePop(nullptr);
  nvtxRangeEnd(12345);
  nvtxRangeEnd(~nvtxRangeId_t{0});
  const std::string long_text(static_cast<std::size_t>(number_in(text)), 'm');
  nvtxMarkA(long_text.c_str());
  nvtxRangePushA("\x1b[2J\xff\xfe");
  g_launch_some();
  nvtxRangePop();
  report("wild", "done");
}

std::atomic<std::uint64_t> g_handled{0};

// signals:MS - ranges for so long, and ranges from a handler that interrupts them some thousand times a second.
void signals(const std::string& text) {
  struct sigaction action {};
  action.sa_handler = [](int) {
    nvtxRangePushA("of the handler");
    nvtxRangePop();
    nvtxRangeEnd(nvtxRangeStartA("of the handler"));
    ++g_handled;
  };
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  nvtxRangePushA("before");
  const itimerval often{{0, 200}, {0, 200}};
  setitimer(ITIMER_REAL, &often, nullptr);
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(number_in(text));
  while (std::chrono::steady_clock::now() < until) {
    for (int i = 0; i < 100; ++i) {
      nvtxRangePushA("of the program");
      nvtxRangeEnd(nvtxRangeStartA("crossing"));
      nvtxRangePop();
    }
  }
  const itimerval never{};
  setitimer(ITIMER_REAL, &never, nullptr);
  nvtxRangePop();
  report("signals", g_handled > 0 ? "handled" : "none came");
}

// errno:N - so many times each call, asking after each whether it is still what the program left in errno.
void errno_kept(const std::string& text) {
  constexpr int kOfTheProgram = EDOM;
  int changed = 0;
  const auto keeps = [&changed](auto call) {
    errno = kOfTheProgram;
    call();
    changed += errno == kOfTheProgram ? 0 : 1;
  };
  for (int i = 0; i < number_in(text); ++i) {
    const std::string name = "range " + std::to_string(i);
    nvtxRangeId_t range = 0;
    keeps([&] { nvtxRangePushA(name.c_str()); });
    keeps([&] { range = nvtxRangeStartA(name.c_str()); });
    keeps([&] { nvtxMarkA(name.c_str()); });
    keeps([] { g_launch_some(); });
    keeps([&] { nvtxRangeEnd(range); });
    keeps([] { nvtxRangePop(); });
  }
  report("errno", std::to_string(changed) + " changed");
}

// --- Processes and threads --------------------------------------------------------------------------------------------

// thread_storm:N - so many threads at once, each of which launches.
void thread_storm(const std::string& text) {
  g_launch_some();
  std::vector<std::thread> threads;
  std::atomic<int> done{0};
  for (int i = 0; i < number_in(text); ++i) {
    threads.emplace_back([&done] {
      nvtxRangePushA("of a thread");
      g_launch_some();
      nvtxRangePop();
      ++done;
    });
  }
  for (auto& thread : threads) thread.join();
  report("threads", std::to_string(done));
}

// fork_storm:N - so many children while another thread launches.
void fork_storm(const std::string& text) {
  g_launch_some();
  std::atomic<bool> stop{false};
  std::thread launching([&stop] {
    while (!stop) g_launch_some();
  });
  int ended = 0;
  for (int i = 0; i < number_in(text); ++i) {
    const pid_t child = fork();
    if (child == 0) {
      nvtxRangePushA("of a child");
      nvtxRangePop();
      _exit(7);
    }
    int status = 0;
    if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7) ++ended;
  }
  stop = true;
  launching.join();
  report("forks", std::to_string(ended));
}

// The child that goes on in the background tells by a file when it is done.
void daemon(const std::string&) {
  if (fork() != 0) _exit(5);
  setsid();
  const int nowhere = open("/dev/null", O_RDWR);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nowhere, standard);
  g_launch_some();
  close(open("its_unfinished", O_WRONLY | O_CREAT, 0600));
  rename("its_unfinished", "its_daemon");
  std::exit(0);
}

// --- Limits and identity ----------------------------------------------------------------------------------------------

// limit:<what>:<value>
void limit(const std::string& text) {
  const std::map<std::string, int> resources{
      {"nofile", RLIMIT_NOFILE}, {"fsize", RLIMIT_FSIZE}, {"nproc", RLIMIT_NPROC}, {"stack", RLIMIT_STACK}};
  const auto colon = text.find(':');
  const auto value = static_cast<rlim_t>(number_in(text.substr(colon + 1)));
  const rlimit both{value, value};
  report("limit", setrlimit(static_cast<__rlimit_resource>(resources.at(text.substr(0, colon))), &both) == 0 ? "set" : "refused");
}

// Peak memory in kB, and descriptors.
void used(const std::string&) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  int open_ones = 0;
  for (int fd = 0; fd < 8192; ++fd) open_ones += fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
  report("used", std::to_string(usage.ru_maxrss) + " " + std::to_string(open_ones));
}

void change_root(const std::string&) {
  mkdir("its_root", 0700);
  report("chroot", chroot("its_root") == 0 && chdir("/") == 0 ? "done" : "refused");
}
void become_nobody(const std::string&) { report("setuid", setuid(65534) == 0 ? "done" : "refused"); }
void leave_folder(const std::string&) {
  mkdir("its_gone", 0700);
  report("gone", chdir("its_gone") == 0 && rmdir("../its_gone") == 0 ? "done" : "refused");
}

}  // namespace

std::map<std::string, std::function<void(const std::string&)>> hostile_steps(void (*launch_some)()) {
  using Text = const std::string&;
  g_launch_some = launch_some;
  return {{"named", named},
          {"names", names},
          {"host_waits", host_waits},
          {"timed", timed},
          {"tries", tries},
          {"host_stuck", host_stuck},
          {"nest", nest},
          {"wild_ranges", wild_ranges},
          {"signals", signals},
          {"errno", errno_kept},
          {"thread_storm", thread_storm},
          {"fork_storm", fork_storm},
          {"daemon", daemon},
          {"limit", limit},
          {"chroot", change_root},
          {"setuid", become_nobody},
          {"leave_folder", leave_folder},
          {"clearenv", [](Text) { clearenv(); }},
          {"used", used},
          {"umask", [](Text) { umask(0); }},
          {"quick_exit", [](Text text) { std::quick_exit(number_in(text)); }},
          {"throw", [](Text) { throw std::runtime_error("of the program"); }}};
}

}  // namespace target
