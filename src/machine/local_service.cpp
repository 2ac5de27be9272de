// SPDX-License-Identifier: Apache-2.0
#include "machine/local_service.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/clock.hpp"
#include "shoal/error.hpp"

namespace shoal::machine {
namespace {

constexpr std::size_t k_most_question_bytes = 256;
constexpr std::size_t k_most_answer_bytes = std::size_t{8} << 20;

[[noreturn]] void refuse(const std::string& what, int cause) {
  throw error(errc::system, fmt::format("{}: {}; set XDG_RUNTIME_DIR to a folder of your own, with mode 0700", what,
                                        std::strerror(cause)));
}

// Nothing if the path is too long for a socket.
std::optional<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return std::nullopt;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

std::string folder_name() {
  constexpr std::size_t k_longest = 80;  // the name of a socket in it must fit into an address
  const char* const given = std::getenv("XDG_RUNTIME_DIR");
  struct stat status {};
  if (given != nullptr && *given == '/' && std::strlen(given) <= k_longest && ::stat(given, &status) == 0 &&
      S_ISDIR(status.st_mode) && status.st_uid == ::geteuid())
    return std::string(given) + "/shoal";
  std::error_code none;
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(none);
  return fmt::format("{}/shoal-{}", none ? "/tmp" : temporary.string(), ::geteuid());
}

class deadline {
public:
  explicit deadline(std::int64_t ns) noexcept : end_ns_(base::now_ns() + static_cast<std::uint64_t>(ns)) {}
  // False once the time is over.
  bool wait(int number, short events) const noexcept {
    for (;;) {
      const std::uint64_t now_ns = base::now_ns();
      if (now_ns >= end_ns_) return false;
      pollfd one{number, events, 0};
      const auto ms = static_cast<int>((end_ns_ - now_ns + 999'999) / 1'000'000);
      const int ready = ::poll(&one, 1, ms);
      if (ready > 0) return true;
      if (ready < 0 && errno != EINTR) return false;
    }
  }

private:
  std::uint64_t end_ns_;
};

bool send_all(int number, std::string_view text, const deadline& until) {
  while (!text.empty()) {
    const ssize_t sent = ::send(number, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0)
      text.remove_prefix(static_cast<std::size_t>(sent));
    else if ((errno != EAGAIN && errno != EINTR) || !until.wait(number, POLLOUT))
      return false;
  }
  return true;
}

// Until the other end has said all; nothing if that takes too long or is too much.
std::optional<std::string> receive_all(int number, std::size_t most, const deadline& until) {
  std::string text;
  for (;;) {
    char part[4096];
    const ssize_t got = ::recv(number, part, sizeof part, MSG_DONTWAIT);
    if (got == 0) return text;
    if (got > 0) {
      text.append(part, static_cast<std::size_t>(got));
      if (text.size() > most) return std::nullopt;
    } else if ((errno != EAGAIN && errno != EINTR) || !until.wait(number, POLLIN)) {
      return std::nullopt;
    }
  }
}

bool is_same_user(int number) {
  ucred other{};
  socklen_t bytes = sizeof other;
  return ::getsockopt(number, SOL_SOCKET, SO_PEERCRED, &other, &bytes) == 0 && other.uid == ::geteuid();
}

// `cause`: errno, if there is no connection.
descriptor connect_to(const std::string& path, int* cause = nullptr) {
  const auto address = address_of(path);
  descriptor d(above_standard(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)));
  if (!address || d.number() < 0) return {};
  if (::connect(d.number(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) == 0) return d;
  if (cause != nullptr) *cause = errno;
  return {};
}

}  // namespace

std::string runtime_folder() {
  std::string folder = folder_name();
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) refuse("the folder " + folder + " cannot be made", errno);
  struct stat status {};
  if (::lstat(folder.c_str(), &status) != 0) refuse("the folder " + folder + " cannot be used", errno);
  if (!S_ISDIR(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & 077) != 0)
    refuse("the folder " + folder + " is not this user's alone", EPERM);
  return folder;
}

local_service::local_service(const std::string& name)
    : path_(runtime_folder() + "/" + name),
      socket_(above_standard(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0))) {
  const auto address = address_of(path_);
  if (!address) refuse("the socket " + path_, ENAMETOOLONG);
  remove_stale(name);  // of a killed process with this process's number
  if (socket_.number() < 0 ||
      ::bind(socket_.number(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0)
    refuse("the socket " + path_, errno);
  if (::chmod(path_.c_str(), 0600) != 0 || ::listen(socket_.number(), 64) != 0) {
    const int cause = errno;
    ::unlink(path_.c_str());
    refuse("the socket " + path_, cause);
  }
}

local_service::~local_service() { ::unlink(path_.c_str()); }

void local_service::answer_one(const std::function<std::string(const std::string&)>& answer, std::int64_t timeout_ns) {
  const machine::descriptor d(
      above_standard(::accept4(socket_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)));
  if (d.number() < 0 || !is_same_user(d.number())) return;
  const deadline until(timeout_ns);
  const auto question = receive_all(d.number(), k_most_question_bytes, until);
  if (question) send_all(d.number(), answer(*question), deadline(timeout_ns));
}

namespace {

// The connection after the question; none if nobody is there.
descriptor ask_at(const std::string& name, const std::string& question, const deadline& until) {
  std::string folder;
  try {
    folder = runtime_folder();
  } catch (const error&) {
    return {};
  }
  descriptor d = connect_to(folder + "/" + name);
  if (d.number() < 0 || !send_all(d.number(), question, until) || ::shutdown(d.number(), SHUT_WR) != 0) return {};
  return d;
}

}  // namespace

std::optional<std::string> ask(const std::string& name, const std::string& question, std::int64_t timeout_ns) {
  const deadline until(timeout_ns);
  const descriptor d = ask_at(name, question, until);
  if (d.number() < 0) return std::nullopt;
  return receive_all(d.number(), k_most_answer_bytes, until);
}

bool tell(const std::string& name, const std::string& question, std::int64_t timeout_ns) {
  return ask_at(name, question, deadline(timeout_ns)).number() >= 0;
}

std::vector<std::string> services() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(runtime_folder()))
    if (entry.is_socket()) names.push_back(entry.path().filename().string());
  return names;
}

void remove_stale(const std::string& name) {
  const std::string path = runtime_folder() + "/" + name;
  int cause = 0;
  const descriptor d = connect_to(path, &cause);
  if (d.number() < 0 && cause == ECONNREFUSED) ::unlink(path.c_str());
}

}  // namespace shoal::machine
