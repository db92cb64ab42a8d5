// As much of HTTP/1.1 (RFC 9112) as a page on loopback needs. Requests are hostile until parsed.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace dlkprof::view {

struct HttpRequest {
  std::string method, target;                              // target: as it was sent
  std::map<std::string, std::string, std::less<>> fields;  // by name in lower case
  std::string body;
  [[nodiscard]] std::string field(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::string type = "application/json";
  std::string body;
};

inline constexpr std::size_t kMostHead = 16U << 10U, kMostBody = 1U << 20U;

// What is known of a request by what of it has come.
enum class HttpProgress : std::uint8_t { more, whole, refused };
struct ParsedRequest {
  HttpProgress progress = HttpProgress::more;
  HttpRequest request;  // where it is whole
  int status = 0;       // where it is refused
};
[[nodiscard]] ParsedRequest parse_request(std::string_view bytes);

// With what keeps a page to itself: no sniffing, no frames, no referrer, no cache.
[[nodiscard]] std::string to_bytes(const HttpResponse& response);

// Whether a Host field names this machine: then the request comes from a page of ours or through a tunnel, and not from a name
// that somebody has pointed here (DNS rebinding).
[[nodiscard]] bool is_loopback_host(std::string_view host);

}  // namespace dlkprof::view
