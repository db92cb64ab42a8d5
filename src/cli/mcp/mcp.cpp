// dlkprof mcp: runs for other programs, over stdin and stdout, as the Model Context Protocol has it: a JSON-RPC 2.0 message a
// line.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/captures.h"
#include "cli/installation.h"
#include "cli/mcp/line_input.h"
#include "cli/mcp/tools.h"
#include "cli/verbs.h"
#include "dlkprof/version.h"

namespace dlkprof::cli {
namespace {

using Json = nlohmann::ordered_json;

// The revisions of the protocol that differ in nothing that is used here; the newest first.
constexpr std::array kRevisions{"2025-06-18", "2025-03-26", "2024-11-05"};

// Codes of JSON-RPC 2.0, section 5.1.
constexpr int kParseError = -32700, kInvalidRequest = -32600, kNoMethod = -32601, kInvalidParams = -32602, kInternal = -32603;

struct Refusal {
  int code;
  std::string message;
};

// Requests nest a few levels. What nests thousands would take the stack of whatever copies or prints it.
bool is_too_deep(const std::string& line) {
  constexpr int kMostLevels = 64;
  int levels = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (in_text) {
      if (c == '\\') ++i;
      in_text = c != '"';
    } else if (c == '"') {
      in_text = true;
    } else if (c == '{' || c == '[') {
      if (++levels > kMostLevels) return true;
    } else if (c == '}' || c == ']') {
      --levels;
    }
  }
  return false;
}

// What a notification cancels; none where the line is no such notification.
std::optional<Json> cancelled_id(const std::string& line) {
  if (line.find("notifications/cancelled") == std::string::npos || is_too_deep(line)) return std::nullopt;
  const Json message = Json::parse(line, nullptr, false);
  if (!message.is_object() || message.value("method", Json()) != "notifications/cancelled") return std::nullopt;
  const Json params = message.value("params", Json::object());
  return params.is_object() ? params.value("requestId", Json()) : Json();
}

class McpServer {
 public:
  explicit McpServer(std::vector<std::string> files) : runs_(std::move(files)), input_(STDIN_FILENO) {}

  void serve() {
    while (const auto line = input_.next()) answer(*line);
  }

 private:
  void answer(const std::string& line);
  Json result_of(const std::string& method, const Json& params);
  Json initialize(const Json& params) const;
  Json call(const Json& params);
  bool is_cancelled();

