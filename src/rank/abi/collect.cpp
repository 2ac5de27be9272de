// SPDX-License-Identifier: Apache-2.0
// The end of requests: what a wait or a test gives of one that has completed.
#include "base/counted.hpp"
#include "rank/abi/arguments.hpp"
#include "rank/profile.hpp"
#include "rank/program_call.hpp"

namespace shoal::rank::abi {
namespace {

// What the program says of a request of its own.
int ask_for_status(const request& r, MPI_Status* status) {
  MPI_Status own{};
  own.MPI_ERROR = MPI_SUCCESS;
  set_empty(&own);
  const int error = r.query == nullptr ? MPI_SUCCESS : call_program([&] { return r.query(r.state, &own); });
  if (status != MPI_STATUS_IGNORE) {
    const int kept = status->MPI_ERROR;
    *status = own;
    status->MPI_ERROR = kept;
  }
  return error;
}

}  // namespace

int show(const request& r, MPI_Status* status) {
  if (r.kind == request_kind::generalized) return ask_for_status(r, status);
  if (!r.active || (r.kind != request_kind::receive && r.kind != request_kind::composite)) {
    set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, r.active && r.cancelled);
    return MPI_SUCCESS;
  }
  set_status(status, r.source, r.tag, r.bytes, r.cancelled);
  return MPI_SUCCESS;
}

int collect(request& r, MPI_Status* status) {
  int error = show(r, status);
  if (r.kind == request_kind::generalized && r.free_state != nullptr) {
    const int freed = call_program([&] { return r.free_state(r.state); });
    if (error == MPI_SUCCESS) error = freed;
  }
  if (error == MPI_SUCCESS) error = r.error;
  if (r.persistent)
    r.active = false;
  else
    r.owner->pool.give_back(r);
  return error;
}

std::string failure_text(const request& r, int error) {
  if (error != MPI_ERR_TRUNCATE) return "the operation failed";
  if (r.kind != request_kind::receive && r.kind != request_kind::composite)
    return "the message is longer than the buffer of the receive";
  return fmt::format("the message of rank {} with tag {} has {}, and the buffer of the receive has room for {}",
                     r.source, r.tag, base::counted(r.sent_bytes, "byte"), r.bytes);
}

void note_failure(std::string& first, std::size_t i, const std::string& why) {
  if (first.empty()) first = fmt::format("request {} of the array: {}; MPI_ERROR of each status has its error", i, why);
}

void give_way(const caller& c) noexcept {
  if (the_profile != nullptr) [[unlikely]]
    return yield_profiled(c.me, c.function + 1);
  c.me.home.yield();
}

}  // namespace shoal::rank::abi
