// SPDX-License-Identifier: Apache-2.0
// Questions to a process of the same user on this machine: one line there, a text back, over a socket in the user's
// runtime folder (XDG_RUNTIME_DIR/shoal, else shoal-UID in the folder for temporary files).
// Who may call: any thread, an object one thread at a time. ask() and answer_one() block, at most for the time given.
// Never switches tasks.
// Guarantees: the folder has mode 0700 and belongs to the user, or it is refused; the socket has mode 0600, is removed
// with its object, and answers no other user. A socket that a killed process has left behind is removed by remove_stale()
// and by the next object of that name. Shown by tests/unit/machine/local_service_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "machine/descriptor.hpp"

namespace shoal::machine {

/// Makes it if it is missing. Throws shoal::error if it cannot be made, or is not the user's own.
std::string runtime_folder();

class local_service {
public:
  /// Listens as `name` in runtime_folder(). Throws shoal::error.
  explicit local_service(const std::string& name);
  ~local_service();
  local_service(const local_service&) = delete;
  local_service& operator=(const local_service&) = delete;

  /// Readable when somebody asks.
  int descriptor() const noexcept { return socket_.number(); }
  /// Answers one question, if there is any.
  void answer_one(const std::function<std::string(const std::string&)>& answer, std::int64_t timeout_ns);

private:
  std::string path_;
  machine::descriptor socket_;
};

/// The whole answer of the service `name`; nothing if nobody is there, or not in time.
std::optional<std::string> ask(const std::string& name, const std::string& question, std::int64_t timeout_ns);

/// The same without waiting for the answer; false if nobody is there.
bool tell(const std::string& name, const std::string& question, std::int64_t timeout_ns);

/// The names of all sockets in runtime_folder().
std::vector<std::string> services();
/// Removes the socket `name` if no process listens there.
void remove_stale(const std::string& name);

}  // namespace shoal::machine
