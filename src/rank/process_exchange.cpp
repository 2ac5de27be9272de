// SPDX-License-Identifier: Apache-2.0
#include "rank/process_exchange.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <new>
#include <vector>

#include "base/log.hpp"
#include "rank/error.hpp"
#include "rank/leader_link.hpp"
#include "sched/pool.hpp"
#include "shoal/stack_bytes.hpp"

namespace shoal::rank {
namespace {

// ---- what calls of other processes give, as bytes

// In front of a call; then its blocks.
struct call_head {
  std::int32_t rank, root;
  std::uint8_t kind, upper, in_place, pad[5];
  std::int64_t results;
  std::uint64_t blocks;
};
struct block_head {
  std::int64_t to;  // a rank; -1: for all
  std::uint64_t bytes;
};

class writer {
public:
  template <class T>
  void add(const T& value) {
    const auto* const from = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), from, from + sizeof value);
  }
  void begin(const call_head& head) {
    head_ = bytes.size();
    add(head);
  }
  // Of the call that has been begun last.
  void add_block(std::int64_t to, const buffer& b) {
    call_head head;
    std::memcpy(&head, bytes.data() + head_, sizeof head);
    ++head.blocks;
    std::memcpy(bytes.data() + head_, &head, sizeof head);
    add(block_head{to, b.bytes()});
    const std::size_t at = bytes.size();
    bytes.resize(at + b.bytes());
    pack(b, 0, bytes.data() + at, b.bytes());
  }
  std::vector<std::byte> bytes;

private:
  std::size_t head_ = 0;  // where that of the last call is
};

// A call of another process: what it gives lies in the bytes that have arrived, or in memory of its own.
struct absent_call {
  collective_call call;
  std::vector<MPI_Count> counts;
  std::vector<MPI_Aint> places;
  std::unique_ptr<typed_memory> summand;
};

bool gives_each_its_own(collective kind) noexcept {
  return kind == collective::all_to_all || kind == collective::scatter;
}
// The same to every process.
bool gives_all(collective kind) noexcept {
  using enum collective;
  return kind == all_gather || kind == all_reduce || kind == reduce_scatter || kind == scan || kind == exscan;
}

class exchange {
public:
  exchange(communicator& in, leader_link& link, std::vector<collective_call*>& calls, const collective_call* runs)
      : in_(in), link_(link), calls_(calls), kind_(calls[0]->kind) {
    if (reduces(kind_)) by_ = reducer_of(calls, runs);
    if (by_.type == nullptr) by_.type = &type_of(MPI_BYTE);  // all are in the root's group
  }

  void run() {
    const std::vector<std::size_t> from = gives_all(kind_) ? gather_all() : exchange_blocks();
    for (std::uint32_t p = 0; p < link_.size(); ++p)
      if (p != link_.rank()) read(std::span(received_).subspan(from[p], from[p + 1] - from[p]));
    carry_out();
  }

private:
  // Both receive what every process gives, and say where it lies.
  std::vector<std::size_t> gather_all() {
    writer mine;
    for (const collective_call* c : calls_) {
      mine.begin(head_of(*c));
      mine.add_block(-1, contribution_of(*c));
    }
    std::vector<std::uint64_t> sizes(link_.size());
    sizes[link_.rank()] = mine.bytes.size();
    collectives::all_gather(link_, collectives::equal_bounds(link_.size(), sizeof sizes[0]),
                            std::as_writable_bytes(std::span(sizes)));
    std::vector<std::size_t> bounds = collectives::bounds_of(sizes);
    received_.resize(bounds.back());
    std::memcpy(received_.data() + bounds[link_.rank()], mine.bytes.data(), mine.bytes.size());
    collectives::second_phase second(link_);
    collectives::all_gather(second, bounds, received_);
    return bounds;
  }

