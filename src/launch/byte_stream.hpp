// SPDX-License-Identifier: Apache-2.0
// Numbers and texts as bytes, little-endian, each text with its length in front. Who may call: any thread. Never
// switches tasks. Guarantees: a reader never looks beyond its bytes, whatever they are; once something was missing it
// stays failed and gives zeros. Shown by tests/unit/launch/frame_test.cpp, tests/fuzz/frame_fuzz.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::launch {

class byte_writer {
public:
  explicit byte_writer(std::vector<std::byte>& out) noexcept : out_(out) {}

  template <class Number>
  void number(Number value) {
    for (std::size_t i = 0; i < sizeof value; ++i)
      out_.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i)));
  }
  void bytes(std::span<const std::byte> some) { out_.insert(out_.end(), some.begin(), some.end()); }
  void text(std::string_view some) {
    number(static_cast<std::uint32_t>(some.size()));
    bytes(std::as_bytes(std::span(some)));
  }

private:
  std::vector<std::byte>& out_;
};

class byte_reader {
public:
  explicit byte_reader(std::span<const std::byte> in) noexcept : in_(in) {}

  template <class Number>
  Number number() noexcept {
    std::uint64_t value = 0;
    const auto some = take(sizeof(Number));
    for (std::size_t i = 0; i < some.size(); ++i) value |= std::to_integer<std::uint64_t>(some[i]) << (8 * i);
    return static_cast<Number>(value);
  }
  /// Empty if there are not so many.
  std::span<const std::byte> take(std::size_t count) noexcept {
    if (count > in_.size()) {
      in_ = {};
      failed_ = true;
      return {};
    }
    const auto some = in_.first(count);
    in_ = in_.subspan(count);
    return some;
  }
  std::string text() {
    const auto some = take(number<std::uint32_t>());
    return {reinterpret_cast<const char*>(some.data()), some.size()};
  }
  std::span<const std::byte> rest() noexcept { return take(in_.size()); }
  std::size_t left() const noexcept { return in_.size(); }
  /// Everything was there, and nothing is left.
  bool complete() const noexcept { return !failed_ && in_.empty(); }
  bool failed() const noexcept { return failed_; }

private:
  std::span<const std::byte> in_;
  bool failed_ = false;
};

}  // namespace shoal::launch
