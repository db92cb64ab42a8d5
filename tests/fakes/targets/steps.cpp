#include "targets/steps.h"

#include <cuda.h>
#include <cudaProfiler.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <thread>
#include <vector>

#include "targets/graphs.h"
#include "targets/hostile.h"
#include "targets/hostile_steps.h"
#include "targets/marked.h"
#include "targets/profiler_ranges.h"
#include "targets/training.h"

extern "C" CUresult cuCtxCreate_v2(CUcontext*, unsigned, CUdevice);  // cuda.h may call another cuCtxCreate

namespace target {
namespace {

struct Program {
  Entry entry = Entry::plain;
  CUstream stream = nullptr;
  bool initialized = false;
};
Program g_program;
volatile std::sig_atomic_t g_interrupted = 0;

void use_device(int ordinal) {
  CUdevice device = 0;
  CUcontext context = nullptr;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, ordinal));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  g_program.initialized = true;
}

void need_device() {
  if (!g_program.initialized) use_device(0);
}

// A step's words after its name.
struct Arguments {
  std::string text;
  [[nodiscard]] int number(std::size_t index) const {
    std::size_t begin = 0;
    for (; index > 0 && begin != std::string::npos; --index) begin = text.find(':', begin) + 1;
    return std::atoi(text.c_str() + begin);
  }
};

void train(const Arguments& arguments) {
  need_device();
  Training training(g_program.entry, g_program.stream);
  for (int i = 0; i < arguments.number(0); ++i) training.iterate();
  report("train", training.checksum());
}

// marked:N - so many steps of training with NVTX ranges around them.
void mark(const Arguments& arguments) {
  need_device();
  Training training(g_program.entry, g_program.stream);
  train_marked(training, arguments.number(0));
  report("marked", training.checksum());
}

