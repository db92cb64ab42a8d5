#include "targets/hostile.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

namespace target {
namespace {

constexpr int kFiles = 40;
constexpr int kMostDescriptors = 8192;

std::string file_name(int number) { return "of_the_program_" + std::to_string(number); }

bool write_text(int file, int bytes) {
  const std::string text(static_cast<std::size_t>(bytes), 'x');
  return write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// On the numbers that were closed: the lowest ones, and those that stood open before.
std::string fill_files(const std::vector<int>& numbers, int bytes, void (*meanwhile)()) {
  std::vector<int> files;
  for (int i = 0; i < kFiles; ++i) {
    int file = open(file_name(i).c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (static_cast<std::size_t>(i) < numbers.size() && numbers[i] != file) {
      if (dup2(file, numbers[i]) == numbers[i]) close(file);
      file = numbers[i];
    }
    files.push_back(file);
    if (!write_text(file, bytes)) return "cannot write";
  }
  meanwhile();
  int whole = 0;
  for (int i = 0; i < kFiles; ++i) {
    struct stat status {};
    const bool written = write_text(files[i], bytes);
    whole += written && stat(file_name(i).c_str(), &status) == 0 && status.st_size == 2 * bytes ? 1 : 0;
  }
  return std::to_string(whole) + " files as they were written";
}

std::vector<int> open_descriptors() {
  std::vector<int> numbers;
  for (int number = STDERR_FILENO + 1; number < kMostDescriptors; ++number) {
    if (fcntl(number, F_GETFD) >= 0) numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

std::string close_all(int bytes, void (*meanwhile)()) {
  for (int number = STDERR_FILENO + 1; number < kMostDescriptors; ++number) close(number);
  return fill_files({}, bytes, meanwhile);
}

std::string close_twice(int bytes, void (*meanwhile)()) {
  const std::vector<int> numbers = open_descriptors();
  for (const int number : numbers) close(number);
  return fill_files(numbers, bytes, meanwhile);
}

std::string cancel_threads(int threads, void (*forever)()) {
  int cancelled = 0;
  for (int i = 0; i < threads; ++i) {
    pthread_t thread{};
    const auto body = [](void* work) -> void* {
      for (;;) {
        reinterpret_cast<void (*)()>(work)();
        pthread_testcancel();
      }
    };
    if (pthread_create(&thread, nullptr, body, reinterpret_cast<void*>(forever)) != 0) break;
    std::this_thread::sleep_for(std::chrono::microseconds(200 + 37 * (i % 50)));
    pthread_cancel(thread);
    void* result = nullptr;
    pthread_join(thread, &result);
    cancelled += result == PTHREAD_CANCELED ? 1 : 0;
  }
  return std::to_string(cancelled) + " cancelled";
}

void break_stderr(const std::string& how) {
  if (how == "pipe") {
    int ends[2] = {-1, -1};
    if (pipe(ends) != 0) return;
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    std::signal(SIGPIPE, SIG_DFL);
    return;
  }
  constexpr rlim_t kLimit = rlim_t{1} << 24U;  // the fakes have files of their own to write
  const int file = open("its_stderr", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
  if (ftruncate(file, kLimit) != 0) return;
  dup2(file, STDERR_FILENO);
  close(file);
  const rlimit limit{kLimit, kLimit};
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, SIG_DFL);
}

}  // namespace target