  std::vector<std::size_t> exchange_blocks() {
    std::vector<writer> to_each(link_.size());
    for (const collective_call* c : calls_) write(to_each, *c);
    std::vector<std::byte> sent;
    std::vector<std::uint64_t> sizes;
    for (writer& w : to_each) {
      sizes.push_back(w.bytes.size());
      sent.insert(sent.end(), w.bytes.begin(), w.bytes.end());
      w = {};
    }
    std::vector<std::uint64_t> taken(sizes.size());
    collectives::all_to_all(link_, std::as_bytes(std::span(sizes)), std::as_writable_bytes(std::span(taken)));
    const std::vector<std::size_t> from = collectives::bounds_of(sizes);
    std::vector<std::size_t> to = collectives::bounds_of(taken);
    received_.resize(to.back());
    collectives::second_phase second(link_);
    collectives::all_to_all_blocks(second, sent, from, received_, to);
    return to;
  }

  static call_head head_of(const collective_call& c) noexcept {
    return {c.rank, c.root, static_cast<std::uint8_t>(c.kind), c.upper, c.in_place, {}, c.results, 0};
  }
  // The group that a call's blocks go to: the other one of an intercommunicator.
  const group& receivers(const collective_call& c) const noexcept {
    if (!in_.is_inter()) return in_.local();
    return c.upper == in_.is_upper() ? in_.remote() : in_.local();
  }
  std::uint32_t process_of(const group& g, int rank) const noexcept { return link_.place_of(g.world_of(rank)); }

  // Into what each process gets, but this one.
  void write(std::vector<writer>& to_each, const collective_call& c) {
    const bool is_root = in_.is_inter() ? c.root == MPI_ROOT : c.root == c.rank;
    const call_head head = head_of(c);
    for (std::uint32_t p = 0; p < link_.size(); ++p) {
      if (p == link_.rank()) continue;
      writer& w = to_each[p];
      w.begin(head);
      if (!gives_each_its_own(kind_) && gives_to(c, is_root, p)) w.add_block(-1, contribution_of(c));
    }
    if (!gives_each_its_own(kind_) || (kind_ == collective::scatter && !is_root)) return;
    const group& g = receivers(c);
    for (int r = 0; r < g.size(); ++r) {
      const std::uint32_t p = process_of(g, r);
      if (p == link_.rank()) continue;
      to_each[p].add_block(
          r, c.in_place && kind_ == collective::all_to_all ? c.received.block(r, c.receive) : c.sent.block(r, c.send));
    }
  }

  bool gives_to(const collective_call& c, bool is_root, std::uint32_t process) const noexcept {
    using enum collective;
    if (kind_ == barrier) return false;
    if (kind_ == broadcast) return is_root;
    if (!in_.is_inter()) return process_of(in_.local(), c.root) == process;
    return c.root >= 0 && process_of(receivers(c), c.root) == process;
  }

