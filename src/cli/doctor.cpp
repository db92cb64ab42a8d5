// dlkprof doctor: what works on this machine, and what to do about what does not.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/installation.h"
#include "cli/machine.h"
#include "cli/verbs.h"
#include "cupti/host.h"
#include "cupti/machine.h"

namespace dlkprof::cli {
namespace {

struct Doctor {
  std::string cupti_path;
  std::string output_path = ".";
  bool has_devices = false;  // found by the driver check, asked for by those after it

  std::string driver() {
    const cupti::FoundDriver driver = cupti::find_driver();
    has_devices = !driver.devices.empty();
    std::string words = fmt::format("CUDA {}.{}", driver.version / 1000, driver.version % 1000 / 10);
    for (std::size_t i = 0; i < driver.devices.size(); ++i) words += fmt::format(", {}: {}", i, printable(driver.devices[i], 60));
    if (!has_devices)
      throw Error("the driver sees no GPU", words, "Is CUDA_VISIBLE_DEVICES empty, or no GPU given to this container?");
    return words;
  }

  [[nodiscard]] std::string cupti() const { return cupti::words_of(cupti::open_library(cupti_path)); }

  [[nodiscard]] std::string counters() const {
    const cupti::Library& library = cupti::open_library(cupti_path);
    if (!has_devices) return fmt::format("{} chips known; which one this machine has is not", cupti::Host::chips(library).size());
    const std::string chip = cupti::chip_of_device(0, cupti_path);
    const cupti::Host host = cupti::Host::create(library, chip);
    return fmt::format("{}: {} counters", chip, host.base_metrics(cupti::MetricType::counter).size());
  }

  [[nodiscard]] static std::string permission() {
    if (geteuid() == 0 && has_sys_admin(read_file("/proc/self/status"))) return "administrator";
    if (!std::filesystem::exists("/proc/driver/nvidia/params"))
      throw Error("the driver does not say who may read counters", "", "");
    const auto admins_only = counters_for_admins_only(read_file("/proc/driver/nvidia/params"));
    if (admins_only == false) return "the driver lets everybody read counters";
    if (has_sys_admin(read_file("/proc/self/status"))) return "CAP_SYS_ADMIN";
    throw Error("only administrators may read counters here", "RmProfilingAdminOnly: 1",
                "Run as root, start the container with --cap-add SYS_ADMIN, or have an administrator load the driver with "
                "NVreg_RestrictProfilingToAdminUsers=0 (developer.nvidia.com/ERR_NVGPUCTRPERM).");
  }

  [[nodiscard]] static std::string injected_library() {
    const std::filesystem::path path = install_root() / "lib" / "libdlkprof_inject.so";
    if (!std::filesystem::exists(path)) {
      throw Error("the library to inject is missing", printable(path.string()),
                  "Keep bin/, lib/ and share/ together as installed.");
    }
    return printable(path.string());
  }

  [[nodiscard]] static std::string sections() {
    const cupti::Catalogue catalogue = load_catalogue();
    return fmt::format("{} sections, {} sets", catalogue.sections().size(), catalogue.sets().size());
  }

  [[nodiscard]] std::string output() const {
    if (access(output_path.c_str(), W_OK | X_OK) != 0) {
      throw Error("nothing can be written there", printable(output_path), "Name another folder with --output_path.");
    }
    std::error_code failure;
    const auto path = std::filesystem::absolute(output_path, failure);
    if (failure) throw Error("the working directory is gone", failure.message(), "Change to another, or give --output_path.");
    return printable(path.lexically_normal().string());
  }
};

// One line, and a second with the remedy. Whether it is in order.
bool check(const char* name, const std::function<std::string()>& words) {
  try {
    print_data(fmt::format("ok    {:<18}{}\n", name, words()));
    return true;
  } catch (const Error& error) {
    const std::string detail = error.detail().empty() ? "" : ": " + printable(error.detail());
    print_data(fmt::format("FAIL  {:<18}{}{}\n", name, error.what(), detail));
    if (!error.remedy().empty()) print_data(fmt::format("{:24}{}\n", "", error.remedy()));
    return false;
  }
}

}  // namespace

int run_doctor(int argc, char** argv) {
  CLI::App app("Says what works on this machine, and what to do about what does not.", "dlkprof doctor");
  Doctor doctor;
  app.add_option("--cupti-path", doctor.cupti_path, "The libcupti to look at, or its folder")->type_name("<path>");
  app.add_option("--output_path", doctor.output_path, "Where captures and reports are to go")->type_name("<folder>");
  if (parse(app, argc, argv).done) return 0;

  bool fine = check("dlkprof", [] { return version_text().substr(std::string_view("dlkprof ").size()); });
  fine &= check("sections and sets", [] { return Doctor::sections(); });
  if (cupti::has_profiler()) fine &= check("injected library", [] { return Doctor::injected_library(); });
  fine &= check("output folder", [&] { return doctor.output(); });
  if (cupti::has_profiler()) {
    fine &= check("CUDA driver", [&] { return doctor.driver(); });
    fine &= check("CUPTI", [&] { return doctor.cupti(); });
    fine &= check("counters", [&] { return doctor.counters(); });
    fine &= check("permission", [] { return Doctor::permission(); });
  } else {
    fine = check("profiler", [] { return cupti::require_profiler(), ""; });
  }
  print_data(fine ? "Profiling can work here.\n" : "Profiling cannot work here yet; captures can be read all the same.\n");
  return fine ? 0 : 1;
}

}  // namespace dlkprof::cli
