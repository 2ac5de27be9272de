// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <zstd.h>

#include <utility>
#include <vector>

#include "graph/byte_source.hpp"
#include "graph/input_error.hpp"
#include "shoal/error.hpp"

namespace shoal::graph {
namespace {

class zstd_source final : public byte_source {
public:
  explicit zstd_source(std::unique_ptr<byte_source> compressed)
      : from_(std::move(compressed)), block_(ZSTD_DStreamInSize()), state_(ZSTD_createDStream()) {
    if (!state_) throw error(errc::out_of_memory, "no memory to decompress zstd data");
  }

  std::size_t read(std::span<std::byte> to) override {
    ZSTD_outBuffer out{to.data(), to.size(), 0};
    while (out.pos == 0 && !to.empty()) {
      if (in_.pos == in_.size) {
        in_ = {block_.data(), from_->read(block_), 0};
        // The library may still hold decompressed bytes in the middle of a frame; it returns them without new input.
        if (in_.size == 0 && in_frame_ == 0) break;
      }
      const bool ended = in_.size == 0;
      in_frame_ = ZSTD_decompressStream(state_.get(), &out, &in_);
      if (ZSTD_isError(in_frame_) != 0) {
        const char* const what = ZSTD_getErrorName(in_frame_);
        refuse(name(), frames_ > 0 && started_ == 0 ? fmt::format("other data follows the zstd data ({})", what)
                                                    : fmt::format("zstd data is corrupt: {}", what));
      }
      if (in_frame_ == 0) {
        ++frames_;
        started_ = 0;
      } else {
        started_ += out.pos;
      }
      if (ended && out.pos == 0 && in_frame_ != 0) {
        refuse(name(), "zstd data is truncated: the file ends within it; fetch the file again");
      }
    }
    return out.pos;
  }

  const std::string& name() const noexcept override { return from_->name(); }

private:
  struct freer {
    void operator()(ZSTD_DStream* state) const noexcept { ZSTD_freeDStream(state); }
  };
  std::unique_ptr<byte_source> from_;
  std::vector<std::byte> block_;
  std::unique_ptr<ZSTD_DStream, freer> state_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  std::size_t in_frame_ = 1;  // 0 between frames; else the number of bytes that the library would like to read next
  std::uint64_t frames_ = 0;
  std::uint64_t started_ = 0;  // bytes that the current frame has returned
};

}  // namespace

std::unique_ptr<byte_source> make_zstd_source(std::unique_ptr<byte_source> compressed) {
  return std::make_unique<zstd_source>(std::move(compressed));
}

}  // namespace shoal::graph
