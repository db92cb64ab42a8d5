#include "view/http.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace dlkprof::view {
namespace {

constexpr std::string_view kEnd = "\r\n\r\n";
constexpr std::size_t kMostFields = 100;

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& byte : out) byte = byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte;
  return out;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// The line, taken off the front of `rest`.
std::string_view next_line(std::string_view& rest) {
  const std::size_t end = rest.find("\r\n");
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 2);
  return line;
}

bool parse_request_line(std::string_view line, HttpRequest& request) {
  const std::size_t first = line.find(' ');
  const std::size_t second = first == std::string_view::npos ? first : line.find(' ', first + 1);
  if (second == std::string_view::npos || line.substr(second + 1) != "HTTP/1.1") return false;
  request.method = line.substr(0, first);
  request.target = line.substr(first + 1, second - first - 1);
  return request.target.starts_with('/');
}

// Each name once: two Host or Content-Length fields are a trick.
bool parse_fields(std::string_view rest, HttpRequest& request) {
  while (!rest.empty()) {
    const std::string_view line = next_line(rest);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0 || request.fields.size() == kMostFields) return false;
    if (line.substr(0, colon).find_first_of(" \t") != std::string_view::npos) return false;
    if (!request.fields.emplace(lower(line.substr(0, colon)), trimmed(line.substr(colon + 1))).second) return false;
  }
  return true;
}

std::optional<std::size_t> body_length(const HttpRequest& request) {
  const std::string words = request.field("content-length");
  if (words.empty()) return 0;
  std::size_t length = 0;
  const auto [end, failure] = std::from_chars(words.data(), words.data() + words.size(), length);
  return failure == std::errc() && end == words.data() + words.size() ? std::optional(length) : std::nullopt;
}

ParsedRequest refused(int status) { return {HttpProgress::refused, {}, status}; }

std::string_view reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 413:
      return "Content Too Large";
    case 431:
      return "Request Header Fields Too Large";
    default:
      return "Error";
  }
}

}  // namespace

std::string HttpRequest::field(std::string_view name) const {
  const auto found = fields.find(name);
  return found == fields.end() ? "" : found->second;
}

ParsedRequest parse_request(std::string_view bytes) {
  const std::size_t end = bytes.find(kEnd);
  if (end == std::string_view::npos) return bytes.size() > kMostHead ? refused(431) : ParsedRequest{};
  if (end > kMostHead) return refused(431);
  ParsedRequest parsed;
  std::string_view head = bytes.substr(0, end);
  if (!parse_request_line(next_line(head), parsed.request) || !parse_fields(head, parsed.request)) return refused(400);
  if (parsed.request.fields.contains("transfer-encoding")) return refused(400);
  const std::optional<std::size_t> length = body_length(parsed.request);
  if (!length) return refused(400);
  if (*length > kMostBody) return refused(413);
  const std::string_view body = bytes.substr(end + kEnd.size());
  if (body.size() < *length) return {};
  parsed.request.body = body.substr(0, *length);
  parsed.progress = HttpProgress::whole;
  return parsed;
}

std::string to_bytes(const HttpResponse& response) {
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\nCache-Control: no-store\r\n"
      "X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n"
      "Cross-Origin-Resource-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\n\r\n{}",
      response.status, reason_of(response.status), response.type, response.body.size(), response.body);
}

bool is_loopback_host(std::string_view host) {
  constexpr std::array<std::string_view, 3> kNames{"localhost", "127.0.0.1", "[::1]"};
  const std::string name = lower(host);
  return std::any_of(kNames.begin(), kNames.end(), [&name](std::string_view one) {
    if (!name.starts_with(one)) return false;
    const std::string_view rest = std::string_view(name).substr(one.size());
    const bool is_port = rest.size() > 1 && rest.size() <= 6 && rest.front() == ':' &&
                         std::all_of(rest.begin() + 1, rest.end(), [](char byte) { return byte >= '0' && byte <= '9'; });
    return rest.empty() || is_port;
  });
}

}  // namespace dlkprof::view
