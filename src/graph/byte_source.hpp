// SPDX-License-Identifier: Apache-2.0
// The bytes of an input: a file, memory, or another source that is decompressed during reading. Sources are read once
// from begin to end in blocks, so an input may be larger than memory.
// Who may call: one task or thread at a time. A task waits for the disk on a thread for files, its worker runs others;
// other threads are blocked.
// Guarantees: truncated or corrupt data, or trailing data, is an error (bad_input), never an early end.
// Test: tests/unit/graph/byte_source_test.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "shoal/graph/read.hpp"

namespace shoal::graph {

class byte_source {
public:
  virtual ~byte_source() = default;

  /// Fills `to` from its begin and returns the number of bytes; 0 only at the end (or if `to` is empty).
  virtual std::size_t read(std::span<std::byte> to) = 0;

  /// The path, for messages.
  virtual const std::string& name() const noexcept = 0;

  /// The number of bytes that read() will return in total; 0 if unknown (compressed data).
  virtual std::uint64_t size_bytes() const noexcept { return 0; }
};

/// Opens a file and examines its first bytes: gzip and zstd data is decompressed, other data is returned unchanged.
/// Rejects a name that ends in .gz or .zst if the file does not contain such data.
std::unique_ptr<byte_source> open_byte_source(const std::string& path, progress_function progress = {});

/// The same for bytes in memory, which must outlive the source; `name` replaces the path.
std::unique_ptr<byte_source> open_byte_source(std::string_view bytes, std::string name);

/// Decompression. Reads `compressed` from its current position to its end; consecutive members or frames are one input.
std::unique_ptr<byte_source> make_gzip_source(std::unique_ptr<byte_source> compressed);
std::unique_ptr<byte_source> make_zstd_source(std::unique_ptr<byte_source> compressed);

/// Allows its owner to examine the first bytes; read() returns them as well.
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

/// Reads until `to` is full or the input ends; returns the number of bytes.
std::size_t read_fully(byte_source& from, std::span<std::byte> to);

}  // namespace shoal::graph
