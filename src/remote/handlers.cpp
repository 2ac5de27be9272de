// SPDX-License-Identifier: Apache-2.0
#include "remote/handlers.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>
#include <utility>

#include "remote/code.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/detail/element_access.hpp"
#include "shoal/detail/message.hpp"

namespace shoal::remote {
namespace {

using namespace shoal::detail;  // verbs, elements and the layout of commands: the whole file is about them

// Whether an element of T lies at `offset`: aligned, and in the segment. One comparison: an offset that is not aligned
// becomes a large number.
template <class T>
bool is_element(std::uint64_t offset, std::uint64_t elements) noexcept {
  return std::rotr(offset, std::countr_zero(sizeof(T))) < elements;
}

// Whether the bytes of a bulk copy lie in the segment, its elements aligned.
bool is_range(const serving& s, std::uint64_t header, std::uint64_t bytes) noexcept {
  const std::uint64_t offset = offset_of(header);
  const std::uint64_t unit = small_of(header);
  const bool aligned = (unit != 2 && unit != 4 && unit != 8) || offset % unit == 0;
  return aligned && bytes <= s.capacity_bytes && offset <= s.capacity_bytes - bytes;
}
bool has_words(const std::uint64_t* at, const std::uint64_t* end, std::uint64_t words) noexcept {
  return words <= static_cast<std::uint64_t>(end - at);
}

// Reads, with as many as there is room for replies without a look at it.
template <bool Exclusive, class T>
const std::uint64_t* get_run(serving& s, const std::uint64_t* at, const std::uint64_t* end) noexcept {
  const std::uint8_t code = operation_of(*at);
  std::byte* const base = s.base;
  const std::uint64_t elements = s.capacity_bytes / sizeof(T);
  const std::uint64_t* const begin = at;
  do {
    if (!s.room_for_reply(1)) break;
    std::uint64_t* to = s.reply_stream->cursor;
    const auto room = std::min(end - at, s.reply_stream->limit - to);
    const std::uint64_t* const until = at + room;
    const std::uint64_t* const prefetch_until = std::min(until, end - std::min(k_prefetch_words, end - at));
    do {
      const std::uint64_t h = *at;
      if (at < prefetch_until) __builtin_prefetch(base + offset_of(at[k_prefetch_words]), 0);
      if (!is_element<T>(offset_of(h), elements)) [[unlikely]]
        return nullptr;
      *to++ = to_word(access<verb::get, Exclusive>(*reinterpret_cast<T*>(base + offset_of(h)), T{}));
      ++at;
    } while (at < until && operation_of(*at) == code);
    s.reply_stream->cursor = to;
  } while (at < end && operation_of(*at) == code);
  s.executed += static_cast<std::uint64_t>(at - begin);
  return at;
}

template <verb V, bool Exclusive, class T>
const std::uint64_t* element_run(serving& s, const std::uint64_t* at, const std::uint64_t* end) noexcept {
  const std::uint8_t code = operation_of(*at);
  std::byte* const base = s.base;
  const std::uint64_t elements = s.capacity_bytes / sizeof(T);
  const std::uint64_t* const prefetch_until = end - k_prefetch_words;
  const std::uint64_t* const begin = at;
  std::uint64_t extra_words = 0;
  do {
    const std::uint64_t h = *at;
    // The word may be a value rather than a header: then the prefetch is in vain, but harmless.
    if (at < prefetch_until) __builtin_prefetch(base + offset_of(at[k_prefetch_words]), 1);
    if (!is_element<T>(offset_of(h), elements)) [[unlikely]]
      return nullptr;
    T& element = *reinterpret_cast<T*>(base + offset_of(h));
    if constexpr (is_replied(V)) {
      if (s.reply_stream->cursor == s.reply_stream->limit && !s.replies->make_room(1)) break;
    }
    if constexpr (V == verb::compare_exchange) {
      if (!has_words(at, end, 3)) [[unlikely]]
        return nullptr;
      *s.reply_stream->cursor++ = to_word(access<V, Exclusive>(element, from_word<T>(at[1]), from_word<T>(at[2])));
      at += 3;
      extra_words += 2;
    } else {
      const bool follows = small_of(h) == k_value_follows;
      if (follows && at + 1 == end) [[unlikely]]
        return nullptr;
      const T value = from_word<T>(follows ? at[1] : widen_small(small_of(h)));
      if constexpr (is_test(V))
        *s.reply_stream->cursor++ = access_and_test<V, Exclusive>(element, value) ? 1 : 0;
      else if constexpr (is_fetch(V))
        *s.reply_stream->cursor++ = to_word(access<V, Exclusive>(element, value));
      else
        access<V, Exclusive>(element, value);
      at += follows ? 2 : 1;
      extra_words += follows ? 1 : 0;
    }
  } while (at < end && operation_of(*at) == code);
  s.executed += static_cast<std::uint64_t>(at - begin) - extra_words;
  return at;
}

const std::uint64_t* bulk_put_run(serving& s, const std::uint64_t* at, const std::uint64_t* end) noexcept {
  if (!has_words(at, end, 2) || !is_range(s, *at, at[1]) || !has_words(at + 2, end, words_for(at[1]))) return nullptr;
  copy_elements(s.base + offset_of(*at), at + 2, at[1], static_cast<unsigned>(small_of(*at)));
  ++s.executed;
  return at + 2 + words_for(at[1]);
}

const std::uint64_t* bulk_get_run(serving& s, const std::uint64_t* at, const std::uint64_t* end) noexcept {
  if (!has_words(at, end, 2) || !is_range(s, *at, at[1])) return nullptr;
  const std::uint64_t words = words_for(at[1]);
  if (!s.room_for_reply(words)) return at;
  copy_elements(s.reply_stream->cursor, s.base + offset_of(*at), at[1], static_cast<unsigned>(small_of(*at)));
  s.reply_stream->cursor += words;
  ++s.executed;
  return at + 2;
}

const std::uint64_t* call_run(serving& s, const std::uint64_t* at, const std::uint64_t* end) noexcept {
  if (s.worker == nullptr) return at;
  do {
    // What handlers have sent must leave first: these may send more.
    if (s.overflow != nullptr && s.overflow->holds_requests()) [[unlikely]]
      return at;
    const auto words = static_cast<std::size_t>(small_of(*at));
    const receiver_function code = decode_receiver(offset_of(*at));
    if (code == nullptr || !has_words(at + 1, end, words)) [[unlikely]]
      return nullptr;
    const std::uint64_t* const next = at + 1 + words;
    code({*s.worker, s.from, {at + 1, words}, {next, end}});
    at = next;
    ++s.executed;
  } while (at < end && operation_of(*at) == static_cast<std::uint8_t>(other_operation::call));
  return at;
}

const std::uint64_t* unknown(serving&, const std::uint64_t*, const std::uint64_t*) noexcept { return nullptr; }

template <class T, bool Exclusive, std::size_t... V>
void fill_element(handler_table& table, std::index_sequence<V...>) {
  const auto one = [&table]<verb Verb>() {
    if constexpr (Verb == verb::get)
      table[operation(Verb, element_of<T>())] = get_run<Exclusive, T>;
    else if constexpr (k_has_verb<Verb, T>)
      table[operation(Verb, element_of<T>())] = element_run<Verb, Exclusive, T>;
  };
  (one.template operator()<static_cast<verb>(V)>(), ...);
}

template <bool Exclusive, class... T>
handler_table make_table() {
  handler_table table;
  table.fill(unknown);
  (fill_element<T, Exclusive>(table, std::make_index_sequence<static_cast<std::size_t>(verb::all_count)>{}), ...);
  table[static_cast<std::size_t>(other_operation::bulk_put)] = bulk_put_run;
  table[static_cast<std::size_t>(other_operation::bulk_get)] = bulk_get_run;
  table[static_cast<std::size_t>(other_operation::call)] = call_run;
  return table;
}

template <bool Exclusive>
const handler_table& table_of() noexcept {
  static const handler_table table = make_table<Exclusive, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t,
                                                std::int8_t, std::int16_t, std::int32_t, std::int64_t, float, double>();
  return table;
}

}  // namespace

const handler_table& handlers(bool exclusive) noexcept { return exclusive ? table_of<true>() : table_of<false>(); }

}  // namespace shoal::remote