  void read(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      call_head head;
      std::memcpy(&head, bytes.data(), sizeof head);
      bytes = bytes.subspan(sizeof head);
      absent_call& a = absent_.emplace_back();
      collective_call& c = a.call;
      c.absent = true;
      c.rank = head.rank;
      c.root = head.root;
      c.kind = static_cast<collective>(head.kind);
      c.upper = head.upper != 0;
      c.results = head.results;
      c.op = by_.op;
      for (std::uint64_t i = 0; i < head.blocks; ++i) {
        block_head block;
        std::memcpy(&block, bytes.data(), sizeof block);
        take_block(a, block, bytes.data() + sizeof block);
        bytes = bytes.subspan(sizeof block + block.bytes);
      }
      if (head.blocks == 0 && reduces(kind_)) c.send = {nullptr, 0, by_.type};
    }
  }

  void take_block(absent_call& a, const block_head& block, const std::byte* at) {
    collective_call& c = a.call;
    if (block.to < 0 && reduces(kind_)) {
      const std::uint64_t size = by_.type->size();
      const MPI_Count count =
          size == 0 ? contribution_of(*calls_[0]).count : static_cast<MPI_Count>(block.bytes / size);
      a.summand = std::make_unique<typed_memory>(count, *by_.type);
      unpack(at, block.bytes, a.summand->elements(), 0);
      c.send = a.summand->elements();
    } else if (block.to < 0) {
      c.send = {const_cast<std::byte*>(at), static_cast<MPI_Count>(block.bytes), nullptr};
    } else {
      const auto to = static_cast<std::size_t>(block.to);
      a.counts.resize(std::max(a.counts.size(), to + 1));
      a.places.resize(a.counts.size());
      a.counts[to] = static_cast<MPI_Count>(block.bytes);
      a.places[to] = at - received_.data();
      c.send = {received_.data(), 0, &type_of(MPI_BYTE)};
      c.sent = {a.counts.data(), a.places.data(), nullptr, true, true};
    }
  }

  // What is sent where it is received is read before anything is written.
  void keep_what_is_in_place() {
    if (kind_ != collective::all_to_all) return;
    for (collective_call* c : calls_) {
      if (!c->in_place) continue;
      given_.emplace_back(c, *c);
      absent_call& kept = kept_.emplace_back();
      writer w;
      std::vector<std::uint64_t> begins;
      for (int r = 0; r < in_.size(); ++r) {
        const buffer b = c->received.block(r, c->receive);
        kept.places.push_back(static_cast<MPI_Aint>(w.bytes.size()));
        kept.counts.push_back(static_cast<MPI_Count>(b.bytes()));
        const std::size_t at = w.bytes.size();
        w.bytes.resize(at + b.bytes());
        pack(b, 0, w.bytes.data() + at, b.bytes());
      }
      kept_bytes_.push_back(std::move(w.bytes));
      c->send = {kept_bytes_.back().data(), 0, &type_of(MPI_BYTE)};
      c->sent = {kept.counts.data(), kept.places.data(), nullptr, true, true};
      c->in_place = false;
    }
  }

  void carry_out() {
    keep_what_is_in_place();
    std::vector<collective_call*> lower, upper;
    const auto sort_in = [&](collective_call* c) {
      std::vector<collective_call*>& all = c->upper ? upper : lower;
      const auto r = static_cast<std::size_t>(c->rank);
      if (all.size() <= r) all.resize(r + 1);
      all[r] = c;
    };
    for (collective_call* c : calls_) sort_in(c);
    for (absent_call& a : absent_) sort_in(&a.call);
    if (in_.is_inter())
      execute_between(lower, upper, by_);
    else
      execute(lower, by_);
    for (auto& [c, given] : given_) *c = given;  // a persistent operation begins again
  }

  communicator& in_;
  leader_link& link_;
  std::vector<collective_call*>& calls_;
  const collective kind_;
  reducer by_;
  std::vector<std::byte> received_;
  std::deque<absent_call> absent_;  // which do not move
  std::deque<absent_call> kept_;
  std::deque<std::vector<std::byte>> kept_bytes_;
  std::vector<std::pair<collective_call*, collective_call>> given_;
};

// ---- operations with better ways

struct reduction_context {
  const operation_ref* op;
  const datatype* type;
};

void combine(const void* context, const std::byte* lower, const std::byte* upper, std::byte* into, std::size_t count) {
  const auto& c = *static_cast<const reduction_context*>(context);
  const auto n = static_cast<MPI_Count>(count);
  if (into == lower) return c.op->combine(upper, into, n, *c.type);  // it commutes
  if (into != upper) std::memcpy(into, upper, count * c.type->size());
  c.op->combine(lower, into, n, *c.type);
}

bool is_plain_reduction(const communicator& in, const collective_call& c) {
  if (in.is_inter() || (c.kind != collective::all_reduce && c.kind != collective::reduce)) return false;
  const datatype* const type = c.receive.type != nullptr ? c.receive.type : c.send.type;
  return c.op.commutes() && type->is_solid() && type->is_predefined();
}

