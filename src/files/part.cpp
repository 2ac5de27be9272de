// SPDX-License-Identifier: Apache-2.0
#include "files/part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "machine/file.hpp"
#include "shoal/array.hpp"
#include "shoal/blocking.hpp"
#include "shoal/detail/port.hpp"
#include "shoal/error.hpp"
#include "shoal/task.hpp"

namespace shoal::files {
namespace {

using detail::array_layout;

constexpr std::uint64_t k_most_lanes = 4;
constexpr std::uint64_t k_copy_bytes = std::uint64_t{256} << 10;  // others run in between

unsigned unit_of(std::uint32_t element_bytes) noexcept {
  return element_bytes == 2 || element_bytes == 4 || element_bytes == 8 ? element_bytes : 0;
}

// Calls copy(first element, elements, byte position) for pieces that do not hold up others.
template <class Copy>
void in_pieces(const array_file& file, std::uint64_t first, std::uint64_t count, Copy&& copy) {
  const std::uint64_t step = std::max<std::uint64_t>(k_copy_bytes / file.type.bytes, 1);
  for (std::uint64_t done = 0; done < count; done += step) {
    copy(first + done, std::min(step, count - done), done * file.type.bytes);
    detail::take_turn(detail::worker_here());
  }
}

void get_elements(const part& p, std::uint64_t first, std::uint64_t count, std::byte* to) {
  const unsigned unit = unit_of(p.file.type.bytes);
  in_pieces(p.file, first, count, [&](std::uint64_t i, std::uint64_t n, std::uint64_t at) {
    detail::bulk_get(p.layout, i, to + at, n, unit);
  });
  detail::settle_bulk(p.layout, first, count);
}

void put_elements(const part& p, std::uint64_t first, std::uint64_t count, const std::byte* from) {
  const unsigned unit = unit_of(p.file.type.bytes);
  in_pieces(p.file, first, count, [&](std::uint64_t i, std::uint64_t n, std::uint64_t at) {
    detail::bulk_put(p.layout, i, from + at, n, unit);
  });
}

struct block {
  std::uint64_t number;
  std::uint64_t first;  // element
  std::uint64_t count;
  std::uint64_t bytes;
};

// What the lanes of a transfer share.
class transfer {
public:
  /// open() returns the file; it runs on a thread.
  template <class Open>
  transfer(const part& p, const Open& open)
      : part_(p), share_(share_of(p, detail::this_port().node)), next_(share_.first) {
    blocking([&] { file_ = open(); });
  }

  machine::file& file() noexcept { return file_; }
  std::uint64_t first_block() const noexcept { return share_.first; }

  /// Calls body(block) on the threads alone, where no task takes part.
  template <class Body>
  void run_on_threads(const Body& body) {
    if (share_.empty()) return;
    task_group lanes;
    for (std::uint64_t lane = 0; lane < lanes_of_share(); ++lane)
      lanes.run([this, &body] {
        blocking([&] {
          try {
            while (const auto b = next()) body(*b);
          } catch (...) {
            next_.store(share_.end, std::memory_order_relaxed);  // the others stop
            throw;
          }
        });
      });
    lanes.wait();
  }

  /// Calls body(block, memory for a block) for each block, in tasks.
  template <class Body>
  void run(const Body& body) {
    if (share_.empty()) return;
    task_group lanes;
    for (std::uint64_t lane = 0; lane < lanes_of_share(); ++lane) {
      lanes.run([this, &body] {
        const std::unique_ptr<std::byte[]> memory(new std::byte[part_.file.block_elements * part_.file.type.bytes]);
        try {
          while (const auto b = next()) body(*b, memory.get());
        } catch (...) {
          next_.store(share_.end, std::memory_order_relaxed);  // the others stop
          throw;
        }
        shoal::wait();  // what it has put
      });
    }
    lanes.wait();
  }

private:
  std::uint64_t lanes_of_share() const noexcept { return std::min<std::uint64_t>(share_.count(), k_most_lanes); }

  std::optional<block> next() noexcept {
    const std::uint64_t number = next_.fetch_add(1, std::memory_order_relaxed);
    if (number >= share_.end) return std::nullopt;
    const std::uint64_t count = part_.file.elements_of(number);
    return block{number, number * part_.file.block_elements, count, count * part_.file.type.bytes};
  }