// threads:T:N - each in buffers of its own; all launch at once.
void train_in_threads(const Arguments& arguments) {
  need_device();
  CUcontext context = nullptr;
  CHECK(cuCtxGetCurrent(&context));
  std::vector<std::unique_ptr<Training>> trainings;
  for (int i = 0; i < arguments.number(0); ++i)
    trainings.push_back(std::make_unique<Training>(g_program.entry, g_program.stream));
  std::vector<std::thread> threads;
  for (auto& training : trainings) {
    threads.emplace_back([&training, context, iterations = arguments.number(1)] {
      CHECK(cuCtxSetCurrent(context));
      for (int i = 0; i < iterations; ++i) training->iterate();
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& training : trainings) report("thread", training->checksum());
}

// uploads:N - a second thread writes to GPU memory while this one launches.
void upload_meanwhile(const Arguments& arguments) {
  need_device();
  CUcontext context = nullptr;
  CHECK(cuCtxGetCurrent(&context));
  Training training(g_program.entry, g_program.stream);
  Training loader(g_program.entry, g_program.stream);
  std::atomic<bool> done{false};
  int lost = 0;
  std::thread thread([&] {
    CHECK(cuCtxSetCurrent(context));
    for (std::uint8_t value = 0; !done; ++value) lost += loader.upload(value) ? 0 : 1;
  });
  for (int i = 0; i < arguments.number(0); ++i) training.iterate();
  done = true;
  thread.join();
  report("uploads", training.checksum() + " lost " + std::to_string(lost));
}

void train_in_contexts(const Arguments& arguments) {
  need_device();
  for (int i = 0; i < arguments.number(0); ++i) {
    CUcontext context = nullptr;
    CHECK(cuCtxCreate_v2(&context, 0, 0));
    Arguments iterations{std::to_string(arguments.number(1))};
    train(iterations);
    CHECK(cuCtxDestroy(context));
  }
}

void capture(int captured, int launched, bool stray = false) {
  need_device();
  CUstream stream = nullptr, other = nullptr;
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  Training training(g_program.entry, stream);
  CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CHECK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  if (stray && cuStreamEndCapture(other, &graph) == CUDA_SUCCESS) report("capture", "of a stream that none was begun of");
  for (int i = 0; i < captured; ++i) training.iterate();
  CHECK(cuStreamEndCapture(stream, &graph));
  CHECK(cuGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < launched; ++i) CHECK(cuGraphLaunch(executable, stream));
  CHECK(cuStreamSynchronize(stream));
  report("capture", training.checksum());
}

// capture:N - an iteration is captured, and its graph launched N times.
void capture_one(const Arguments& arguments) { capture(1, arguments.number(0)); }

// long_capture:N - N iterations are captured, and launched once.
void capture_many(const Arguments& arguments) { capture(arguments.number(0), 1); }

// stray_end:N - as long_capture:N; the capture of another stream is ended meanwhile, where there is none.
void capture_despite_stray_end(const Arguments& arguments) { capture(arguments.number(0), 1, true); }

// A function of targets/graphs.h that is given a number, as a step NAME:N.
std::function<void(const Arguments&)> graph_step(const char* name, std::string (*train)(Entry, int)) {
  return [name, train](const Arguments& arguments) {
    need_device();
    report(name, train(g_program.entry, arguments.number(0)));
  };
}

// captures:T:N - so many threads capture side by side, and launch their graphs N times.
void capture_in_threads(const Arguments& arguments) {
  need_device();
  report("captures", capture_side_by_side(g_program.entry, arguments.number(0), arguments.number(1)));
}

void launch_special(const char* step, int count, const std::function<void(Training&)>& launch) {
  need_device();
  Training training(g_program.entry, g_program.stream);
  for (int i = 0; i < count; ++i) launch(training);
  report(step, training.checksum());
}

void reload(const Arguments& arguments) {
  launch_special("reload", arguments.number(0), [](Training& training) {
    training.iterate();
    training.reload();
  });
}

void choose_entry(const Arguments& arguments) {
  const std::map<std::string, Entry> entries{{"plain", Entry::plain},
                                             {"ptsz", Entry::ptsz},
                                             {"ex", Entry::ex},
                                             {"ex_ptsz", Entry::ex_ptsz},
                                             {"library", Entry::library_kernel}};
  g_program.entry = entries.at(arguments.text);
}

void new_stream(const Arguments&) {
  need_device();
  CHECK(cuStreamCreate(&g_program.stream, CU_STREAM_DEFAULT));
}

void wait_for(pid_t child, const char* step) {
  int status = 0;
  waitpid(child, &status, 0);
  report(step, "ended with " + std::to_string(status));
}

// fork:<step> - the child takes that step and ends; where the parent has used the GPU it cannot.
void fork_child(const Arguments& arguments) {
  const pid_t child = fork();
  if (child == 0) {
    std::string step = arguments.text;
    char* const steps[] = {step.data()};
    take_step(steps);
    std::exit(0);
  }
  wait_for(child, "fork");
}

// spawn:<step> - a program of its own.
void spawn(const Arguments& arguments) {
  const pid_t child = fork();
  if (child == 0) {
    execl("/proc/self/exe", "fake_program", arguments.text.c_str(), nullptr);
    _exit(97);
  }
  wait_for(child, "spawn");
}

// In a thread that may end at any time. It has a context of its own to launch in, as no cancelled thread leaves it.
void train_a_little() {
  use_device(0);
  Training training(g_program.entry, nullptr);
  training.iterate();
}

void wait_for_signal(const Arguments&) {
  report("wait", "begins");
  while (g_interrupted == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  report("wait", "interrupted");
}

const std::map<std::string, std::function<void(const Arguments&)>>& table() {
  using A = const Arguments&;
  static const std::map<std::string, std::function<void(A)>> steps{
      {"train", train},
      {"marked", mark},
      {"threads", train_in_threads},
      {"uploads", upload_meanwhile},
      {"contexts", train_in_contexts},
      {"capture", capture_one},
      {"long_capture", capture_many},
      {"stray_end", capture_despite_stray_end},
      {"graphs", graph_step("graphs", train_in_graphs)},
      {"updated_graph", graph_step("updated_graph", train_in_an_updated_graph)},
      {"built_graph", graph_step("built_graph", train_in_a_built_graph)},
      {"growing_graph", graph_step("growing_graph", train_in_a_growing_graph)},
      {"growing_set_graph", graph_step("growing_set_graph", train_in_a_growing_set_graph)},
      {"captures", capture_in_threads},
      {"reload", reload},
      {"entry", choose_entry},
      {"stream", new_stream},
      {"fork", fork_child},
      {"spawn", spawn},
      {"wait", wait_for_signal},
      {"init", [](A) { need_device(); }},
      {"device", [](A a) { use_device(a.number(0)); }},
      {"cooperative",
       [](A a) {
         launch_special("cooperative", a.number(0), [](Training& t) { t.launch_cooperative("volta_sgemm_128x64_nn"); });
       }},
      {"values",  // iterations after which a value is written
       [](A a) {
         launch_special("values", a.number(0), [](Training& t) {
           t.iterate();
           t.write_value(1);
         });
       }},
      {"refused",  // iterations with a launch that the driver refuses
       [](A a) {
         launch_special("refused", a.number(0), [](Training& t) {
           if (!t.launch_too_large("_Z12add_in_placePfPKfi")) report("refused", "not");
           t.iterate();
         });
       }},
      {"nccl",
       [](A a) {
         launch_special("nccl", a.number(0), [](Training& t) {
           t.launch("_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE");
         });
       }},
      {"profiler_start",
       [](A) {
         need_device();
         CHECK(cuProfilerStart());
       }},
      {"profiler_stop", [](A) { CHECK(cuProfilerStop()); }},
      {"between",
       [](A a) {
         need_device();
         report("between", launch_between(g_program.entry, a.text));
       }},
      {"across",
       [](A a) {
         need_device();
         report("across", launch_across(g_program.entry, a.number(0), a.number(1)));
       }},
      {"catch_interrupt", [](A) { std::signal(SIGINT, [](int) { g_interrupted = 1; }); }},
      {"close_all", [](A a) { report("close_all", close_all(a.number(0), train_a_little)); }},
      {"close_twice", [](A a) { report("close_twice", close_twice(a.number(0), train_a_little)); }},
      {"cancel", [](A a) { report("cancel", cancel_threads(a.number(0), train_a_little)); }},
      {"break_stderr", [](A a) { break_stderr(a.text); }},
      {"print", [](A a) { report("print", a.text); }},
      {"sleep", [](A a) { std::this_thread::sleep_for(std::chrono::milliseconds(a.number(0))); }},
      {"exit", [](A a) { std::exit(a.number(0)); }},
      {"_exit", [](A a) { _exit(a.number(0)); }},
      {"abort", [](A) { std::abort(); }},
      {"segv", [](A) { std::raise(SIGSEGV); }},
      {"kill", [](A) { kill(getpid(), SIGKILL); }},
  };
  return steps;
}

}  // namespace

void report(const char* step, const std::string& result) {
  std::printf("%s %s\n", step, result.c_str());
  std::fflush(stdout);
}

void take_step(std::span<char* const> steps) {
  const std::string step = steps[0];
  if (step == "exec") {
    std::vector<char*> arguments{steps[0]};
    arguments.insert(arguments.end(), steps.begin() + 1, steps.end());
    arguments.push_back(nullptr);
    execv("/proc/self/exe", arguments.data());
  }
  const auto colon = step.find(':');
  static const auto& hostile = *new auto(hostile_steps(train_a_little));
  if (const auto found = hostile.find(step.substr(0, colon)); found != hostile.end()) {
    return found->second(colon == std::string::npos ? "" : step.substr(colon + 1));
  }
  const auto found = table().find(step.substr(0, colon));
  if (found == table().end()) {
    std::fprintf(stderr, "fake_program: there is no step %s\n", step.c_str());
    std::exit(98);
  }
  found->second({colon == std::string::npos ? "" : step.substr(colon + 1)});
}

}  // namespace target
