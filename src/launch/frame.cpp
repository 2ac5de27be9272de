// SPDX-License-Identifier: Apache-2.0
#include "launch/frame.hpp"

#include "launch/byte_stream.hpp"
#include "shoal/detail/assert.hpp"

namespace shoal::launch {

std::vector<std::byte> frame_bytes(frame_type type, std::span<const std::byte> payload) {
  SHOAL_ASSERT(payload.size() <= k_most_frame_bytes, "a frame has a bound");
  std::vector<std::byte> bytes;
  bytes.reserve(k_frame_header_bytes + payload.size());
  byte_writer out(bytes);
  out.number(static_cast<std::uint32_t>(payload.size()));
  out.number(static_cast<std::uint32_t>(type));
  out.bytes(payload);
  return bytes;
}

void frame_reader::add(std::span<const std::byte> bytes) {
  if (broken_) return;
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

std::optional<frame> frame_reader::next() {
  const auto arrived = std::span(bytes_).subspan(begin_);
  if (broken_ || arrived.size() < k_frame_header_bytes) return std::nullopt;
  byte_reader header(arrived.first(k_frame_header_bytes));
  const auto length = header.number<std::uint32_t>();
  const auto type = header.number<std::uint32_t>();
  if (length > k_most_frame_bytes || type < static_cast<std::uint32_t>(frame_type::hello) ||
      type > static_cast<std::uint32_t>(frame_type::stop)) {
    broken_ = true;
    bytes_ = {};
    begin_ = 0;
    return std::nullopt;
  }
  if (arrived.size() - k_frame_header_bytes < length) {
    if (begin_ != 0) {  // makes room once per frame that is not whole, not once per frame
      bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(begin_));
      begin_ = 0;
    }
    return std::nullopt;
  }
  const auto payload = arrived.subspan(k_frame_header_bytes, length);
  frame whole{static_cast<frame_type>(type), {payload.begin(), payload.end()}};
  begin_ += k_frame_header_bytes + length;
  if (begin_ == bytes_.size()) {
    bytes_.clear();
    begin_ = 0;
  }
  return whole;
}

}  // namespace shoal::launch
