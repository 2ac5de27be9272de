// SPDX-License-Identifier: Apache-2.0
// A request of MPI: an operation that a rank has begun, and that completes later. It belongs to the rank's worker: other
// workers and handlers of messages complete it by an errand.
// Who may call: tasks on that worker. Nothing here switches tasks, but what the header says.
// Source: MPI 5.0, 3.7 and 3.9.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "mpi-abi/mpi.h"
#include "rank/buffer.hpp"
#include "rank/communicator.hpp"
#include "rank/handle.hpp"
#include "rank/matching.hpp"
#include "rank/waiting.hpp"
#include "sched/worker.hpp"

namespace shoal::rank {

class rank_state;
struct collective_call;
struct message;

enum class send_mode : std::uint8_t { standard, buffered, synchronous, ready };
enum class request_kind : std::uint8_t { send, receive, collective, composite, generalized };

// What a receive of a message within the process uses lies in the first three cache lines: windows of receives are
// common, and so they stay in the first cache.
struct alignas(64) request final : handle_object {
  static constexpr object_kind k_kind = object_kind::request;
  static constexpr int k_error = MPI_ERR_REQUEST;
  static constexpr const char* k_name = "request";

  request() noexcept : handle_object(k_kind) { posted.of = this; }

  rank_state* owner = nullptr;
  request* next = nullptr;    // in the pool
  waiter* awaited = nullptr;  // by whom, while a wait lasts
  request* whole = nullptr;   // of which it is a part
  // What is to be done first when it has completed.
  void (*finish)(request&) noexcept = nullptr;
  unsigned parts = 0;  // of a composite: those that have not completed
  int error = MPI_SUCCESS;
  request_kind kind = request_kind::send;
  send_mode mode = send_mode::standard;
  bool complete = false;
  bool persistent = false;
  bool active = true;      // begun, and not collected by a wait or test
  bool abandoned = false;  // MPI_Request_free: it frees itself when complete
  bool cancelled = false;
  bool matched = false;  // a message is on its way into it
  // As in its status.
  int source = MPI_ANY_SOURCE;
  int tag = MPI_ANY_TAG;
  std::uint64_t bytes = 0;

  buffer data;
  int peer = MPI_PROC_NULL;   // destination or source, in the communicator
  int wanted_tag = 0;         // as the program has given it
  bool internal = false;      // of the library's own messages
  std::uint64_t context = 0;  // as in a route
  communicator_use where;     // keeps the communicator
  type_ref type;              // keeps data.type
  struct in_queue : posted_receive {
    request* of = nullptr;
  } posted;  // while it waits for a message

  std::uint64_t missing_bytes = 0;
  std::uint64_t sent_bytes = 0;  // of a message that did not fit; `bytes` is then the room that there was
  // Persistent ones: begins the operation anew.
  void (*begin)(request&) = nullptr;
  // Collectives: what was called.
  std::unique_ptr<collective_call, void (*)(collective_call*)> call{nullptr, nullptr};
  // For those who complete it from another worker.
  struct completion : sched::errand {
    request* of = nullptr;
  } by_errand;
  // Of a send to another process that keeps its bytes, and of a composite: memory that its parts use.
  std::unique_ptr<std::byte[]> packed;
  // Of a composite: the part whose status is its own, and the parts that start with it, if it is persistent.
  request* status_of = nullptr;
  std::vector<request*> starts;
  // Generalized ones.
  MPI_Grequest_query_function* query = nullptr;
  MPI_Grequest_free_function* free_state = nullptr;
  MPI_Grequest_cancel_function* cancel_state = nullptr;
  void* state = nullptr;
};

/// The requests of a worker that are not in use.
class request_pool {
public:
  request_pool() noexcept { done_.complete = true; }
  request_pool(const request_pool&) = delete;
  request_pool& operator=(const request_pool&) = delete;
  ~request_pool();

  request& take(rank_state& owner, request_kind kind) {
    request* r = free_;
    if (r != nullptr) [[likely]] {
      free_ = r->next;
      r->revive(object_kind::request);
    } else {
      r = new request;
    }
    r->owner = &owner;
    r->kind = kind;
    return *r;
  }
  /// What it holds is released.
  void give_back(request& r) noexcept;
  /// One for all sends that have completed before their call returns: the program gets its handle many times, and it is
  /// never given back.
  request& done_send(rank_state& owner) noexcept {
    done_.owner = &owner;
    return done_;
  }

private:
  static void release_rest(request& r) noexcept;

  request* free_ = nullptr;
  request done_;
};

/// It has completed: whoever waits for it goes on. On its owner's worker.
void complete(request& r) noexcept;
/// `part`, or nothing if it has completed already, is one of the parts that `whole` has counted.
void join(request& whole, request* part) noexcept;
inline void complete_with(request& r, int error) noexcept {
  if (error != MPI_SUCCESS) r.error = error;
  complete(r);
}

}  // namespace shoal::rank
