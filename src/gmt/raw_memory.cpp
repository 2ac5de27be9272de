// SPDX-License-Identifier: Apache-2.0
// The part of gmt.h about memory of nodes by address. Only programs that are linked with this interface execute what
// asks for it (docs/security.md). An address is the program's: nothing here can tell whether it is a right one.
#include <algorithm>
#include <cstring>

#include "gmt/misuse.hpp"
#include "gmt/node_state.hpp"
#include "gmt/task_state.hpp"
#include "shoal/array.hpp"
#include "shoal/detail/answer.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/detail/element_access.hpp"
#include "shoal/detail/message.hpp"

namespace shoal::gmt {
namespace {

using detail::arrival;

constexpr std::size_t k_put_words =
    5;  // before the bytes: address, bytes, distance of chunks, their size, the first's rest
constexpr std::size_t k_piece_bytes = 8 * 1024;
static_assert(k_put_words + detail::words_for(k_piece_bytes) <= detail::k_most_payload_words);

// Words do not tear where both addresses allow it: programs use some as flags.
void copy(void* to, const void* from, std::size_t bytes) noexcept {
  const std::uintptr_t all = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from) | bytes;
  detail::copy_elements(to, from, bytes, all % 8 == 0 ? 8 : all % 4 == 0 ? 4 : all % 2 == 0 ? 2 : 0);
}

template <class T>
T* pointer(std::uint64_t address) noexcept {
  return reinterpret_cast<T*>(address);
}
std::uint64_t address(const void* at) noexcept { return reinterpret_cast<std::uintptr_t>(at); }

void receive_put(const arrival& a) noexcept {
  SHOAL_ASSERT(
      a.payload.size() >= 2 && a.payload[1] <= k_piece_bytes && a.payload.size() == 2 + detail::words_for(a.payload[1]),
      k_misshapen);
  copy(pointer<void>(a.payload[0]), a.payload.data() + 2, a.payload[1]);
}

// Bytes of several chunks: the first ones belong to a chunk of which `rest` bytes are left.
void scatter(std::uint8_t* to, const std::uint8_t* from, std::uint64_t bytes, std::uint64_t distance,
             std::uint64_t size, std::uint64_t rest) noexcept {
  for (std::uint64_t n = 0; bytes > 0; bytes -= n, from += n, rest = size) {
    n = std::min(rest, bytes);
    copy(to, from, n);
    to += distance - (size - rest);
  }
}

void receive_strided(const arrival& a) noexcept {
  SHOAL_ASSERT(a.payload.size() >= k_put_words && a.payload[1] <= k_piece_bytes && a.payload[3] != 0 &&
                   a.payload[4] != 0 && a.payload[4] <= a.payload[3] &&
                   a.payload.size() == k_put_words + detail::words_for(a.payload[1]),
               k_misshapen);
  scatter(pointer<std::uint8_t>(a.payload[0]), reinterpret_cast<const std::uint8_t*>(a.payload.data() + k_put_words),
          a.payload[1], a.payload[2], a.payload[3], a.payload[4]);
}

// The answer to receive_get(): the name, the number of bytes, the bytes.
void receive_got(const arrival& a) noexcept {
  SHOAL_ASSERT(
      a.payload.size() >= 2 && a.payload[1] <= k_piece_bytes && a.payload.size() == 2 + detail::words_for(a.payload[1]),
      k_misshapen);
  const detail::expected_answer e = detail::take_answer(a);
  copy(e.target, a.payload.data() + 2, a.payload[1]);
  e.calls->done();
}

void receive_get(const arrival& a) noexcept {
  SHOAL_ASSERT(a.payload.size() == 3 && a.payload[2] <= k_piece_bytes, k_misshapen);
  std::uint64_t words[2 + detail::words_for(k_piece_bytes)];
  const std::uint64_t bytes = a.payload[2];
  const std::size_t count = 2 + detail::words_for(bytes);
  words[count - 1] = 0;
  words[0] = a.payload[0];
  words[1] = bytes;
  copy(words + 2, pointer<const void>(a.payload[1]), bytes);
  const detail::handler_scope never_waits(a.worker, "gmt_mem_get");
  detail::send(a.worker, a.from, detail::receiver_of<receive_got>(), {words, count});
}

bool is_here(const char* function, std::uint32_t node) {
  const detail::port& p = detail::port_here();
  if (node >= p.nodes) refuse(function, "there is no such node; nodes are numbered from 0 to gmt_num_nodes() - 1");
  count(event::raw_access);
  return node == p.node;
}

// A message with a head and bytes; `words`: room for all of it.
void send_bytes(std::uint32_t node, detail::receiver to, std::uint64_t* words, std::size_t head, const void* bytes,
                std::size_t n) {
  const std::size_t all = head + detail::words_for(n);
  if (n % 8 != 0 || n == 0) words[all - 1] = 0;
  std::memcpy(words + head, bytes, n);
  detail::send(*detail::t_worker, node, to, {words, all});
}

void begin_put(std::uint32_t node, std::uint8_t* to, const std::uint8_t* from, std::uint64_t bytes) {
  while (bytes > 0) {
    std::uint64_t words[2 + detail::words_for(k_piece_bytes)];
    const std::uint64_t n = std::min<std::uint64_t>(bytes, k_piece_bytes);
    words[0] = address(to);
    words[1] = n;
    send_bytes(node, detail::receiver_of<receive_put>(), words, 2, from, n);
    to += n;
    from += n;
    bytes -= n;
  }
}

void begin_strided(std::uint32_t node, std::uint8_t* to, const std::uint8_t* from, std::uint64_t distance,
                   std::uint64_t size, std::uint64_t chunks) {
  std::uint64_t rest = size;
  for (std::uint64_t left = size * chunks; left > 0;) {
    std::uint64_t words[k_put_words + detail::words_for(k_piece_bytes)];
    const std::uint64_t n = std::min<std::uint64_t>(left, k_piece_bytes);
    words[0] = address(to);
    words[1] = n;
    words[2] = distance;
    words[3] = size;
    words[4] = rest;
    send_bytes(node, detail::receiver_of<receive_strided>(), words, k_put_words, from, n);
    from += n;
    left -= n;
    // Where the next piece begins: so many bytes behind the start of the chunk in which this one began.
    const std::uint64_t behind = size - rest + n;
    to += behind / size * distance + behind % size - (size - rest);
    rest = size - behind % size;
  }
}

// Pieces that may be asked for at once: answers take memory where they come from. A short piece takes k_least_bytes.
constexpr std::uint64_t k_most_bytes = 64 * k_piece_bytes;
constexpr std::uint64_t k_least_bytes = 64;

void begin_get(detail::completion& pieces, std::uint32_t node, std::uint8_t* to, const std::uint8_t* from,
               std::uint64_t bytes) {
  while (bytes > 0) {
    const std::uint64_t n = std::min<std::uint64_t>(bytes, k_piece_bytes);
    if (static_cast<std::uint64_t>(pieces.begun()) >= k_most_bytes / std::max(n, k_least_bytes))
      pieces.wait_and_rethrow();
    const std::uint64_t name = detail::expect_answer(pieces, node, to);
    const std::uint64_t words[3] = {name, address(from), n};
    try {
      detail::send(*detail::t_worker, node, detail::receiver_of<receive_get>(), words);
    } catch (...) {
      detail::forget_answer(pieces, node, name);
      throw;
    }
    to += n;
    from += n;
    bytes -= n;
  }
}

void settle(std::uint32_t node) { detail::settle_node(detail::this_port(), node); }

}  // namespace
}  // namespace shoal::gmt

