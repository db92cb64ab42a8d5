// Serves the page on loopback, for whoever knows the address with its token: their own browser, or one at the other end of ssh
// -L.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/file.h"
#include "view/http.h"
#include "view/questions.h"

namespace dlkprof::view {

// 128 random bits, in hexadecimal digits.
[[nodiscard]] std::string random_token();

// What is answered to whom. One thread; questions are answered one after the other.
class PageService {
 public:
  PageService(std::string token, std::string page, Questions questions, AnswerBounds bounds = {})
      : token_(std::move(token)), page_(std::move(page)), questions_(std::move(questions)), bounds_(bounds) {}

  [[nodiscard]] HttpResponse respond(const HttpRequest& request, const std::function<bool()>& is_gone);

 private:
  [[nodiscard]] HttpResponse answer(const HttpRequest& request, const std::function<bool()>& is_gone);

  std::string token_, page_;
  Questions questions_;
  AnswerBounds bounds_;
};

class Server {
 public:
  // Listens on 127.0.0.1; port 0 is any that is free. Throws Error.
  Server(std::uint16_t port, PageService service);

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  // Until `stops`, which is asked at least once a second, says so; without it until a signal ends the process.
  void run(const std::function<bool()>& stops = [] { return false; });

 private:
  struct Client {
    UniqueFd socket;
    std::int64_t since_ns = 0;
    std::string in, out;
    std::size_t sent = 0;
  };
  void accept_client();
  // Whether it is to be kept.
  [[nodiscard]] bool serve(Client& client, short events);
  [[nodiscard]] static bool send_some(Client& client);
  [[nodiscard]] bool receive_some(Client& client);

  PageService service_;
  UniqueFd listener_;
  std::uint16_t port_ = 0;
  std::vector<Client> clients_;
};

}  // namespace dlkprof::view
