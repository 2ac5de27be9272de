// SPDX-License-Identifier: Apache-2.0
#include "rank/process_reductions.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "rank/error.hpp"
#include "rank/process_ranks.hpp"

namespace shoal::rank {
namespace {

// Elements as the algorithms take them: packed.
class packed_elements {
public:
  explicit packed_elements(typed_memory elements) : elements_(std::move(elements)) {
    const buffer& all = elements_.elements();
    bytes_ = {static_cast<std::byte*>(all.at), all.bytes()};
    if (all.type->is_solid()) return;
    packed_ = std::make_unique_for_overwrite<std::byte[]>(bytes_.size());
    bytes_ = {packed_.get(), bytes_.size()};
    pack(all, 0, bytes_.data(), bytes_.size());
  }
  std::span<std::byte> bytes() const noexcept { return bytes_; }
  buffer as_buffer() const noexcept { return {bytes_.data(), static_cast<MPI_Count>(bytes_.size()), nullptr}; }
  /// In memory as of the type.
  const buffer& unpacked() {
    if (packed_ != nullptr) unpack(bytes_.data(), bytes_.size(), elements_.elements(), 0);
    return elements_.elements();
  }

private:
  typed_memory elements_;
  std::unique_ptr<std::byte[]> packed_;
  std::span<std::byte> bytes_;
};

// ---- how the algorithms combine elements; the context is a reducer

void combine_solid(const void* context, const std::byte* lower, const std::byte* upper, std::byte* into,
                   std::size_t count) {
  const auto& by = *static_cast<const reducer*>(context);
  const auto n = static_cast<MPI_Count>(count);
  const std::size_t bytes = count * by.type->size();
  if (into != lower) {
    if (into != upper) std::memcpy(into, upper, bytes);
    return by.op.combine(lower, into, n, *by.type);
  }
  if (by.op.commutes()) return by.op.combine(upper, into, n, *by.type);
  typed_memory result(n, *by.type);
  std::memcpy(result.elements().at, upper, bytes);
  by.op.combine(lower, result.elements().at, n, *by.type);
  std::memcpy(into, result.elements().at, bytes);
}

void combine_packed(const void* context, const std::byte* lower, const std::byte* upper, std::byte* into,
                    std::size_t count) {
  const auto& by = *static_cast<const reducer*>(context);
  const auto n = static_cast<MPI_Count>(count);
  const std::size_t bytes = count * by.type->size();
  const typed_memory from(n, *by.type);
  const typed_memory result(n, *by.type);
  unpack(lower, bytes, from.elements(), 0);
  unpack(upper, bytes, result.elements(), 0);
  by.op.combine(from.elements().at, result.elements().at, n, *by.type);
  pack(result.elements(), 0, into, bytes);
}

collectives::reduction reduction_by(const reducer& by) noexcept {
  return {by.type->is_solid() ? combine_solid : combine_packed, &by, by.type->size()};
}

// ---- the operations

// The elements of the result for each process, one behind the other, as bytes; so in the order of processes.
std::vector<std::size_t> order_by_process(const process_ranks& ranks, const collective_call& one, std::size_t element,
                                          std::uint32_t processes, std::span<std::byte> all) {
  std::vector<std::uint64_t> sizes(processes, 0);
  const auto bytes_of = [&](int rank) { return static_cast<std::size_t>(results_of(one, rank)) * element; };
  for (std::uint32_t p = 0; p < processes; ++p) ranks.for_each(p, [&](int r) { sizes[p] += bytes_of(r); });
  auto bounds = collectives::bounds_of(sizes);
  if (bounds.back() != all.size()) throw mpi_error(MPI_ERR_COUNT, "the ranks' counts of results differ");
  if (ranks.is_order_of_ranks()) return bounds;
  std::vector<std::size_t> begins{0};
  for (int r = 0; r < ranks.count(); ++r) begins.push_back(begins.back() + bytes_of(r));
  const std::vector<std::byte> by_rank(all.begin(), all.end());
  std::byte* to = all.data();
  for (std::uint32_t p = 0; p < processes; ++p)
    ranks.for_each(p, [&](int r) {
      if (bytes_of(r) != 0) std::memcpy(to, by_rank.data() + begins[static_cast<std::size_t>(r)], bytes_of(r));
      to += bytes_of(r);
    });
  return bounds;
}

void reduce_and_scatter(leader_link& link, const communicator& in, collective_calls calls, const packed_elements& sum,
                        const collectives::reduction& how) {
  const process_ranks ranks(link, in);
  const auto bounds = order_by_process(ranks, *calls[0], how.element_bytes, link.size(), sum.bytes());
  collectives::reduce_scatter(link, sum.bytes(), bounds, how);
  std::span<std::byte> mine = sum.bytes().subspan(bounds[link.rank()], bounds[link.rank() + 1] - bounds[link.rank()]);
  for (const collective_call* c : calls) {
    const std::size_t bytes = static_cast<std::size_t>(c->results) * how.element_bytes;
    if (bytes > mine.size()) throw mpi_error(MPI_ERR_COUNT, "the ranks' counts of results differ");
    move_block({mine.data(), static_cast<MPI_Count>(bytes), nullptr}, {c->receive.at, c->results, c->receive.type});
    mine = mine.subspan(bytes);
  }
}

// The order of ranks is not that of processes, and matters: every process gets the elements of all ranks.
void reduce_in_order_of_ranks(leader_link& link, const communicator& in, collective_calls calls, const reducer& by) {
  struct absent_call {
    collective_call call;
    std::optional<typed_memory> elements;
  };
  const process_ranks ranks(link, in);
  const buffer first = contribution_of(*calls[0]);
  const std::size_t bytes = first.bytes();
  std::vector<std::uint64_t> sizes(link.size());
  for (std::uint32_t p = 0; p < link.size(); ++p) sizes[p] = static_cast<std::size_t>(ranks.count(p)) * bytes;
  const auto bounds = collectives::bounds_of(sizes);
  const auto all = std::make_unique_for_overwrite<std::byte[]>(bounds.back());
  std::byte* mine = all.get() + bounds[link.rank()];
  for (const collective_call* c : calls) {
    const buffer b = contribution_of(*c);
    if (b.bytes() != bytes) throw mpi_error(MPI_ERR_COUNT, "the ranks reduce different numbers of bytes");
    pack(b, 0, mine, bytes);
    mine += bytes;
  }
  collectives::all_gather(link, bounds, {all.get(), bounds.back()});
  std::vector<collective_call*> by_rank(static_cast<std::size_t>(in.size()));
  for (collective_call* c : calls) by_rank[static_cast<std::size_t>(c->rank)] = c;
  std::deque<absent_call> absent;  // which do not move
  for (std::uint32_t p = 0; p < link.size(); ++p) {
    if (p == link.rank()) continue;
    const std::byte* from = all.get() + bounds[p];
    ranks.for_each(p, [&](int r) {
      absent_call& a = absent.emplace_back();
      a.elements.emplace(first.count, *by.type);
      unpack(from, bytes, a.elements->elements(), 0);
      from += bytes;
      a.call.kind = calls[0]->kind;
      a.call.root = calls[0]->root;
      a.call.op = by.op;
      a.call.rank = r;
      a.call.absent = true;
      a.call.results = results_of(*calls[0], r);
      a.call.send = a.elements->elements();
      by_rank[static_cast<std::size_t>(r)] = &a.call;
    });
  }
  execute(by_rank, by);
}

}  // namespace

void reduce_between(leader_link& link, const communicator& in, collective_calls calls, const collective_call* runs) {
  using enum collective;
  const collective kind = calls[0]->kind;
  const reducer by = reducer_of(calls, runs);
  const bool scans = kind == scan || kind == exscan;
  if (in.block_begins().empty() && (scans || !by.op.commutes())) return reduce_in_order_of_ranks(link, in, calls, by);
  packed_elements sum(combined(calls, by));
  const collectives::reduction how = reduction_by(by);
  switch (kind) {
    case reduce_scatter: return reduce_and_scatter(link, in, calls, sum, how);
    case reduce: collectives::reduce(link, link.place_of(in.local().world_of(calls[0]->root)), sum.bytes(), how); break;
    case all_reduce: collectives::all_reduce(link, sum.bytes(), how); break;
    default:
      collectives::exscan(link, sum.bytes(), how);
      return rank::scan(calls, by, link.rank() == 0 ? nullptr : &sum.unpacked());
  }
  for (const collective_call* c : calls)
    if (kind == all_reduce || c->root == c->rank) copy(sum.as_buffer(), c->receive);
}

}  // namespace shoal::rank