  static void send(const Json& message) { print_data(message.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"); }
  static void refuse(const Json& id, const Refusal& refusal) {
    send({{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", refusal.code}, {"message", refusal.message}}}});
  }

  ServedRuns runs_;
  LineInput input_;
  Json current_;  // id of the request that is being answered
};

void McpServer::answer(const std::string& line) {
  if (line.find_first_not_of(" \t\r") == std::string::npos) return;
  if (line == LineInput::kTooLong) return refuse(nullptr, {kInvalidRequest, "the line is longer than 16 MB"});
  if (is_too_deep(line)) return refuse(nullptr, {kInvalidRequest, "the request nests too deeply"});
  const Json message = Json::parse(line, nullptr, false);
  if (message.is_discarded()) return refuse(nullptr, {kParseError, "that is no JSON"});
  if (!message.is_object() || message.value("jsonrpc", Json()) != "2.0" || !message.value("method", Json()).is_string()) {
    // Answers are to nothing that was asked.
    if (message.is_object() && (message.contains("result") || message.contains("error"))) return;
    return refuse(nullptr, {kInvalidRequest, "that is no request of JSON-RPC 2.0"});
  }
  const auto id = message.find("id");
  if (id == message.end()) return;  // a notification: nothing is being done that it could be about
  if (!id->is_string() && !id->is_number()) return refuse(nullptr, {kInvalidRequest, "the id is neither text nor number"});
  current_ = *id;
  try {
    const Json result = result_of(message["method"].get<std::string>(), message.value("params", Json::object()));
    send({{"jsonrpc", "2.0"}, {"id", *id}, {"result", result}});
  } catch (const Refusal& refusal) {
    refuse(*id, refusal);
  } catch (const store::QueryStopped&) {
    // Who cancels wants no answer.
  } catch (const Error&) {
    throw;  // stdout is gone
  } catch (const std::exception& error) {
    refuse(*id, {kInternal, error.what()});
  }
}

Json McpServer::result_of(const std::string& method, const Json& params) {
  if (!params.is_object()) throw Refusal{kInvalidParams, "params is no object"};
  if (method == "initialize") return initialize(params);
  if (method == "ping") return Json::object();
  if (method == "tools/list") return {{"tools", Json::parse(tools_json())}};
  if (method == "tools/call") return call(params);
  throw Refusal{kNoMethod, fmt::format("there is no method {}", printable(method, 80))};
}

Json McpServer::initialize(const Json& params) const {
  const Json asked = params.value("protocolVersion", Json());
  const bool known = std::any_of(kRevisions.begin(), kRevisions.end(), [&asked](const char* one) { return asked == one; });
  const std::vector<std::string> names = runs_.names();
  return {{"protocolVersion", known ? asked : Json(kRevisions.front())},
          {"capabilities", {{"tools", Json::object()}}},
          {"serverInfo", {{"name", "dlkprof"}, {"version", DLKPROF_VERSION}}},
          {"instructions", names.empty() ? "Name the path of a capture or database of dlkprof as \"run\"."
                                         : fmt::format("Runs: {}", fmt::join(names, ", "))}};
}

Json McpServer::call(const Json& params) {
  const Json name = params.value("name", Json());
  if (!name.is_string()) throw Refusal{kInvalidParams, "the tool has no name"};
  const Json arguments = params.value("arguments", Json::object());
  ToolAnswer answer;
  try {
    answer = call_tool(name.get<std::string>(), arguments.dump(-1, ' ', false, Json::error_handler_t::replace), runs_,
                       [this] { return is_cancelled(); });
  } catch (const std::out_of_range&) {
    throw Refusal{kInvalidParams, fmt::format("there is no tool {}", printable(name.get<std::string>(), 80))};
  }
  Json result{{"content", Json::array({{{"type", "text"}, {"text", answer.text}}})}, {"isError", answer.is_error}};
  if (!answer.structured.empty()) result["structuredContent"] = Json::parse(answer.structured);
  return result;
}

// Whether a notification that has come in meanwhile cancels the request that is being answered. Those that it cancels of requests
// that wait are taken out with them; other lines stay where they are.
bool McpServer::is_cancelled() {
  input_.look();
  bool cancelled = false;
  std::vector<Json> others;
  std::erase_if(input_.pending(), [&](const std::string& line) {
    const std::optional<Json> id = cancelled_id(line);
    if (id && *id == current_) cancelled = true;
    if (id && *id != current_) others.push_back(*id);
    return id.has_value();
  });
  if (others.empty()) return cancelled;
  std::erase_if(input_.pending(), [&others](const std::string& line) {
    const Json message = is_too_deep(line) ? Json() : Json::parse(line, nullptr, false);
    return message.is_object() && std::find(others.begin(), others.end(), message.value("id", Json())) != others.end();
  });
  return cancelled;
}

}  // namespace

int run_mcp(int argc, char** argv) {
  CLI::App app("Answers programs and agents about runs over stdin and stdout (Model Context Protocol). It only reads.",
               "dlkprof mcp");
  std::vector<std::string> files;
  app.option_defaults()->group("Serving");
  app.add_option("runs", files, "Captures (.dlkcap), databases (.sqlite) or folders with captures, and no others (default: any)")
      ->type_name("<run>");
  if (parse(app, argc, argv).done) return 0;
  for (const std::string& file : files) (void)run_files(file, "dlkprof");
  McpServer(std::move(files)).serve();
  return 0;
}

}  // namespace dlkprof::cli
