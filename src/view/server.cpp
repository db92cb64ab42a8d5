#include "view/server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <system_error>

#include "base/error.h"
#include "report/format/json.h"

namespace dlkprof::view {
namespace {

constexpr std::size_t kMostClients = 32;
constexpr std::int64_t kPatienceNs = 15'000'000'000;  // for a request to come whole, and its answer to be taken
constexpr int kTickMilliseconds = 500;

std::int64_t monotonic_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

HttpResponse refusal(int status, const std::string& words) {
  std::string body = "{\"error\":";
  report::add_json_text(body, words);
  return {status, "application/json", body + "}"};
}

// Takes as long wherever the first difference is.
bool is_same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return difference == 0;
}

// Browsers say where a request comes from; other pages have no business here, whatever they know.
bool is_from_elsewhere(const HttpRequest& request) {
  constexpr std::string_view kScheme = "http://";
  const std::string site = request.field("sec-fetch-site");
  if (!site.empty() && site != "same-origin" && site != "none") return true;
  const std::string origin = request.field("origin");
  return !origin.empty() && (!origin.starts_with(kScheme) || !is_loopback_host(std::string_view(origin).substr(kScheme.size())));
}

bool has_gone(int socket) {
  char byte = 0;
  const ssize_t got = recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

UniqueFd listen_on(std::uint16_t port) {
  UniqueFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int yes = 1;
  if (listener) setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool is_open = listener && ::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
                       listen(listener.get(), static_cast<int>(kMostClients)) == 0;
  if (is_open) return listener;
  throw Error(fmt::format("cannot serve on port {} of 127.0.0.1", port), std::generic_category().message(errno),
              errno == EADDRINUSE ? "Choose another port, or none: --serve takes one that is free." : "");
}

std::uint16_t port_of(int listener) {
  sockaddr_in address{};
  socklen_t length = sizeof address;
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length);
  return ntohs(address.sin_port);
}

}  // namespace

std::string random_token() {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw Error("cannot draw a token", std::generic_category().message(errno), "");
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

HttpResponse PageService::respond(const HttpRequest& request, const std::function<bool()>& is_gone) {
  if (!is_loopback_host(request.field("host"))) return refusal(403, "this page is for 127.0.0.1 and localhost alone");
  if (is_from_elsewhere(request)) return refusal(403, "other pages may not ask here");
  const std::string_view target = request.target;
  const std::size_t slash = target.find('/', 1);
  if (slash == std::string_view::npos || !is_same(target.substr(1, slash - 1), token_))
    return refusal(403, "the address lacks its token: take it whole from where dlkprof printed it");
  const std::string_view what = target.substr(slash);
  if (what == "/" && request.method == "GET") return {200, "text/html; charset=utf-8", page_};
  if (what == "/sql" && request.method == "POST") return answer(request, is_gone);
  return what == "/" || what == "/sql" ? refusal(405, "GET the page, POST questions")
                                       : refusal(404, "there is no such thing here");
}

HttpResponse PageService::answer(const HttpRequest& request, const std::function<bool()>& is_gone) {
  // A form of another page cannot send this type without asking first.
  if (request.field("content-type") != "application/json") return refusal(400, "questions are JSON");
  try {
    return {200, "application/json", questions_.answer(request.body, bounds_, is_gone)};
  } catch (const Error& error) {
    // Of SQLite's errors its words alone: neither the path of the file nor the function that failed.
    const std::string& words = error.detail();
    const std::size_t colon = words.find(": ");
    return refusal(400, words.empty() ? error.what() : colon == std::string::npos ? words : words.substr(colon + 2));
  }
}

Server::Server(std::uint16_t port, PageService service)
    : service_(std::move(service)), listener_(listen_on(port)), port_(port_of(listener_.get())) {}

void Server::run(const std::function<bool()>& stops) {
  while (!stops()) {
    std::vector<pollfd> polled{{listener_.get(), POLLIN, 0}};
    for (const Client& client : clients_)
      polled.push_back({client.socket.get(), static_cast<short>(client.out.empty() ? POLLIN : POLLOUT), 0});
    if (poll(polled.data(), polled.size(), kTickMilliseconds) < 0 && errno != EINTR)
      throw Error("cannot wait for requests", std::generic_category().message(errno), "");
    std::vector<Client> kept;
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      if (serve(clients_[i], polled[i + 1].revents)) kept.push_back(std::move(clients_[i]));
    }
    clients_ = std::move(kept);
    if ((polled.front().revents & POLLIN) != 0) accept_client();
  }
}

void Server::accept_client() {
  UniqueFd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket || clients_.size() == kMostClients) return;
  clients_.push_back({std::move(socket), monotonic_ns(), {}, {}, 0});
}

bool Server::serve(Client& client, short events) {
  if (events == 0) return monotonic_ns() - client.since_ns < kPatienceNs;
  return client.out.empty() ? receive_some(client) : send_some(client);
}

bool Server::receive_some(Client& client) {
  std::array<char, 16384> piece{};
  const ssize_t got = recv(client.socket.get(), piece.data(), piece.size(), 0);
  if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EINTR);
  client.in.append(piece.data(), static_cast<std::size_t>(got));
  const ParsedRequest parsed = parse_request(client.in);
  if (parsed.progress == HttpProgress::more) return true;
  const int socket = client.socket.get();
  client.out = to_bytes(parsed.progress == HttpProgress::refused
                            ? refusal(parsed.status, "this is no request of the page")
                            : service_.respond(parsed.request, [socket] { return has_gone(socket); }));
  client.since_ns = monotonic_ns();
  return send_some(client);
}

bool Server::send_some(Client& client) {
  while (client.sent < client.out.size()) {
    const ssize_t sent =
        send(client.socket.get(), client.out.data() + client.sent, client.out.size() - client.sent, MSG_NOSIGNAL);
    if (sent < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    client.sent += static_cast<std::size_t>(sent);
    client.since_ns = monotonic_ns();
  }
  shutdown(client.socket.get(), SHUT_WR);
  return false;
}

}  // namespace dlkprof::view
