// SPDX-License-Identifier: Apache-2.0
// The format of commands. A command is a header word and the words that its operation needs:
//     bits 63..56 operation   55..44 small value or word count   43..0 offset in the owner's segment, or code
// An element operation whose value fits into 12 signed bits is one word; otherwise the small value is k_value_follows
// and the value is the next word. A compare-exchange carries two words. Replies are bare words, in the order of the
// requests: the sender keeps the waiters. So a remote add of one is 8 bytes, a remote get 8 and 8.
// Who may call: anyone; pure functions. Shown by tests/unit/command/command_test.cpp.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace shoal::detail {

inline constexpr unsigned k_offset_bits = 44;
inline constexpr std::uint64_t k_offset_mask = (std::uint64_t{1} << k_offset_bits) - 1;
inline constexpr std::uint64_t k_small_mask = 0xfff;
inline constexpr std::uint64_t k_value_follows = 0x800;  // -2048: the one small value that is never sent as such

/// What is done to an element; times the element's type it is an operation code.
enum class verb : std::uint8_t {
  put,
  get,
  add,
  fetch_add,
  min,
  fetch_min,
  max,
  fetch_max,
  bit_and,
  fetch_and,
  bit_or,
  fetch_or,
  exchange,
  compare_exchange,
  bit_xor,
  fetch_xor,
  count,
  // As the verb without `test_`, with a word in reply: 1 if it has changed the element, else 0. Only async_ forms.
  test_min = count,
  test_max,
  test_and,
  test_or,
  all_count
};

enum class element : std::uint8_t { u8, u16, u32, u64, i8, i16, i32, i64, f32, f64, count };

inline constexpr unsigned k_elements = static_cast<unsigned>(element::count);  // codes per verb
/// Codes after those of the element operations.
enum class other_operation : std::uint8_t {
  bulk_put = static_cast<unsigned>(verb::all_count) * k_elements,  // header (small value: unit of copying), bytes, data
  bulk_get,                                                        // header (unit), bytes; replied with the data
  call,                                                            // small value: words of payload; offset: code
  count
};
inline constexpr unsigned k_operations = 256;
static_assert(static_cast<unsigned>(other_operation::count) <= k_operations);

template <class T>
concept element_type = std::integral<T> || std::same_as<T, float> || std::same_as<T, double>;

template <element_type T>
constexpr element element_of() noexcept {
  if constexpr (std::same_as<T, float>)
    return element::f32;
  else if constexpr (std::same_as<T, double>)
    return element::f64;
  else {
    static_assert(sizeof(T) <= 8);
    constexpr unsigned width = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return static_cast<element>(width + (std::is_signed_v<T> ? 4 : 0));
  }
}

constexpr std::uint8_t operation(verb v, element e) noexcept {
  return static_cast<std::uint8_t>(static_cast<unsigned>(v) * k_elements + static_cast<unsigned>(e));
}
constexpr std::uint8_t operation_of(std::uint64_t header) noexcept { return static_cast<std::uint8_t>(header >> 56); }

constexpr std::uint64_t header(std::uint8_t operation, std::uint64_t small, std::uint64_t offset) noexcept {
  return std::uint64_t{operation} << 56 | (small & k_small_mask) << k_offset_bits | offset;
}
constexpr std::uint64_t offset_of(std::uint64_t header) noexcept { return header & k_offset_mask; }
constexpr std::uint64_t small_of(std::uint64_t header) noexcept { return header >> k_offset_bits & k_small_mask; }

/// A value as a word: sign-extended, so that the small ones are small.
template <class T>
constexpr std::uint64_t to_word(T value) noexcept {
  if constexpr (std::same_as<T, float>)
    return std::bit_cast<std::uint32_t>(value);
  else if constexpr (std::same_as<T, double>)
    return std::bit_cast<std::uint64_t>(value);
  else
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::make_signed_t<T>>(value)));
}
template <>
constexpr std::uint64_t to_word<bool>(bool value) noexcept {
  return value ? 1 : 0;
}

template <class T>
constexpr T from_word(std::uint64_t word) noexcept {
  if constexpr (std::same_as<T, float>)
    return std::bit_cast<float>(static_cast<std::uint32_t>(word));
  else if constexpr (std::same_as<T, double>)
    return std::bit_cast<double>(word);
  else
    return static_cast<T>(word);
}

constexpr bool fits_small(std::uint64_t word) noexcept { return word + 0x7ff < 0xfff; }
constexpr std::uint64_t widen_small(std::uint64_t small) noexcept {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(small << 52) >> 52);
}

constexpr bool is_fetch(verb v) noexcept {
  return v == verb::get || v == verb::fetch_add || v == verb::fetch_min || v == verb::fetch_max ||
         v == verb::fetch_and || v == verb::fetch_or || v == verb::fetch_xor || v == verb::exchange ||
         v == verb::compare_exchange;
}
constexpr bool is_test(verb v) noexcept { return v >= verb::test_min; }
/// Whether a word comes in reply.
constexpr bool is_replied(verb v) noexcept { return is_fetch(v) || is_test(v); }

constexpr std::uint64_t words_for(std::uint64_t bytes) noexcept { return (bytes + 7) / 8; }

}  // namespace shoal::detail
