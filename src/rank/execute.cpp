// SPDX-License-Identifier: Apache-2.0
#include "rank/execute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "rank/error.hpp"
#include "rank/typed_memory.hpp"

namespace shoal::rank {

const char* name_of(collective kind) noexcept {
  using enum collective;
  switch (kind) {
    case barrier: return "MPI_Barrier";
    case broadcast: return "MPI_Bcast";
    case gather: return "MPI_Gather";
    case scatter: return "MPI_Scatter";
    case all_gather: return "MPI_Allgather";
    case all_to_all: return "MPI_Alltoall";
    case reduce: return "MPI_Reduce";
    case all_reduce: return "MPI_Allreduce";
    case reduce_scatter: return "MPI_Reduce_scatter";
    case scan: return "MPI_Scan";
    case exscan: return "MPI_Exscan";
  }
  return "a collective operation";
}

buffer block_list::block(int rank, const buffer& all) const {
  const MPI_Count n = count(rank, all);
  if (types != nullptr && n == 0) return {all.at, 0, &type_of(MPI_BYTE)};  // programs give MPI_DATATYPE_NULL there
  const datatype& type = types != nullptr ? type_of(types[rank]) : *all.type;
  const MPI_Aint at = types != nullptr    ? place(rank)
                      : places != nullptr ? place(rank) * type.extent()
                                          : rank * all.count * type.extent();
  return {static_cast<std::byte*>(all.at) + at, n, &type};
}

void move_block(const buffer& from, const buffer& to) {
  if (from.bytes() > to.bytes())
    throw mpi_error(MPI_ERR_TRUNCATE,
                    fmt::format("a rank gives {} bytes to a collective operation, and the other side takes "
                                "{}",
                                from.bytes(), to.bytes()));
  copy(from, to);
}

buffer send_block(const collective_call& c, int to) { return c.sent.block(to, c.send); }
buffer receive_block(const collective_call& c, int from) { return c.received.block(from, c.receive); }

namespace {

// ---- one to many and back

[[noreturn]] void refuse_broadcast(const collective_call& one, const buffer& its, const collective_call& other,
                                   const buffer& others) {
  throw mpi_error(MPI_ERR_COUNT, fmt::format("rank {} broadcasts {} bytes, and rank {} {}", one.rank, its.bytes(),
                                             other.rank, others.bytes()));
}

void broadcast(const collective_call& root, collective_calls to) {
  for (const collective_call* c : to) {
    if (c == &root || c->absent) continue;
    if (root.send.bytes() != c->receive.bytes()) [[unlikely]]
      refuse_broadcast(root, root.send, *c, c->receive);
    copy(root.send, c->receive);
  }
}

}  // namespace

void gather(collective_calls from, const collective_call& root) {
  if (root.absent) return;
  for (const collective_call* c : from)
    if (c != &root || !root.in_place) move_block(c->send, receive_block(root, c->rank));
}

void scatter(const collective_call& root, collective_calls to) {
  for (const collective_call* c : to)
    if (!c->absent && (c != &root || !root.in_place)) move_block(send_block(root, c->rank), c->receive);
}

// ---- all to all

namespace {

// What each rank contributes, packed one behind the other.
struct packed_blocks {
  std::vector<std::size_t> begins;
  std::unique_ptr<std::byte[]> bytes;
};

buffer contribution(const collective_call& c) { return c.in_place ? receive_block(c, c.rank) : c.send; }

packed_blocks pack_all(collective_calls from) {
  packed_blocks all;
  all.begins.push_back(0);
  for (const collective_call* c : from) all.begins.push_back(all.begins.back() + contribution(*c).bytes());
  all.bytes = std::make_unique_for_overwrite<std::byte[]>(all.begins.back());
  for (std::size_t i = 0; i < from.size(); ++i) {
    const buffer b = contribution(*from[i]);
    pack(b, 0, all.bytes.get() + all.begins[i], b.bytes());
  }
  return all;
}

// Whether the blocks of all ranks lie one behind the other, without gaps.
bool is_one_row(const collective_call& c) noexcept {
  return c.received.counts == nullptr && c.receive.type != nullptr && c.receive.type->is_solid();
}

agreed_values values_in(const rank_blocks& all) {
  auto values = std::make_shared<agreed_list>(all.begins.back() / sizeof(std::int64_t));
  std::memcpy(values->data(), all.bytes, values->size() * sizeof(std::int64_t));
  return values;
}

void all_gather(collective_calls from, collective_calls to) {
  const packed_blocks all = pack_all(from);
  give_all({all.begins, all.bytes.get()}, to);
}

}  // namespace

void give_all(const rank_blocks& all, collective_calls to) {
  agreed_values agreed;
  const std::size_t bytes = all.begins.back();
  const std::size_t ranks = all.begins.size() - 1;
  for (const collective_call* c : to) {
    if (c->absent) continue;
    if (c->agreed != nullptr) {
      if (agreed == nullptr) agreed = values_in(all);
      *c->agreed = agreed;
      continue;
    }
    if (is_one_row(*c) && c->receive.bytes() * ranks == bytes) {
      std::memcpy(c->receive.at, all.bytes, bytes);
      continue;
    }
    for (std::size_t i = 0; i < ranks; ++i) {
      const auto count = static_cast<MPI_Count>(all.begins[i + 1] - all.begins[i]);
      move_block({const_cast<std::byte*>(all.bytes) + all.begins[i], count, nullptr},
                 receive_block(*c, static_cast<int>(i)));
    }
  }
}

void all_to_all_in_place(collective_calls calls) {
  for (std::size_t a = 0; a < calls.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      const buffer one = receive_block(*calls[a], calls[b]->rank);
      const buffer other = receive_block(*calls[b], calls[a]->rank);
      const std::uint64_t bytes = one.bytes();
      const auto kept = std::make_unique_for_overwrite<std::byte[]>(bytes);
      pack(one, 0, kept.get(), bytes);
      move_block(other, one);
      move_block({kept.get(), static_cast<MPI_Count>(bytes), nullptr}, other);
    }
}

void all_to_all(collective_calls from, collective_calls to) {
  for (const collective_call* d : to) {
    if (d->absent) continue;
    for (const collective_call* s : from) move_block(send_block(*s, d->rank), receive_block(*d, s->rank));
  }
}

// ---- reductions

namespace {

const buffer& summand(const collective_call& c) noexcept { return c.in_place ? c.receive : c.send; }

void check_reduction(collective_calls calls, const buffer& like) {
  for (const collective_call* c : calls)
    if (summand(*c).bytes() != like.bytes())
      throw mpi_error(MPI_ERR_COUNT, fmt::format("rank {} reduces {} bytes, and rank {} {}", c->rank,
                                                 summand(*c).bytes(), calls[0]->rank, like.bytes()));
}

void give(const buffer& result, const collective_call& c) {
  if (!c.absent) copy(result, c.receive);
}

// Elements of `all` from `first` on.
buffer elements(const buffer& all, MPI_Count first, MPI_Count count) noexcept {
  return {static_cast<std::byte*>(all.at) + first * all.type->extent(), count, all.type};
}

void scatter_result(const buffer& result, collective_calls to) {
  MPI_Count first = 0;
  for (const collective_call* c : to) {
    const MPI_Count n = c->results;
    if (n > result.count - first) throw mpi_error(MPI_ERR_COUNT, "the ranks' counts of results differ");
    if (!c->absent) move_block(elements(result, first, n), {c->receive.at, n, c->receive.type});
    first += n;
  }
}

}  // namespace

MPI_Count results_of(const collective_call& c, int rank) noexcept {
  return c.sent.counts == nullptr ? c.results : c.sent.count(rank, {});
}

void scan(collective_calls calls, const reducer& by, const buffer* of_lower) {
  const buffer& like = summand(*calls[0]);
  check_reduction(calls, like);
  const bool exclusive = calls[0]->kind == collective::exscan;
  typed_memory before(like.count, *by.type);
  if (of_lower != nullptr) copy(*of_lower, before.elements());
  bool is_first = of_lower == nullptr;
  for (const collective_call* c : calls) {
    typed_memory next(like.count, *by.type);
    copy(summand(*c), next.elements());
    const bool is_lowest = std::exchange(is_first, false);
    if (!is_lowest) by.op.combine(before.elements().at, next.elements().at, like.count, *by.type);
    if (!c->absent && !(is_lowest && exclusive)) copy(exclusive ? before.elements() : next.elements(), c->receive);
    before.swap(next);
  }
}

namespace {

void check_agreement(collective_calls calls, const collective_call& first) {
  const collective_call* reducing = nullptr;  // others of the root's group have no operation
  for (const collective_call* c : calls) {
    if (c->kind != first.kind)
      throw mpi_error(MPI_ERR_OTHER,
                      fmt::format("the members call different collective operations: rank {} {}, rank {} {}",
                                  first.rank, name_of(first.kind), c->rank, name_of(c->kind)));
    if (c->op.handle() == MPI_OP_NULL) continue;
    if (reducing == nullptr) reducing = c;
    const MPI_Op op = reducing->op.handle();
    if (c->op.handle() != op && is_predefined(c->op.handle()) && is_predefined(op))
      throw mpi_error(MPI_ERR_OP,
                      fmt::format("ranks {} and {} reduce with different operations", reducing->rank, c->rank));
  }
}

void check_roots(collective_calls calls) {
  for (const collective_call* c : calls)
    if (c->root != calls[0]->root)
      throw mpi_error(MPI_ERR_ROOT, fmt::format("rank {} names {} as the root of {}, and rank {} {}", calls[0]->rank,
                                                calls[0]->root, name_of(c->kind), c->rank, c->root));
}

const collective_call* find_root(collective_calls calls) noexcept {
  for (const collective_call* c : calls)
    if (c->root == MPI_ROOT) return c;
  return nullptr;
}

}  // namespace

reducer reducer_of(collective_calls calls, const collective_call* runs) {
  if (runs == nullptr || runs->op.handle() == MPI_OP_NULL) {
    const auto any = std::ranges::find_if(calls, [](const auto* c) { return c->op.handle() != MPI_OP_NULL; });
    if (any == calls.end()) return {};
    runs = *any;
  }
  const datatype* const type = summand(*runs).type;
  return {runs->op, type != nullptr ? type : runs->receive.type};
}

typed_memory combined(collective_calls calls, const reducer& by) {
  const buffer& last = summand(*calls.back());
  check_reduction(calls, summand(*calls[0]));
  typed_memory sum(last.count, *by.type);
  copy(last, sum.elements());
  for (std::size_t i = calls.size() - 1; i-- > 0;)
    by.op.combine(summand(*calls[i]).at, sum.elements().at, last.count, *by.type);
  return sum;
}

void check_calls(collective_calls calls, bool is_inter) {
  check_agreement(calls, *calls[0]);
  if (is_inter) return;
  check_roots(calls);
  if (calls[0]->kind == collective::broadcast)
    for (const collective_call* c : calls)
      if (c->receive.bytes() != calls[0]->receive.bytes())
        refuse_broadcast(*c, c->receive, *calls[0], calls[0]->receive);
}

buffer contribution_of(const collective_call& c) {
  using enum collective;
  if (c.kind == broadcast) return c.send;
  if (c.kind == gather || c.kind == all_gather) return c.in_place ? receive_block(c, c.rank) : c.send;
  return summand(c);
}

void execute(collective_calls calls, const reducer& by) {
  const collective_call& first = *calls[0];
  check_agreement(calls, first);
  using enum collective;
  switch (first.kind) {
    case barrier: return;
    case all_gather: return rank::all_gather(calls, calls);
    case all_to_all: return first.in_place ? all_to_all_in_place(calls) : rank::all_to_all(calls, calls);
    case all_reduce: {
      const typed_memory sum = combined(calls, by);
      for (const collective_call* c : calls) give(sum.elements(), *c);
      return;
    }
    case reduce_scatter: {
      const typed_memory sum = combined(calls, by);
      return scatter_result(sum.elements(), calls);
    }
    case scan:
    case exscan: return rank::scan(calls, by, nullptr);
    default: break;
  }
  check_roots(calls);
  const collective_call& root = *calls[static_cast<std::size_t>(first.root)];
  switch (first.kind) {
    case broadcast: return rank::broadcast(root, calls);
    case gather: return rank::gather(calls, root);
    case scatter: return rank::scatter(root, calls);
    default:
      if (!root.absent) copy(combined(calls, by).elements(), root.receive);
      return;
  }
}

void execute_between(collective_calls lower, collective_calls upper, const reducer& by) {
  const collective_call& first = *lower[0];
  check_agreement(lower, first);
  check_agreement(upper, first);
  using enum collective;
  switch (first.kind) {
    case barrier: return;
    case all_gather: rank::all_gather(lower, upper); return rank::all_gather(upper, lower);
    case all_to_all: rank::all_to_all(lower, upper); return rank::all_to_all(upper, lower);
    case all_reduce: {
      const typed_memory of_lower = combined(lower, by);
      const typed_memory of_upper = combined(upper, by);
      for (const collective_call* c : lower) give(of_upper.elements(), *c);
      for (const collective_call* c : upper) give(of_lower.elements(), *c);
      return;
    }
    case reduce_scatter: {
      const typed_memory of_lower = combined(lower, by);
      const typed_memory of_upper = combined(upper, by);
      scatter_result(of_upper.elements(), lower);
      return scatter_result(of_lower.elements(), upper);
    }
    default: break;
  }
  const collective_call* root = find_root(lower);
  const collective_calls others = root != nullptr ? upper : lower;
  if (root == nullptr) root = find_root(upper);
  if (root == nullptr) throw mpi_error(MPI_ERR_ROOT, "no rank gives MPI_ROOT as the root");
  switch (first.kind) {
    case broadcast: return rank::broadcast(*root, others);
    case gather: return rank::gather(others, *root);
    case scatter: return rank::scatter(*root, others);
    default:
      if (!root->absent) copy(combined(others, by).elements(), root->receive);
      return;
  }
}

}  // namespace shoal::rank
