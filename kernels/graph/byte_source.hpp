// SPDX-License-Identifier: Apache-2.0
// Where the bytes of an input come from: a file, memory, or another source that is decompressed on the way. Sources are
// read once from begin to end in blocks, so that an input may be larger than memory.
// Who may call: one thread at a time; blocks in the operating system for the disk, never switches tasks.
// Guarantees: what is cut short, corrupt or followed by something else is an error (bad_input), never an early end.
// Shown by tests/unit/kernels_graph/byte_source_test.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace shoal::kernels::graph {

/// Called now and then with the bytes of the file (as it is stored) that have been read, and its size.
using progress_function = std::function<void(std::uint64_t done_bytes, std::uint64_t total_bytes)>;

class byte_source {
public:
  virtual ~byte_source() = default;

  /// Fills `to` from its begin; how much, and 0 only at the end (or when `to` is empty).
  virtual std::size_t read(std::span<std::byte> to) = 0;

  /// For messages: the path.
  virtual const std::string& name() const noexcept = 0;

  /// How many bytes read() will give in all; 0 where this is not known beforehand (compressed data).
  virtual std::uint64_t size_bytes() const noexcept { return 0; }
};

/// Opens a file and looks at its first bytes: gzip and zstd are decompressed, everything else is given as it is.
/// A name that ends in .gz or .zst and does not hold such data is refused.
std::unique_ptr<byte_source> open_byte_source(const std::string& path, progress_function progress = {});

/// The same for bytes in memory, which must outlive the source; `name` stands for the path.
std::unique_ptr<byte_source> open_byte_source(std::string_view bytes, std::string name);

/// Decompression. `compressed` is read from where it is to its end; several members or frames in a row are one input.
std::unique_ptr<byte_source> make_gzip_source(std::unique_ptr<byte_source> compressed);
std::unique_ptr<byte_source> make_zstd_source(std::unique_ptr<byte_source> compressed);

/// Lets its owner look at the first bytes, and gives them like the rest nevertheless.
class peeked_source final : public byte_source {
public:
  explicit peeked_source(std::unique_ptr<byte_source> from);
  std::string_view head() const noexcept { return {reinterpret_cast<const char*>(head_.data()), peeked_}; }
  std::size_t read(std::span<std::byte> to) override;
  const std::string& name() const noexcept override { return from_->name(); }
  std::uint64_t size_bytes() const noexcept override { return from_->size_bytes(); }

private:
  std::unique_ptr<byte_source> from_;
  std::array<std::byte, 16> head_{};
  std::size_t peeked_ = 0;
  std::size_t given_ = 0;
};

/// Reads until `to` is full or the input ends; how much.
std::size_t read_fully(byte_source& from, std::span<std::byte> to);

}  // namespace shoal::kernels::graph
