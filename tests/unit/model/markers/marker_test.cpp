#include "model/markers/marker.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "support/golden.h"

namespace dlkprof::model::marker_test {
namespace {

const char* name_of(Framework framework) {
  switch (framework) {
    case Framework::none:
      return "none";
    case Framework::pytorch:
      return "pytorch";
    case Framework::dlkprof:
      return "dlkprof";
    case Framework::pyprof:
      return "pyprof";
    case Framework::xla:
      return "xla";
    case Framework::tensorflow:
      return "tensorflow";
    case Framework::tensorrt:
      return "tensorrt";
    case Framework::deepspeed:
      return "deepspeed";
    case Framework::megatron:
      return "megatron";
    case Framework::vllm:
      return "vllm";
  }
  return "?";
}

const char* name_of(MarkerKind kind) {
  switch (kind) {
    case MarkerKind::op:
      return "op";
    case MarkerKind::scope:
      return "scope";
    case MarkerKind::backward:
      return "backward";
    case MarkerKind::machinery:
      return "machinery";
  }
  return "?";
}

std::string line_of(const Marker& m) {
  std::string line = fmt::format("{} {} name={} type={}", name_of(m.framework), name_of(m.kind), m.name, m.type);
  if (m.sequence) line += fmt::format(" sequence={}", *m.sequence);
  if (m.op_id) line += fmt::format(" op_id={}", *m.op_id);
  if (!m.shapes.empty()) line += " shapes=" + m.shapes;
  if (!m.data_types.empty()) line += " data_types=" + m.data_types;
  if (const std::optional<int> rank = key_node_rank(m)) line += fmt::format(" key_node={}", *rank);
  return line + "\n";
}

// The messages of a file of tests/data/markers, as domain and message.
std::vector<std::pair<std::string, std::string>> messages_of(const std::string& file) {
  std::vector<std::pair<std::string, std::string>> messages;
  for (const std::string& line : split(read_file(std::string(DLKPROF_SOURCE_DIR) + "/tests/data/markers/" + file), '\n')) {
    if (!line.starts_with("push|")) continue;
    const std::size_t bar = line.find('|', 5);
    const std::string domain = line.substr(5, bar - 5);
    messages.emplace_back(domain == "-" ? "" : domain, line.substr(bar + 1));
  }
  return messages;
}

class RecordedMarkers : public testing::TestWithParam<const char*> {};

TEST_P(RecordedMarkers, AreReadAsTheTableSays) {
  const auto messages = messages_of(GetParam());
  EXPECT_GT(messages.size(), 30);
  std::string table;
  for (const auto& [domain, message] : messages) table += line_of(parse_marker(domain, message));
  test::expect_golden(std::string("markers_") + GetParam(), table);
}

std::string first_word(const testing::TestParamInfo<const char*>& file) {
  const std::string name = file.param;
  return name.substr(0, name.find_first_of("_."));
}

INSTANTIATE_TEST_SUITE_P(Files, RecordedMarkers,
                         testing::Values("pytorch_2.11_emit_nvtx.txt", "jax_0.11_xla.txt", "documented.txt"), first_word);

// What holds of every marker, whatever the message.
void expect_fit_to_show(std::string_view domain, std::string_view message) {
  const Marker marker = parse_marker(domain, message);
  for (const std::string& text : {marker.name, marker.type}) {
    EXPECT_FALSE(text.empty());
    EXPECT_LE(text.size(), kMaxMarkerName);
    EXPECT_EQ(printable(text), text);
  }
  for (const std::string& text : {marker.shapes, marker.data_types}) {
    EXPECT_LE(text.size(), kMaxMarkerShapes);
    EXPECT_EQ(printable(text), text);
  }
}

void expect_fit_to_show_everywhere(std::string_view message) {
  SCOPED_TRACE(printable(message, 60));
  for (const char* domain : {"", "dlkprof", "TSL", "tensorflow-core", "TensorRT", "DeepSpeed", "other"}) {
    SCOPED_TRACE(domain);
    expect_fit_to_show(domain, message);
  }
}

std::string repeated(std::string_view text, std::size_t bytes) {
  std::string out;
  while (out.size() < bytes) out += text;
  return out;
}

TEST(HostileMarkers, OfAMegabyteAreCut) {
  constexpr std::size_t kBytes = std::size_t{2} << 20U;
  for (const char* text : {"a", ", ", ", seq = ", " + ", "{", "[[", "{'a':", "\\'", "'", "(", "é", "\x1b[2J", "\xff", "/",
                           ",hlo_op=", ",name", ") [", "{'shape':", "'x',"}) {
    expect_fit_to_show_everywhere(repeated(text, kBytes));
    expect_fit_to_show_everywhere("{'op': 'x', 'mod': 'y', 'args': [" + repeated(text, kBytes));
    expect_fit_to_show_everywhere("Thunk:#name=" + repeated(text, kBytes));
    expect_fit_to_show_everywhere("aten::x, seq = 1, op_id = 2, sizes = " + repeated(text, kBytes));
  }
}

TEST(HostileMarkers, WithControlCharactersAreEscaped) {
  EXPECT_EQ(parse_marker("", "a\x1b[31m\nb").name, "a\\x1b[31m\\x0ab");
  EXPECT_EQ(parse_marker("", "\xe2\x80\xaetxt").name, "\\u{202E}txt");
  EXPECT_EQ(parse_marker("dlkprof", "module: \xff\xfe").name, "\\xff\\xfe");
  EXPECT_EQ(parse_marker("", "aten::x, seq = 1, sizes = [[4\n]]").shapes, "[[4\\x0a]]");
  EXPECT_EQ(parse_marker("", std::string_view("a\0b", 3)).name, "a\\x00b");
}

TEST(HostileMarkers, AreCutBetweenCharacters) {
  const Marker marker = parse_marker("", repeated("€", 2000));
  EXPECT_LE(marker.name.size(), kMaxMarkerName);
  EXPECT_GT(marker.name.size(), kMaxMarkerName - 8);
  EXPECT_TRUE(marker.name.ends_with("€..."));
}

TEST(HostileMarkers, KeepWhatCameBeforeTheCut) {
  const Marker marker =
      parse_marker("", "{'mod': 'torch', 'op': 'mm', 'args': [{'shape': (4, 8), 'dtype': 'float16'}, {'shape': (8");
  EXPECT_EQ(marker.name, "mm");
  EXPECT_EQ(marker.shapes, "[[4, 8], [8]]");
  EXPECT_EQ(marker.data_types, "[float16]");
}

TEST(HostileMarkers, ThatNestTooDeepEndThere) {
  const Marker marker =
      parse_marker("", "{'op': 'mm', 'mod': 'torch', 'args': " + repeated("[", 5000) + repeated("]", 5000) + "}");
  EXPECT_EQ(marker.framework, Framework::pyprof);
  EXPECT_EQ(marker.shapes, "");
}

int rank_of(std::string_view domain, std::string_view message) {
  return key_node_rank(parse_marker(domain, message)).value_or(99);
}

TEST(KeyNodes, OfOurOwnAreBest) {
  EXPECT_LT(rank_of("", "dlkprof:step"), rank_of("", "Optimizer.zero_grad#SGD.zero_grad"));
  EXPECT_LT(rank_of("", "Optimizer.zero_grad#SGD.zero_grad, op_id = 1"), rank_of("", "Optimizer.step#SGD.step"));
  EXPECT_LT(rank_of("", "Optimizer.step#SGD.step"), rank_of("TSL", "XlaModule:#hlo_module=jit_f,program_id=1#"));
  EXPECT_LT(rank_of("tensorflow-core", "VarHandleOp: global_step"), rank_of("tensorflow-core", "AddV2: global_step/add"));
}

TEST(KeyNodes, OfXlaAreStepsBeforeOtherModulesAndNoTrialsOfTheAutotuner) {
  const int step = rank_of("TSL", "XlaModule:#hlo_module=jit_step,program_id=1#");
  EXPECT_LT(step, rank_of("TSL", "XlaModule:#hlo_module=jit_multiply,program_id=2#"));
  EXPECT_LT(rank_of("TSL", "XlaModule:#hlo_module=jit_multiply,program_id=2#"),
            rank_of("TSL", "XlaModule:#hlo_module=jit__normal,program_id=2#"));
  EXPECT_EQ(rank_of("TSL", "XlaModule:#hlo_module=jit__fun,program_id=3#"),
            rank_of("TSL", "XlaModule:#hlo_module=jit_multiply,program_id=2#"))
      << "jax.pmap has made it of the program's";
  EXPECT_EQ(rank_of("TSL", "XlaModule:#hlo_module=gemm_fusion_dot.2#"), 99);
}

TEST(KeyNodes, AreFewOfThoseThatThereAre) {
  for (const char* message : {"aten::mm, seq = 5", "enumerate(DataLoader)#X", "Optimizer.step_count", "footsteps", ""}) {
    EXPECT_EQ(rank_of("", message), 99) << message;
  }
  EXPECT_EQ(rank_of("TSL", "Thunk:#name=jit(step),hlo_op=fusion#"), 99);
  EXPECT_EQ(rank_of("", "dlkprof:phase: forward"), 99);
  EXPECT_EQ(rank_of("", "dlkprof:function: step"), 99);
}

TEST(DlkprofMarker, ModulesMaySayWhereTheyAreCalled) {
  const Marker marker = parse_marker("", "dlkprof:module: layers.0 @ models/net.py:12 in forward");
  EXPECT_EQ(marker.name, "layers/0");
  EXPECT_EQ(marker.called_at, "models/net.py:12 in forward");
  EXPECT_EQ(parse_marker("", "dlkprof:module: layers.0").called_at, "");
  EXPECT_EQ(parse_marker("", "dlkprof:module: net @ \x1b[31m").called_at, "\\x1b[31m");
  EXPECT_LE(parse_marker("", "dlkprof:module: net @ " + std::string(1'000'000, 'x')).called_at.size(), kMaxMarkerName);
  EXPECT_EQ(parse_marker("", "dlkprof:function: a @ b").name, "a @ b");
}

}  // namespace
}  // namespace dlkprof::model::marker_test
