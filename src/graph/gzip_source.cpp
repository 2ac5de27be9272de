// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "graph/byte_source.hpp"
#include "graph/input_error.hpp"
#include "shoal/error.hpp"

namespace shoal::graph {
namespace {

constexpr std::size_t k_block_bytes = std::size_t{1} << 18;
constexpr int k_gzip_only = 15 + 16;  // zlib's window bits for a gzip wrapper only

class gzip_source final : public byte_source {
public:
  explicit gzip_source(std::unique_ptr<byte_source> compressed) : from_(std::move(compressed)), block_(k_block_bytes) {
    if (inflateInit2(&state_, k_gzip_only) != Z_OK)
      throw error(errc::out_of_memory, "no memory to decompress gzip data");
  }
  gzip_source(const gzip_source&) = delete;
  gzip_source& operator=(const gzip_source&) = delete;
  ~gzip_source() override { inflateEnd(&state_); }

  std::size_t read(std::span<std::byte> to) override {
    const std::size_t room = std::min<std::size_t>(to.size(), std::numeric_limits<uInt>::max());
    state_.next_out = reinterpret_cast<Bytef*>(to.data());
    state_.avail_out = static_cast<uInt>(room);
    while (state_.avail_out == room && room > 0) {
      if (state_.avail_in == 0) refill();
      if (between_members_ && !next_member()) break;
      if (state_.avail_in == 0) refuse(name(), "gzip data is truncated: the file ends within it; fetch the file again");
      const int code = inflate(&state_, Z_NO_FLUSH);
      if (code == Z_STREAM_END) {
        between_members_ = true;
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        refuse(name(), fmt::format("gzip data is corrupt: {}", state_.msg != nullptr ? state_.msg : zError(code)));
      }
    }
    return room - state_.avail_out;
  }

  const std::string& name() const noexcept override { return from_->name(); }

private:
  void refill() {
    const std::size_t got = from_->read(block_);
    state_.next_in = reinterpret_cast<Bytef*>(block_.data());
    state_.avail_in = static_cast<uInt>(got);
  }

  /// After a member: either another member follows, or only zeros (tape padding) up to the end. False at the end.
  bool next_member() {
    bool padding = false;
    for (;;) {
      while (state_.avail_in > 0 && *state_.next_in == 0) {
        padding = true;
        ++state_.next_in;
        --state_.avail_in;
      }
      if (state_.avail_in > 0) break;
      refill();
      if (state_.avail_in == 0) return false;
    }
    if (padding || *state_.next_in != 0x1f) refuse(name(), "other data follows the gzip data");
    inflateReset(&state_);
    between_members_ = false;
    return true;
  }

  std::unique_ptr<byte_source> from_;
  std::vector<std::byte> block_;
  z_stream state_{};
  bool between_members_ = false;
};

}  // namespace

std::unique_ptr<byte_source> make_gzip_source(std::unique_ptr<byte_source> compressed) {
  return std::make_unique<gzip_source>(std::move(compressed));
}

}  // namespace shoal::graph
