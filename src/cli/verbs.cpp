#include "cli/verbs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "base/text.h"

namespace dlkprof::cli {
namespace {

constexpr std::array kProfileExamples{
    Example{"Profile a PyTorch program, with its ops and iterations", "dlkprof --mode pytorch python train.py"},
    Example{"Measure every kernel with gemm in its name, and record no ops", "dlkprof --kernel-id ::regex:gemm: python train.py"},
    Example{"Write reports as DLProf does", "dlkprof --mode pytorch --reports detail,kernel,summary -f true python train.py"},
    Example{"See what a set of metrics would cost on an H200", "dlkprof --dry-run --chip H200 --set full"},
};
constexpr std::array kReportExamples{
    Example{"The screen that a profile ends with", "dlkprof report dlkprof.dlkcap"},
    Example{"What the rules found, and what to do about it", "dlkprof report dlkprof_dldb.sqlite --reports expert_systems"},
    Example{"One report as data", "dlkprof report dlkprof.dlkcap --reports kernel --format csv > kernels.csv"},
};
constexpr std::array kCompareExamples{
    Example{"What changes from batch size 4 to 512", "dlkprof compare batch4.dlkcap batch512.dlkcap"},
    Example{"The same as a page", "dlkprof view batch4.dlkcap batch512.dlkcap"},
};
constexpr std::array kViewExamples{
    Example{"See a run as a page, in the browser", "dlkprof view dlkprof_dldb.sqlite"},
    Example{"Two runs beside each other, as one file to send", "dlkprof view batch4.dlkcap batch512.dlkcap --no-open"},
};
constexpr std::array kSweepExamples{
    Example{"Three batch sizes", "dlkprof sweep -L batch_size 4,64,512 -- python train.py --batch_size {batch_size}"},
    Example{"All combinations of two parameters",
            "dlkprof sweep -L bs 4,512 -L amp off,on --mode pytorch -- python train.py --batch_size {bs} --amp {amp}"},
};
constexpr std::array kExportExamples{
    Example{"A trace for ui.perfetto.dev", "dlkprof export dlkprof_dldb.sqlite --format perfetto"},
    Example{"Two ranks in one trace", "dlkprof export rank0.dlkcap rank1.dlkcap --format perfetto -o job.perfetto-trace.gz"},
    Example{"A flame graph of GPU time", "dlkprof export dlkprof.dlkcap --format folded -o - | flamegraph.pl > gpu.svg"},
};
constexpr std::array kMergeExamples{
    Example{"The captures of all ranks, in one folder", "dlkprof merge captures/ -o job_dldb.sqlite"},
    Example{"The rank that the others wait for, and why", "dlkprof report job_dldb.sqlite --reports stragglers"},
};
constexpr std::array kMcpExamples{
    Example{"Two runs, for an agent that starts it", "dlkprof mcp before_dldb.sqlite after_dldb.sqlite"},
};
constexpr std::array kMetricsExamples{
    Example{"The sections that --section takes", "dlkprof metrics --list-sections"},
    Example{"Metrics of an H100 or H200 by name", "dlkprof metrics --chip GH100 --query '^dram__bytes' --submetrics"},
};
constexpr std::array kCompletionExamples{
    Example{"In bash, for this session", "source <(dlkprof completion bash)"},
    Example{"In zsh", "source <(dlkprof completion zsh)"},
};

constexpr std::array kVerbs{
    Verb{"", run_profile,
         "dlkprof [options] [--] <program> [arguments]\n"
         "dlkprof [options] --database=<file>\n"
         "dlkprof <verb> [options] ...",
         "Profile a program", kProfileExamples},
    Verb{"report", run_report, "dlkprof report [options] <file>", "Report from a capture or a database", kReportExamples},
    Verb{"compare", run_compare, "dlkprof compare [options] <base> <other>...", "Say what changes between runs",
         kCompareExamples},
    Verb{"view", run_view, "dlkprof view [options] <file>...", "See a run, or several, as a page in the browser", kViewExamples},
    Verb{"sweep", run_sweep, "dlkprof sweep -L <name> <values> [options] [--] <program> [arguments]",
         "Profile a program with each of several values, and compare", kSweepExamples},
    Verb{"export", run_export, "dlkprof export --format <format> [options] <run>...", "Write a run as a file of another tool",
         kExportExamples},
    Verb{"merge", run_merge, "dlkprof merge [options] <file>...", "Merge the ranks of a job into one database", kMergeExamples},
    Verb{"mcp", run_mcp, "dlkprof mcp [<run>...]", "Answer programs and agents about runs, over stdin and stdout", kMcpExamples},
    Verb{"demo", run_demo, "dlkprof demo [options]", "Show the recorded captures; no GPU is needed", {}},
    Verb{"metrics", run_metrics, "dlkprof metrics [options]", "List metrics, sections and sets", kMetricsExamples},
    Verb{"doctor", run_doctor, "dlkprof doctor [options]", "Check what works on this machine", {}},
    Verb{"help", run_help, "dlkprof help [verb]", "Show the help of a verb", {}},
    Verb{"completion", run_completion, "dlkprof completion bash|fish|zsh", "Print what completes command lines in a shell",
         kCompletionExamples},
};

// What other tools call what needs no verb here, or another.
struct OtherVerb {
  std::string_view word;
  const char* answer;
};
constexpr std::array kOtherVerbs{
    OtherVerb{"version", "Did you mean dlkprof --version?"},
    OtherVerb{"profile", "Profiling has no verb: dlkprof [options] python train.py"},
    OtherVerb{"launch", "Profiling has no verb: dlkprof [options] python train.py"},
    OtherVerb{"stats", "Did you mean dlkprof report?"},
    OtherVerb{"analyze", "Did you mean dlkprof report <file> --reports expert_systems?"},
};

}  // namespace

std::span<const Verb> verbs() { return kVerbs; }

const Verb* find_verb(std::string_view name) {
  const auto* found = std::find_if(kVerbs.begin(), kVerbs.end(), [name](const Verb& verb) { return verb.name == name; });
  return found == kVerbs.end() ? nullptr : found;
}

std::string meant_by(std::string_view word) {
  std::string lower(word);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const OtherVerb& other : kOtherVerbs) {
    if (lower == other.word) return other.answer;
  }
  std::vector<std::string> names;
  for (const Verb& verb : kVerbs) names.emplace_back(verb.name);
  const std::string near = closest(lower, names);
  if (!near.empty()) return fmt::format("Did you mean dlkprof {}?", near);
  return find_verb(word) == nullptr ? "" : fmt::format("A verb comes first: dlkprof {} [options]", word);
}

std::string command_name(const Verb& verb) { return verb.name.empty() ? "dlkprof" : "dlkprof " + std::string(verb.name); }

}  // namespace dlkprof::cli
