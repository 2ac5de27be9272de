// SPDX-License-Identifier: Apache-2.0
#include "rank/group_exchange.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "rank/execute.hpp"

namespace shoal::rank {
namespace {

// In front of a call; then its blocks.
struct call_head {
  std::int32_t rank, root;
  std::uint8_t kind, upper, pad[6];
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
  return kind == all_gather || kind == all_reduce || kind == reduce_scatter;
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
    return {c.rank, c.root, static_cast<std::uint8_t>(c.kind), c.upper, {}, c.results, 0};
  }
  // The group that a call's blocks go to: the other one.
  const group& receivers(const collective_call& c) const noexcept {
    return c.upper == in_.is_upper() ? in_.remote() : in_.local();
  }
  std::uint32_t process_of(const group& g, int rank) const noexcept { return link_.place_of(g.world_of(rank)); }

  // Into what each process gets, but this one.
  void write(std::vector<writer>& to_each, const collective_call& c) {
    const bool is_root = c.root == MPI_ROOT;
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
      to_each[p].add_block(r, send_block(c, r));
    }
  }

  bool gives_to(const collective_call& c, bool is_root, std::uint32_t process) const noexcept {
    if (kind_ == collective::broadcast) return is_root;
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

  void carry_out() {
    std::vector<collective_call*> lower, upper;
    const auto sort_in = [&](collective_call* c) {
      std::vector<collective_call*>& all = c->upper ? upper : lower;
      const auto r = static_cast<std::size_t>(c->rank);
      if (all.size() <= r) all.resize(r + 1);
      all[r] = c;
    };
    for (collective_call* c : calls_) sort_in(c);
    for (absent_call& a : absent_) sort_in(&a.call);
    execute_between(lower, upper, by_);
  }

  communicator& in_;
  leader_link& link_;
  std::vector<collective_call*>& calls_;
  const collective kind_;
  reducer by_;
  std::vector<std::byte> received_;
  std::deque<absent_call> absent_;  // which do not move
};

}  // namespace

void exchange_between_groups(leader_link& link, communicator& in, std::vector<collective_call*>& calls,
                             const collective_call* runs) {
  exchange(in, link, calls, runs).run();
}

}  // namespace shoal::rank
