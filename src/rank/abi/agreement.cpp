// SPDX-License-Identifier: Apache-2.0
#include "rank/abi/agreement.hpp"

#include "rank/abi/arguments.hpp"
#include "rank/collectives.hpp"

namespace shoal::rank::abi {
namespace {

buffer bytes_of(std::span<const std::int64_t> values) noexcept {
  return {const_cast<std::int64_t*>(values.data()), static_cast<MPI_Count>(values.size()), &type_of(MPI_INT64_T)};
}

void finish(const caller& c, request& r, wait_note::kind what) {
  await(c, r, what);
  const int error = r.error;
  c.me.pool.give_back(r);
  check_end(error);
}

}  // namespace

agreed_values all_gather(const caller& c, communicator& in, std::span<const std::int64_t> mine) {
  agreed_values all;
  collective_call call = blocking_call(c.me, in, collective::all_gather);
  call.send = bytes_of(mine);
  call.agreed = &all;
  check_end(run_collective(c.me, in, call, c.note(wait_note::kind::collective, &in)));
  return all;
}

void broadcast(const caller& c, communicator& in, int root, std::span<std::int64_t> values) {
  collective_call call = blocking_call(c.me, in, collective::broadcast);
  call.root = root;
  call.send = call.receive = bytes_of(values);
  check_end(run_collective(c.me, in, call, c.note(wait_note::kind::collective, &in)));
}

void send(const caller& c, communicator& in, int to, int tag, std::span<const std::int64_t> values) {
  if (request* const r = begin_send(c.me, bytes_of(values), {&in, to, tag, true}, send_mode::standard); r != nullptr)
    finish(c, *r, wait_note::kind::send);
}

void receive(const caller& c, communicator& in, int from, int tag, std::span<std::int64_t> values) {
  finish(c, begin_receive(c.me, bytes_of(values), {&in, from, tag, true}), wait_note::kind::receive);
}

}  // namespace shoal::rank::abi