void reduce(leader_link& link, const communicator& in, std::vector<collective_call*>& calls,
            const collective_call* runs) {
  const auto rank_of = [](const collective_call* c) { return c->rank; };
  if (!std::ranges::is_sorted(calls, {}, rank_of)) std::ranges::sort(calls, {}, rank_of);
  const reducer by = reducer_of(calls, runs);
  typed_memory sum = combined(calls, by);
  const buffer& all = sum.elements();
  const reduction_context context{&by.op, all.type};
  const collectives::reduction how{combine, &context, all.type->size()};
  const std::span bytes(static_cast<std::byte*>(all.at), all.bytes());
  if (calls[0]->kind == collective::all_reduce)
    collectives::all_reduce(link, bytes, how);
  else
    collectives::reduce(link, link.place_of(in.local().world_of(calls[0]->root)), bytes, how);
  for (collective_call* c : calls)
    if (c->kind == collective::all_reduce || c->root == c->rank) copy(all, c->receive);
}

void broadcast(leader_link& link, const communicator& in, const std::vector<collective_call*>& calls) {
  std::vector<std::byte> bytes(calls[0]->receive.bytes());
  for (const collective_call* c : calls)
    if (c->root == c->rank) pack(c->send, 0, bytes.data(), bytes.size());
  collectives::broadcast(link, link.place_of(in.local().world_of(calls[0]->root)), bytes);
  for (const collective_call* c : calls)
    if (c->root != c->rank) copy({bytes.data(), static_cast<MPI_Count>(bytes.size()), nullptr}, c->receive);
}

void carry_out(communicator& in, rank_state& leader, std::uint64_t sequence, std::vector<collective_call*>& calls,
               const collective_call* runs) {
  const collective_call barrier;
  const collective_call& first = calls.empty() ? barrier : *calls[0];
  if (!calls.empty()) check_calls(calls, in.is_inter());
  leader_link link(leader, in, sequence, first);
  if (first.kind == collective::barrier) return collectives::barrier(link);
  if (is_plain_reduction(in, first)) return reduce(link, in, calls, runs);
  if (first.kind == collective::broadcast && !in.is_inter()) return broadcast(link, in, calls);
  exchange(in, link, calls, runs).run();
}

struct exchange_task final : sched::placed_task {
  communicator_ref in;
  rank_state* leader = nullptr;
  collective_site* site = nullptr;
  const collective_call* of_leader = nullptr;

  static void begin(detail::task& raw) noexcept {
    const std::unique_ptr<exchange_task> self(&static_cast<exchange_task&>(static_cast<sched::placed_task&>(raw)));
    rank_state& leader = *self->leader;
    if (leader.home.owner().stopping()) return;
    collective_site& site = *self->site;
    int error = MPI_SUCCESS;
    const auto run = [&] {
      error = exchange_between_processes(*self->in, leader, site.sequence, site.calls, self->of_leader);
    };
    const bool predefined =
        std::ranges::all_of(site.calls, [](const collective_call* c) { return is_predefined(c->op.handle()); });
    // A program's operation may call MPI, and needs more stack than the runtime's own code.
    constexpr std::size_t k_stack_bytes = std::size_t{1} << 20;
    leader.home.begun().local = &leader;
    if (predefined) {
      run();
    } else {
      try {
        call_with_stack(stack_bytes(k_stack_bytes), run);
      } catch (const std::exception&) {
        error = MPI_ERR_NO_MEM;
      }
    }
    leader.home.begun().local = nullptr;
    end_collective(site, error, nullptr);
  }
};

}  // namespace

int exchange_between_processes(communicator& in, rank_state& leader, std::uint64_t sequence,
                               std::vector<collective_call*>& calls, const collective_call* runs) noexcept {
  try {
    carry_out(in, leader, sequence, calls, runs);
    return MPI_SUCCESS;
  } catch (const mpi_error& e) {
    base::warn("{}: {}", name_of(calls.empty() ? collective::barrier : calls[0]->kind), e.what());
    return e.code();
  } catch (const std::exception&) {
    return MPI_ERR_NO_MEM;
  }
}

void begin_exchange(communicator& in, rank_state& leader, collective_site& site, const collective_call* of_leader) {
  auto task = std::make_unique<exchange_task>();
  task->run = exchange_task::begin;
  task->in = communicator_ref(&in);
  task->leader = &leader;
  task->site = &site;
  task->of_leader = of_leader;
  leader.home.place(*task.release());
}

}  // namespace shoal::rank
