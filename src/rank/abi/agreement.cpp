// SPDX-License-Identifier: Apache-2.0
#include "rank/abi/agreement.hpp"

#include "rank/abi/arguments.hpp"
#include "rank/collectives.hpp"

namespace shoal::rank::abi {
namespace {

buffer bytes_of(std::span<const std::int64_t> values) noexcept {
  return {const_cast<std::int64_t*>(values.data()), static_cast<MPI_Count>(values.size()), &type_of(MPI_INT64_T)};
}

void finish(const caller& c, request& r, const wait_note& note) {
  if (!r.complete) {
    waiter w;
    r.awaited = &w;
    w.await(note);
  }
  const int error = r.error;
  c.me.pool.give_back(r);
  check_end(error);
}

// No other messages have such contexts, and the whole tag is left for the program's.
route route_of(communicator& in, int peer, const making_tag& tag) noexcept {
  constexpr context_id k_making = context_id{1} << 61;
  constexpr unsigned k_first_bit = 56;
  const auto what = static_cast<context_id>(tag.what) << k_first_bit;
  return {&in, peer, tag.tag & k_tag_upper_bound, true, in.context() | k_making | what};
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

void send(const caller& c, communicator& in, int to, const making_tag& tag, std::span<const std::int64_t> values) {
  request* const r = begin_send(c.me, bytes_of(values), route_of(in, to, tag), send_mode::standard);
  if (r != nullptr) finish(c, *r, c.note(wait_note::kind::send, &in, to, tag.tag));
}

void receive(const caller& c, communicator& in, int from, const making_tag& tag, std::span<std::int64_t> values) {
  // Behind a context of its own the peer of a receive is a rank of the world.
  request& r = begin_receive(c.me, bytes_of(values), route_of(in, in.remote().world_of(from), tag));
  finish(c, r, c.note(wait_note::kind::receive, &in, from, tag.tag));
}

}  // namespace shoal::rank::abi
