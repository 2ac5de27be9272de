// SPDX-License-Identifier: Apache-2.0
#include "rank/buffer.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "rank/profile.hpp"

namespace shoal::rank {
namespace {

std::byte* address(const buffer& b) noexcept { return static_cast<std::byte*>(b.at); }

// Calls move(memory, packed bytes, n) for the blocks of bytes [offset, offset + bytes) of the elements, in order.
template <class Move>
void for_blocks(const buffer& b, std::uint64_t offset, std::uint64_t bytes, const Move& move) {
  if (bytes == 0) return;
  if (b.type == nullptr || b.type->is_solid()) return move(address(b) + offset, bytes);
  const datatype& t = *b.type;
  const type_layout& layout = t.layout();
  const auto begins = t.begins();
  std::byte* element = address(b) + static_cast<std::int64_t>(offset / t.size()) * t.extent();
  std::uint64_t within = offset % t.size();
  std::uint64_t time = 0;  // in the element
  if (layout.times > 1) {
    time = within / begins.back();
    within %= begins.back();
  }
  auto part = static_cast<std::size_t>(std::ranges::upper_bound(begins, within) - begins.begin()) - 1;
  within -= begins[part];
  std::byte* base = element + static_cast<std::int64_t>(time) * layout.distance;
  for (;;) {
    const type_part& p = layout.parts[part];
    std::uint64_t block = within / p.bytes;
    const std::uint64_t skipped = within % p.bytes;
    std::byte* at = base + p.offset + static_cast<std::int64_t>(block) * p.stride;
    if (skipped != 0) {
      const std::uint64_t n = std::min(bytes, p.bytes - skipped);
      move(at + skipped, n);
      if ((bytes -= n) == 0) return;
      ++block;
      at += p.stride;
    }
    const std::uint64_t whole = std::min(p.count - block, bytes / p.bytes);
    for (std::uint64_t i = 0; i < whole; ++i, at += p.stride) move(at, p.bytes);
    bytes -= whole * p.bytes;
    if (bytes == 0) return;
    if (block + whole < p.count) return move(at, bytes);
    within = 0;
    if (++part < layout.parts.size()) continue;
    part = 0;
    if (++time < layout.times) {
      base += layout.distance;
    } else {
      time = 0;
      base = element += t.extent();
    }
  }
}

// Blocks of eight and four bytes are common, and a call for each costs more than they do.
void copy_block(std::byte* to, const std::byte* from, std::uint64_t n) noexcept {
  if (n == 8)
    std::memcpy(to, from, 8);
  else if (n == 4)
    std::memcpy(to, from, 4);
  else
    std::memcpy(to, from, n);
}

void pack_elements(const buffer& from, std::uint64_t offset, std::byte* to, std::uint64_t bytes) {
  for_blocks(from, offset, bytes, [&to](const std::byte* at, std::uint64_t n) {
    copy_block(to, at, n);
    to += n;
  });
}

void unpack_elements(const std::byte* from, std::uint64_t bytes, const buffer& to, std::uint64_t offset) {
  for_blocks(to, offset, bytes, [&from](std::byte* at, std::uint64_t n) {
    copy_block(at, from, n);
    from += n;
  });
}

}  // namespace

std::byte* solid_bytes(const buffer& b) noexcept {
  if (b.type == nullptr || b.type->is_solid()) return address(b);
  const type_layout& layout = b.type->layout();
  if (b.count == 1 && layout.times == 1 && layout.parts.size() == 1 && layout.parts[0].count == 1)
    return address(b) + layout.parts[0].offset;
  return nullptr;
}

void pack(const buffer& from, std::uint64_t offset, std::byte* to, std::uint64_t bytes) {
  const copy_timer timer(bytes);
  pack_elements(from, offset, to, bytes);
}

void unpack(const std::byte* from, std::uint64_t bytes, const buffer& to, std::uint64_t offset) {
  const copy_timer timer(bytes);
  unpack_elements(from, bytes, to, offset);
}

std::uint64_t copy(const buffer& from, const buffer& to) {
  const std::uint64_t bytes = std::min(from.bytes(), to.bytes());
  if (bytes == 0) return 0;
  const copy_timer timer(bytes);
  if (const std::byte* const solid = solid_bytes(from); solid != nullptr) {
    std::byte* const target = solid_bytes(to);
    if (target == nullptr)
      unpack_elements(solid, bytes, to, 0);
    else if (target != solid)
      std::memmove(target, solid, bytes);
  } else if (std::byte* const target = solid_bytes(to); target != nullptr) {
    pack_elements(from, 0, target, bytes);
  } else {
    std::array<std::byte, 16384> room;
    for (std::uint64_t at = 0; at < bytes;) {
      const std::uint64_t n = std::min<std::uint64_t>(room.size(), bytes - at);
      pack_elements(from, at, room.data(), n);
      unpack_elements(room.data(), n, to, at);
      at += n;
    }
  }
  return bytes;
}

}  // namespace shoal::rank
