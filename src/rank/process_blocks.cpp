// SPDX-License-Identifier: Apache-2.0
#include "rank/process_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "collectives/algorithm_table.hpp"
#include "rank/error.hpp"
#include "rank/process_ranks.hpp"

namespace shoal::rank {
namespace {

// Bytes without a value at first.
class raw_bytes {
public:
  raw_bytes() = default;
  explicit raw_bytes(std::size_t size) : at_(std::make_unique_for_overwrite<std::byte[]>(size)), size_(size) {}
  std::span<std::byte> all() const noexcept { return {at_.get(), size_}; }

private:
  std::unique_ptr<std::byte[]> at_;
  std::size_t size_ = 0;
};

buffer as_buffer(std::span<const std::byte> s) noexcept {
  return {const_cast<std::byte*>(s.data()), static_cast<MPI_Count>(s.size()), nullptr};
}

// Writes blocks one behind the other.
class block_writer {
public:
  explicit block_writer(std::span<std::byte> to) noexcept : left_(to) {}
  void add(const buffer& b) {
    const std::size_t bytes = b.bytes();
    pack(b, 0, left_.data(), bytes);
    left_ = left_.subspan(bytes);
  }
  std::span<std::byte> skip(std::size_t bytes) noexcept {
    const auto skipped = left_.first(bytes);
    left_ = left_.subspan(bytes);
    return skipped;
  }

private:
  std::span<std::byte> left_;
};

// ---- blocks of any sizes: first the sizes, then the blocks

class sized_writer {
public:
  sized_writer(std::size_t blocks, std::span<std::byte> to) noexcept
      : sizes_(to.first(blocks * sizeof(std::uint64_t))), blocks_(to.subspan(sizes_.size())) {}
  void add(const buffer& b) {
    const std::uint64_t bytes = b.bytes();
    std::memcpy(sizes_.data(), &bytes, sizeof bytes);
    sizes_ = sizes_.subspan(sizeof bytes);
    blocks_.add(b);
  }

private:
  std::span<std::byte> sizes_;
  block_writer blocks_;
};
std::size_t sized_bytes(std::uint64_t bytes) noexcept { return sizeof(std::uint64_t) + bytes; }

class sized_reader {
public:
  sized_reader(std::size_t blocks, std::span<const std::byte> from) noexcept
      : sizes_(from.first(blocks * sizeof(std::uint64_t))), blocks_(from.subspan(sizes_.size())) {}
  buffer next() noexcept {
    std::uint64_t bytes;
    std::memcpy(&bytes, sizes_.data(), sizeof bytes);
    sizes_ = sizes_.subspan(sizeof bytes);
    const buffer b = as_buffer(blocks_.first(bytes));
    blocks_ = blocks_.subspan(bytes);
    return b;
  }

private:
  std::span<const std::byte> sizes_;
  std::span<const std::byte> blocks_;
};

std::uint32_t root_process(const leader_link& link, const communicator& in, collective_calls calls) noexcept {
  return link.place_of(in.local().world_of(calls[0]->root));
}
const collective_call& root_of(collective_calls calls) noexcept {
  return **std::ranges::find_if(calls, [](const collective_call* c) { return c->rank == c->root; });
}

std::span<const std::byte> part(std::span<const std::byte> all, collectives::block_bounds bounds, std::uint32_t p) {
  return all.subspan(bounds[p], bounds[p + 1] - bounds[p]);
}

// ---- all to all

buffer given_to(const collective_call& c, int rank) {
  return c.in_place ? receive_block(c, rank) : send_block(c, rank);
}

// Blocks of one size: every process knows what it receives.
void exchange_equal_blocks(leader_link& link, const process_ranks& ranks, collective_calls calls) {
  const std::size_t block = given_to(*calls[0], 0).bytes();
  for (const collective_call* c : calls)
    if (given_to(*c, 0).bytes() != block || receive_block(*c, 0).bytes() != block)
      throw mpi_error(MPI_ERR_COUNT,
                      fmt::format("rank {} gives blocks of {} bytes, takes {}, and rank {} gives {}", c->rank,
                                  given_to(*c, 0).bytes(), receive_block(*c, 0).bytes(), calls[0]->rank, block));
  bool alike = true;
  std::vector<std::uint64_t> sizes(link.size());
  for (std::uint32_t p = 0; p < link.size(); ++p) {
    alike &= ranks.count(p) == ranks.count(0);
    sizes[p] = static_cast<std::size_t>(ranks.count(p)) * calls.size() * block;
  }
  const bool in_rounds =
      alike && collectives::chosen(link, collectives::operation::all_to_all, sizes[0]) == collectives::algorithm::bruck;
  if (!in_rounds) sizes[link.rank()] = 0;  // is copied straight
  const auto bounds = collectives::bounds_of(sizes);
  const raw_bytes given(bounds.back());
  const raw_bytes taken(bounds.back());
  block_writer w(given.all());
  for (std::uint32_t p = 0; p < link.size(); ++p) {
    if (p == link.rank()) {
      w.skip(sizes[p]);
      continue;
    }
    for (const collective_call* c : calls) ranks.for_each(p, [&](int r) { w.add(given_to(*c, r)); });
  }
  if (in_rounds)
    collectives::all_to_all(link, given.all(), taken.all());
  else
    collectives::all_to_all_blocks(link, given.all(), bounds, taken.all(), bounds);
  for (std::uint32_t p = 0; p < link.size(); ++p) {
    if (p == link.rank()) continue;
    std::span<const std::byte> from = part(taken.all(), bounds, p);
    ranks.for_each(p, [&](int r) {
      for (const collective_call* c : calls) {
        move_block(as_buffer(from.first(block)), receive_block(*c, r));
        from = from.subspan(block);
      }
    });
  }
}

void exchange_any_blocks(leader_link& link, const process_ranks& ranks, collective_calls calls) {
  std::vector<std::uint64_t> sizes(link.size(), 0);
  for (std::uint32_t p = 0; p < link.size(); ++p) {
    if (p == link.rank()) continue;
    for (const collective_call* c : calls)
      ranks.for_each(p, [&](int r) { sizes[p] += sized_bytes(given_to(*c, r).bytes()); });
  }
  std::vector<std::uint64_t> taken_sizes(sizes.size());
  collectives::all_to_all(link, std::as_bytes(std::span(sizes)), std::as_writable_bytes(std::span(taken_sizes)));
  const auto given_bounds = collectives::bounds_of(sizes);
  const auto taken_bounds = collectives::bounds_of(taken_sizes);
  const auto blocks_of = [&](std::uint32_t p) { return static_cast<std::size_t>(ranks.count(p)) * calls.size(); };
  const raw_bytes given(given_bounds.back());
  for (std::uint32_t p = 0; p < link.size(); ++p) {
    if (p == link.rank()) continue;
    sized_writer w(blocks_of(p), given.all().subspan(given_bounds[p], sizes[p]));
    for (const collective_call* c : calls) ranks.for_each(p, [&](int r) { w.add(given_to(*c, r)); });
  }
  const raw_bytes taken(taken_bounds.back());
  collectives::second_phase second(link);
  collectives::all_to_all_blocks(second, given.all(), given_bounds, taken.all(), taken_bounds);
  for (std::uint32_t p = 0; p < link.size(); ++p) {
    if (p == link.rank()) continue;
    sized_reader from(blocks_of(p), part(taken.all(), taken_bounds, p));
    ranks.for_each(p, [&](int r) {
      for (const collective_call* c : calls) move_block(from.next(), receive_block(*c, r));
    });
  }
}

}  // namespace

void gather_between(leader_link& link, const communicator& in, collective_calls calls) {
  const std::uint32_t root = root_process(link, in, calls);
  if (link.rank() != root) {
    std::size_t bytes = 0;
    for (const collective_call* c : calls) bytes += sized_bytes(c->send.bytes());
    const raw_bytes mine(bytes);
    sized_writer w(calls.size(), mine.all());
    for (const collective_call* c : calls) w.add(c->send);
    return collectives::gather_blocks(link, root, mine.all(), {});
  }
  raw_bytes all;
  std::vector<std::size_t> bounds;
  collectives::gather_blocks(link, root, {}, [&](collectives::block_bounds found) {
    bounds.assign(found.begin(), found.end());
    all = raw_bytes(bounds.back());
    return all.all();
  });
  const collective_call& to = root_of(calls);
  gather(calls, to);
  const process_ranks ranks(link, in);
  for (std::uint32_t p = 0; p < link.size(); ++p) {
    if (p == root) continue;
    sized_reader from(static_cast<std::size_t>(ranks.count(p)), part(all.all(), bounds, p));
    ranks.for_each(p, [&](int r) { move_block(from.next(), receive_block(to, r)); });
  }
}

void scatter_between(leader_link& link, const communicator& in, collective_calls calls) {
  const std::uint32_t root = root_process(link, in, calls);
  raw_bytes mine;
  const auto room = [&mine](std::size_t bytes) {
    mine = raw_bytes(bytes);
    return mine.all();
  };
  if (link.rank() != root) {
    collectives::scatter_blocks(link, root, {}, {}, room);
    sized_reader from(calls.size(), mine.all());
    for (const collective_call* c : calls) move_block(from.next(), c->receive);
    return;
  }
  const collective_call& from = root_of(calls);
  const process_ranks ranks(link, in);
  std::vector<std::uint64_t> sizes(link.size(), 0);
  for (std::uint32_t p = 0; p < link.size(); ++p)
    if (p != root) ranks.for_each(p, [&](int r) { sizes[p] += sized_bytes(send_block(from, r).bytes()); });
  const auto bounds = collectives::bounds_of(sizes);
  const raw_bytes all(bounds.back());
  for (std::uint32_t p = 0; p < link.size(); ++p) {
    if (p == root) continue;
    sized_writer w(static_cast<std::size_t>(ranks.count(p)), all.all().subspan(bounds[p], sizes[p]));
    ranks.for_each(p, [&](int r) { w.add(send_block(from, r)); });
  }
  collectives::scatter_blocks(link, root, bounds, all.all(), room);
  scatter(from, calls);
}

// Every rank says how much each other one gives, so every process knows what it receives.
void all_gather_between(leader_link& link, const communicator& in, collective_calls calls) {
  const process_ranks ranks(link, in);
  const collective_call& one = *calls[0];
  std::vector<std::size_t> begins{0};  // by rank, and behind the last
  for (int r = 0; r < in.size(); ++r)
    begins.push_back(begins.back() + (one.agreed != nullptr ? one.send.bytes() : receive_block(one, r).bytes()));
  const auto size_of = [&begins](int rank) {
    const auto r = static_cast<std::size_t>(rank);
    return begins[r + 1] - begins[r];
  };
  std::vector<std::uint64_t> sizes(link.size(), 0);
  for (std::uint32_t p = 0; p < link.size(); ++p) ranks.for_each(p, [&](int r) { sizes[p] += size_of(r); });
  const auto bounds = collectives::bounds_of(sizes);
  raw_bytes all(bounds.back());
  block_writer w(all.all().subspan(bounds[link.rank()]));
  for (const collective_call* c : calls) {
    const buffer b = contribution_of(*c);
    if (b.bytes() != size_of(c->rank))
      throw mpi_error(MPI_ERR_COUNT, fmt::format("rank {} gives {} bytes to an operation where rank {} takes {} of it",
                                                 c->rank, b.bytes(), one.rank, size_of(c->rank)));
    w.add(b);
  }
  collectives::all_gather(link, bounds, all.all());
  if (!ranks.is_order_of_ranks()) {
    const raw_bytes by_rank(bounds.back());
    for (std::uint32_t p = 0; p < link.size(); ++p) {
      std::span<const std::byte> from = part(all.all(), bounds, p);
      ranks.for_each(p, [&](int r) {
        std::ranges::copy(from.first(size_of(r)), by_rank.all().data() + begins[static_cast<std::size_t>(r)]);
        from = from.subspan(size_of(r));
      });
    }
    return give_all({begins, by_rank.all().data()}, calls);
  }
  give_all({begins, all.all().data()}, calls);
}

void all_to_all_between(leader_link& link, const communicator& in, collective_calls calls) {
  const process_ranks ranks(link, in);
  const bool equal = calls[0]->sent.counts == nullptr && calls[0]->received.counts == nullptr;
  (equal ? exchange_equal_blocks : exchange_any_blocks)(link, ranks, calls);
  if (calls[0]->in_place)
    all_to_all_in_place(calls);
  else
    all_to_all(calls, calls);
}

}  // namespace shoal::rank