using namespace shoal::gmt;  // for the C functions below

void gmt_mem_put(uint32_t node, uint8_t* raddr, const uint8_t* data, uint64_t num_bytes) {
  if (is_here("gmt_mem_put", node)) return copy(raddr, data, num_bytes);
  begin_put(node, raddr, data, num_bytes);
  settle(node);
}

void gmt_mem_put_nb(uint32_t node, uint8_t* raddr, const uint8_t* data, uint64_t num_bytes) {
  if (is_here("gmt_mem_put_nb", node)) return copy(raddr, data, num_bytes);
  begin_put(node, raddr, data, num_bytes);
}

void gmt_mem_get(uint32_t node, uint8_t* laddr, const uint8_t* raddr, uint64_t num_bytes) {
  if (is_here("gmt_mem_get", node)) return copy(laddr, raddr, num_bytes);
  shoal::detail::completion pieces;
  begin_get(pieces, node, laddr, raddr, num_bytes);
  pieces.wait_and_rethrow();
}

void gmt_mem_get_nb(uint32_t node, uint8_t* laddr, const uint8_t* raddr, uint64_t num_bytes) {
  if (is_here("gmt_mem_get_nb", node)) return copy(laddr, raddr, num_bytes);
  task_state* const s = task_state::here();
  if (s == nullptr) return gmt_mem_get(node, laddr, raddr, num_bytes);
  begin_get(s->operations().raw, node, laddr, raddr, num_bytes);
}

void gmt_mem_strided_put(uint32_t node, uint8_t* raddr, const uint8_t* data, uint64_t chunk_offset, uint64_t chunk_size,
                         uint64_t num_chunks) {
  gmt_mem_strided_put_nb(node, raddr, data, chunk_offset, chunk_size, num_chunks);
  if (node != gmt_node_id()) settle(node);
}

void gmt_mem_strided_put_nb(uint32_t node, uint8_t* raddr, const uint8_t* data, uint64_t chunk_offset,
                            uint64_t chunk_size, uint64_t num_chunks) {
  const bool here = is_here("gmt_mem_strided_put", node);
  if (chunk_size == 0) return;
  if (here) return scatter(raddr, data, chunk_size * num_chunks, chunk_offset, chunk_size, chunk_size);
  begin_strided(node, raddr, data, chunk_offset, chunk_size, num_chunks);
}
