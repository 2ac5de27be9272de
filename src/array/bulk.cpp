// SPDX-License-Identifier: Apache-2.0
// Access to many elements: directly where memory is mapped, else in pieces that fit into buffers.
#include <algorithm>
#include <cstring>
#include <vector>

#include "array/bulk.hpp"
#include "array/node_memory.hpp"
#include "remote/worker_port.hpp"
#include "shoal/detail/array_access.hpp"
#include "shoal/detail/call_tree.hpp"
#include "shoal/detail/strided_copy.hpp"
#include "shoal/detail/tsan_ignore.hpp"
#include "shoal/loop.hpp"

namespace shoal::detail {
namespace {

constexpr std::uint64_t k_header_words = 2;
// The most bytes of one piece. Several fit into a buffer, so a piece does not wait for a whole empty buffer.
constexpr std::uint64_t k_most_piece_bytes = 8 * 1000;

void check_alive([[maybe_unused]] const array_layout& layout) noexcept {
  SHOAL_CHECK(this_port().context->generations[layout.slot].load(std::memory_order_relaxed) == layout.generation,
              "a global array is used after it was freed");
}

// Calls piece(node, offset, first element, elements) for each contiguous part of [i, i + count).
template <class Piece>
void for_pieces(const array_layout& layout, std::uint64_t i, std::uint64_t count, Piece&& piece) {
  if (count == 0) return;  // also of an empty array, which has no memory that could have been freed
  array::check_range(layout, i, count);
  for (std::uint64_t done = 0; done < count;) {
    const auto at = layout.locate(i + done);
    const std::uint64_t n = std::min(count - done, layout.run_at(i + done));
    piece(at, done, n);
    done += n;
  }
}

// The elements that one node holds of a span: one behind the other there, in runs in the span.
struct scattered_piece {
  array_layout::place at;
  std::uint64_t done;   // elements of the span before the first one
  std::uint64_t count;  // elements; the last run may be shorter
  run_shape shape;
};

// Runs this long are as well moved one by one.
constexpr std::uint64_t k_most_run_bytes = 2048;

// Whether most of the span is worth a scattered piece per node: there are several runs for each.
bool is_scattered(const array_layout& layout, std::uint64_t count) noexcept {
  if (layout.kind != distribution::cyclic && layout.kind != distribution::block_cyclic) return false;
  const array_layout::range part = layout.local_range(layout.first_node);
  return layout.node_count > 1 && part.run * layout.element_bytes <= k_most_run_bytes && count / part.stride >= 4;
}

// Calls piece(scattered_piece) for all of [i, i + count), which begins where a round of runs begins: the span in rounds
// that give each node about one piece, so that the span's memory stays in the cache while its pieces are collected.
template <class Piece>
void for_scattered_rounds(const array_layout& layout, std::uint64_t i, std::uint64_t count, Piece&& piece) {
  const array_layout::range part = layout.local_range(layout.first_node);
  const std::uint64_t run_bytes = part.run * layout.element_bytes;
  const std::uint64_t runs_per_piece = k_most_piece_bytes / run_bytes;
  const std::uint64_t round = part.stride * runs_per_piece;
  const run_shape shape{run_bytes, part.stride * layout.element_bytes};
  for (std::uint64_t done = 0; done < count; done += round) {
    const std::uint64_t here = std::min(round, count - done);
    const std::uint64_t base = (i + done) / part.stride * part.run;  // position in each part
    for (std::uint32_t k = 0; k < layout.node_count && k * part.run < here; ++k) {
      const std::uint64_t whole = here / part.stride * part.run;
      const std::uint64_t rest = here % part.stride;
      const std::uint64_t n = whole + (rest > k * part.run ? std::min(rest - k * part.run, part.run) : 0);
      piece({{layout.node_of_part(k), layout.offset + base * layout.element_bytes}, done + k * part.run, n, shape});
    }
  }
}

void write_header(stream& s, other_operation op, unsigned unit, std::uint64_t offset, std::uint64_t bytes) noexcept {
  s.cursor[0] = header(static_cast<std::uint8_t>(op), unit, offset);
  s.cursor[1] = bytes;
  s.cursor += k_header_words;
}

// The elements per piece. Elements are split only if one is longer than a piece.
std::uint64_t piece_bytes(std::uint64_t left, std::uint32_t element_bytes) noexcept {
  if (left <= k_most_piece_bytes) return left;
  return element_bytes > k_most_piece_bytes ? k_most_piece_bytes : k_most_piece_bytes / element_bytes * element_bytes;
}

// `from` may be shared memory: elements of up to 8 bytes are read whole.
enum class source { own, shared };

void write_put(port& p, array_layout::place at, std::uint64_t bytes, unsigned unit, const auto& write_data) {
  const std::uint64_t words = words_for(bytes);
  stream& s = room_for(p, at.node, k_header_words + words);
  write_header(s, other_operation::bulk_put, unit, at.offset, bytes);
  write_data(s.cursor);
  s.cursor += words;
}

// True: transfers by the network were begun, which read `values` until they end.
bool put_contiguous(port& p, const array_layout& layout, std::uint64_t i, const std::byte* values, std::uint64_t count,
                    unsigned unit, source kind) {
  bool by_network = false;
  for_pieces(layout, i, count, [&](array_layout::place at, std::uint64_t done, std::uint64_t n) {
    const std::byte* from = values + done * layout.element_bytes;
    std::uint64_t left = n * layout.element_bytes;
    if (std::byte* base = p.bases[at.node]; base != nullptr) {
      copy_elements(base + at.offset, from, left, unit);
      std::atomic_thread_fence(std::memory_order_seq_cst);
      return;
    }
    if (left >= p.by_network_bytes && put_by_network(p, at.node, at.offset, from, left)) {
      by_network = true;
      return;
    }
    while (left > 0) {
      const std::uint64_t bytes = piece_bytes(left, layout.element_bytes);
      write_put(p, at, bytes, unit, [&](std::uint64_t* to) {
        if (kind == source::shared)
          copy_elements(to, from, bytes, unit);
        else
          std::memcpy(to, from, bytes);
      });
      from += bytes;
      at.offset += bytes;
      left -= bytes;
    }
  });
  return by_network;
}

void put_scattered(port& p, const array_layout& layout, std::uint64_t i, const std::byte* values, std::uint64_t count,
                   unsigned unit) {
  for_scattered_rounds(layout, i, count, [&](const scattered_piece& piece) {
    const std::byte* from = values + piece.done * layout.element_bytes;
    const std::uint64_t bytes = piece.count * layout.element_bytes;
    if (std::byte* base = p.bases[piece.at.node]; base != nullptr)
      return gather_runs(base + piece.at.offset, from, bytes, piece.shape, unit);
    write_put(p, piece.at, bytes, unit, [&](std::uint64_t* to) { gather_runs(to, from, bytes, piece.shape, unit); });
  });
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

// How many elements of a span that is_scattered() come before the first round of runs.
std::uint64_t before_first_round(const array_layout& layout, std::uint64_t i) noexcept {
  const std::uint64_t stride = layout.local_range(layout.first_node).stride;
  return (stride - i % stride) % stride;
}

void put_pieces(const array_layout& layout, std::uint64_t i, const void* values, std::uint64_t count, unsigned unit,
                source kind) {
  const tsan_ignore_scope ignore;
  port& p = this_port();
  if (count > 0) check_write(p, layout);
  ++p.async_issued;
  const auto* from = static_cast<const std::byte*>(values);
  bool by_network = false;
  if (count > 1 && is_scattered(layout, count)) {
    array::check_range(layout, i, count);
    const std::uint64_t first = before_first_round(layout, i);
    by_network = put_contiguous(p, layout, i, from, first, unit, kind);
    put_scattered(p, layout, i + first, from + first * layout.element_bytes, count - first, unit);
  } else {
    by_network = put_contiguous(p, layout, i, from, count, unit, kind);
  }
  // The caller may reuse its values. Those of arrays live until their copy is settled.
  if (by_network && kind == source::own) static_cast<remote::worker_port&>(p).wait_for_transfers();
  attend(p);
}

void get_contiguous(port& p, const array_layout& layout, std::uint64_t i, std::byte* target, std::uint64_t count,
                    unsigned unit) {
  for_pieces(layout, i, count, [&](array_layout::place at, std::uint64_t done, std::uint64_t n) {
    std::byte* to = target + done * layout.element_bytes;
    std::uint64_t left = n * layout.element_bytes;
    if (const std::byte* base = p.bases[at.node]; base != nullptr) {
      copy_elements(to, base + at.offset, left, unit);
      return;
    }
    if (left >= p.by_network_bytes && get_by_network(p, at.node, at.offset, to, left)) return;
    while (left > 0) {
      const std::uint64_t bytes = piece_bytes(left, layout.element_bytes);
      stream& s = room_for(p, at.node, k_header_words);
      p.peers[at.node].replies.reserve(2);
      write_header(s, other_operation::bulk_get, unit, at.offset, bytes);
      p.peers[at.node].replies.push(reply_kind::bulk, to);
      p.peers[at.node].replies.push_word(bytes);
      to += bytes;
      at.offset += bytes;
      left -= bytes;
    }
  });
}

void get_scattered(port& p, const array_layout& layout, std::uint64_t i, std::byte* target, std::uint64_t count,
                   unsigned unit) {
  for_scattered_rounds(layout, i, count, [&](const scattered_piece& piece) {
    std::byte* to = target + piece.done * layout.element_bytes;
    const std::uint64_t bytes = piece.count * layout.element_bytes;
    if (const std::byte* base = p.bases[piece.at.node]; base != nullptr)
      return scatter_runs(to, base + piece.at.offset, bytes, piece.shape, unit);
    stream& s = room_for(p, piece.at.node, k_header_words);
    reply_list& replies = p.peers[piece.at.node].replies;
    replies.reserve(4);
    write_header(s, other_operation::bulk_get, unit, piece.at.offset, bytes);
    replies.push(reply_kind::runs, to);
    replies.push_word(bytes);
    replies.push_word(std::uint64_t{unit} << 32 | piece.shape.run_bytes);
    replies.push_word(piece.shape.stride_bytes);
  });
}

struct fill_request {
  array_layout layout;
  unsigned unit;
};
static_assert(k_tree_words + 1 + packed<fill_request>::k_words + words_for(k_most_fill_bytes) <= k_most_call_words);

std::size_t fill_part(std::uint32_t, std::span<const std::uint64_t> arguments, std::uint64_t*) {
  const std::uint64_t* const words = arguments.data() + 1;  // behind the place
  const auto request = packed<fill_request>::read(words);
  const auto* value = reinterpret_cast<const std::byte*>(words + packed<fill_request>::k_words);
  port& p = this_port();
  std::byte* at = p.bases[p.node] + request.layout.offset;
  const std::uint64_t bytes = request.layout.local_range(p.node).count * request.layout.element_bytes;
  const std::uint64_t one = request.layout.element_bytes;
  if (bytes == 0) return 0;
  // Copies in a block of its own, never taken from the array: what somebody else puts there meanwhile stays where it
  // is.
  constexpr std::uint64_t k_most_block = 64 << 10;
  const std::uint64_t block_bytes = std::min(bytes, std::max(one, k_most_block / one * one));
  std::vector<std::uint64_t> block(words_for(block_bytes));
  auto* const copies = reinterpret_cast<std::byte*>(block.data());
  for (std::uint64_t k = 0; k < block_bytes; k += one) std::memcpy(copies + k, value, one);
  const std::uint64_t blocks = (bytes + block_bytes - 1) / block_bytes;
  const auto fill_block = [&](std::uint64_t k) {
    const std::uint64_t done = k * block_bytes;
    copy_elements(at + done, copies, std::min(block_bytes, bytes - done), request.unit);
    attend(this_port());
  };
  affinity_partitioner by_worker;  // as node_memory::commit()
  blocks == 1 ? fill_block(0) : parallel_for(blocks, fill_block, by_worker);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return 0;
}

}  // namespace

void bulk_get(const array_layout& layout, std::uint64_t i, void* target, std::uint64_t count, unsigned unit) {
  const tsan_ignore_scope ignore;
  port& p = this_port();
  ++p.async_issued;
  auto* const to = static_cast<std::byte*>(target);
  try {
    if (count > 1 && is_scattered(layout, count)) {
      array::check_range(layout, i, count);
      const std::uint64_t first = before_first_round(layout, i);
      get_contiguous(p, layout, i, to, first, unit);
      get_scattered(p, layout, i + first, to + first * layout.element_bytes, count - first, unit);
    } else {
      get_contiguous(p, layout, i, to, count, unit);
    }
  } catch (...) {  // no memory: the caller may free the target, to which replies are on their way
    settle_bulk(layout, i, count);
    throw;
  }
  attend(p);
}

void bulk_put(const array_layout& layout, std::uint64_t i, const void* values, std::uint64_t count, unsigned unit) {
  put_pieces(layout, i, values, count, unit, source::own);
}

void settle_bulk(const array_layout& layout, std::uint64_t i, std::uint64_t count) {
  port& p = this_port();
  if (!is_for_handlers(p)) return settle_all(p);
  for_pieces(layout, i, count, [&p](array_layout::place at, std::uint64_t, std::uint64_t) {
    if (at.node != p.node) refuse_bare_verb(p);
  });
}

void fill(const array_layout& layout, const void* value, unsigned unit) {
  if (layout.size == 0) return;
  check_alive(layout);
  check_write(this_port(), layout);
  SHOAL_ASSERT(layout.element_bytes <= k_most_fill_bytes, "larger elements are put one by one");
  const fill_request request{layout, unit};
  constexpr std::size_t k_request = k_tree_words + 1;  // behind the place
  constexpr std::size_t k_value = k_request + packed<fill_request>::k_words;
  std::vector<std::uint64_t> words(k_value + words_for(layout.element_bytes));
  packed<fill_request>::write(request, words.data() + k_request);
  std::memcpy(words.data() + k_value, value, layout.element_bytes);
  const node_row holders{.first = layout.first_node, .count = layout.node_count, .wrap = layout.nodes};
  call_tree tree(holders, callee_of<fill_part>());
  completion all;
  tree.begin(all, words, call_tree::own_part::called);
  all.wait_and_rethrow();
}

}  // namespace shoal::detail

namespace shoal::array {

void check_range([[maybe_unused]] const detail::array_layout& layout, [[maybe_unused]] std::uint64_t i,
                 [[maybe_unused]] std::uint64_t count) noexcept {
  detail::check_alive(layout);
#ifdef SHOAL_CHECKED
  if (count > layout.size || i > layout.size - count) [[unlikely]]
    detail::range_out_of_range(layout, i, count);
#endif
}

void bulk_put_shared(const detail::array_layout& layout, std::uint64_t i, const void* values, std::uint64_t count,
                     unsigned unit) {
  detail::put_pieces(layout, i, values, count, unit, detail::source::shared);
}

}  // namespace shoal::array