  const part& part_;
  const block_share share_;
  machine::file file_;
  std::atomic<std::uint64_t> next_;
};

void check_block(const machine::file& file, const array_file& format, const block& b, std::span<const std::byte> data) {
  if (!format.has_checksums()) return;
  std::uint64_t stored = 0;
  const std::size_t got = file.read_at(std::as_writable_bytes(std::span{&stored, 1}), format.checksum_offset(b.number));
  if (got == sizeof stored && stored == format.checksum(b.number, data)) return;
  refuse_file(file.path(), fmt::format("is corrupt in block {} of {} (bytes {} to {}, elements {} to {}): the checksum "
                                       "differs; restore the file from a copy",
                                       b.number, format.blocks(), format.offset_of(b.number),
                                       format.offset_of(b.number) + b.bytes - 1, b.first, b.first + b.count - 1));
}

[[noreturn]] void refuse_folder(errc code, const std::string& path, const std::string& sees) {
  throw error(code,
              fmt::format("{}: this node sees {}; all nodes must share the folder, so choose one on a shared file "
                          "system",
                          path, sees));
}

// The file that another node has made. This one makes none: a file of its own in a folder that is not shared would keep
// a part of the elements.
machine::file open_made(const std::string& path, const array_file& format) {
  machine::file made;
  try {
    made = machine::file(path, machine::file::purpose::write);
  } catch (const error& e) {
    if (e.code() != errc::not_found) throw;
    refuse_folder(errc::not_found, path, "no such file, though it was made");
  }
  if (const std::uint64_t bytes = made.size_bytes(); bytes != format.file_bytes())
    refuse_folder(errc::mismatch, path,
                  fmt::format("a file of {} bytes, and the one that was made has {}", bytes, format.file_bytes()));
  return made;
}

}  // namespace

block_share share_of(const part& p, std::uint32_t node) noexcept {
  const std::uint64_t in_block = p.file.block_elements;
  const array_layout& l = p.layout;
  if (p.file.size == 0) return {};
  if (!l.has_whole_parts()) {
    const std::uint64_t blocks = p.file.blocks();
    const std::uint64_t each = blocks / l.nodes, longer = blocks % l.nodes;
    const std::uint64_t first = node * each + std::min<std::uint64_t>(node, longer);
    return {first, first + each + (node < longer ? 1 : 0)};
  }
  const array_layout::range held = l.local_range(node);
  const auto up = [in_block](std::uint64_t i) { return i / in_block + (i % in_block != 0 ? 1 : 0); };
  if (held.count == 0) return {};
  return {up(held.first), up(held.first + held.count)};
}

std::uint64_t bytes_of(const block_share& share, const array_file& file) noexcept {
  if (share.empty()) return 0;
  const std::uint64_t end = std::min(share.end * file.block_elements, file.size);
  return (end - share.first * file.block_elements) * file.type.bytes;
}

void copy_part(const part& p, std::byte* to) {
  const block_share share = share_of(p, detail::this_port().node);
  if (!share.empty())
    get_elements(p, share.first * p.file.block_elements, bytes_of(share, p.file) / p.file.type.bytes, to);
}

void write_part(const std::string& path, const part& p, bool sync, const std::byte* copied) {
  transfer all(p, [&] { return open_made(path, p.file); });
  const auto write = [&](const block& b, const std::byte* from) {
    const std::span data(from, b.bytes);
    all.file().write_at(data, p.file.offset_of(b.number));
    all.file().begin_writing(p.file.offset_of(b.number), b.bytes);
    if (!p.file.has_checksums()) return;
    const std::uint64_t sum = p.file.checksum(b.number, data);
    all.file().write_at(std::as_bytes(std::span{&sum, 1}), p.file.checksum_offset(b.number));
  };
  if (copied != nullptr) {
    all.run_on_threads([&](const block& b) {
      write(b, copied + (b.number - all.first_block()) * p.file.block_elements * p.file.type.bytes);
    });
  } else {
    all.run([&](const block& b, std::byte* memory) {
      get_elements(p, b.first, b.count, memory);
      blocking([&] { write(b, memory); });
    });
  }
  blocking([&] {
    if (sync) all.file().sync();
    all.file().close();
  });
}

void read_part(const std::string& path, const part& p) {
  transfer all(p, [&] { return machine::file(path, machine::file::purpose::read); });
  all.run([&](const block& b, std::byte* memory) {
    blocking([&] {
      const std::span data(memory, b.bytes);
      if (all.file().read_at(data, p.file.offset_of(b.number)) != data.size())
        refuse_file(path, "has become shorter while it was read");
      check_block(all.file(), p.file, b, data);
    });
    put_elements(p, b.first, b.count, memory);
  });
}

}  // namespace shoal::files
