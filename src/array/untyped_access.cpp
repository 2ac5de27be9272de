// SPDX-License-Identifier: Apache-2.0
#include "array/untyped_access.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "array/node_memory.hpp"
#include "shoal/detail/array_access.hpp"
#include "shoal/detail/array_lists.hpp"
#include "shoal/detail/port.hpp"
#include "shoal/detail/tsan_ignore.hpp"

namespace shoal::array {
namespace {

using namespace shoal::detail;  // verbs, elements, commands and ports

constexpr std::size_t k_verbs = static_cast<std::size_t>(verb::count);
constexpr std::size_t k_types = static_cast<std::size_t>(element::count);

// How one verb is executed on an element of one type that is mapped here. Index: whether plainly (see attend()).
struct execution {
  using now_function = std::uint64_t (*)(void* at, std::uint64_t value, std::uint64_t desired) noexcept;
  now_function now[2] = {nullptr, nullptr};  // null: not a verb of this type
  decltype(deferred_access::run) later[2] = {nullptr, nullptr};
};

template <verb V, bool Exclusive, class T>
std::uint64_t execute_now(void* at, std::uint64_t value, std::uint64_t desired) noexcept {
  return to_word(access<V, Exclusive>(*static_cast<T*>(at), from_word<T>(value), from_word<T>(desired)));
}

using execution_table = std::array<execution, k_verbs * k_elements>;

template <class T, std::size_t... V>
constexpr void add_type(execution_table& table, std::index_sequence<V...>) {
  const auto add = [&table]<verb Verb>() {
    if constexpr (k_has_verb<Verb, T>)
      table[operation(Verb, element_of<T>())] = {{execute_now<Verb, false, T>, execute_now<Verb, true, T>},
                                                 {run_deferred<Verb, false, T>, run_deferred<Verb, true, T>}};
  };
  (add.template operator()<static_cast<verb>(V)>(), ...);
}

template <class... T>
constexpr execution_table table_of_types() {
  execution_table table{};
  (add_type<T>(table, std::make_index_sequence<k_verbs>{}), ...);
  return table;
}

// By operation code.
constexpr execution_table k_executions =
    table_of_types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, std::int8_t, std::int16_t, std::int32_t,
                   std::int64_t, float, double>();

constexpr std::array<std::uint8_t, k_types> k_bytes_of_type = {1, 2, 4, 8, 1, 2, 4, 8, 4, 8};

bool is_word_size(std::uint32_t bytes) noexcept { return bytes <= 8 && std::has_single_bit(bytes); }

// The unsigned type for elements of 1, 2, 4 or 8 bytes that are only copied.
element type_of_size(std::uint32_t bytes) noexcept { return static_cast<element>(std::countr_zero(bytes)); }

template <class T>
std::uint64_t load(const void* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return to_word(value);
}

std::uint64_t load_word(element type, const void* from) noexcept {
  switch (k_bytes_of_type[static_cast<std::size_t>(type)]) {
    case 1: return load<std::int8_t>(from);
    case 2: return load<std::int16_t>(from);
    case 4: return type == element::f32 ? load<float>(from) : load<std::int32_t>(from);
    default: return load<std::int64_t>(from);
  }
}

template <class T>
void store(void* to, std::uint64_t word) noexcept {
  const T value = static_cast<T>(word);
  std::memcpy(to, &value, sizeof value);
}

void store_word(element type, void* to, std::uint64_t word) noexcept {
  switch (k_bytes_of_type[static_cast<std::size_t>(type)]) {
    case 1: return store<std::uint8_t>(to, word);
    case 2: return store<std::uint16_t>(to, word);
    case 4: return store<std::uint32_t>(to, word);
    default: return store<std::uint64_t>(to, word);
  }
}

reply_kind reply_kind_of_type(element type) noexcept {
  static_assert(static_cast<int>(reply_kind::value_8) == static_cast<int>(reply_kind::value_1) + 3);
  const unsigned bytes = k_bytes_of_type[static_cast<std::size_t>(type)];
  return static_cast<reply_kind>(static_cast<int>(reply_kind::value_1) + std::countr_zero(bytes));
}

bool is_aligned(const void* at, element type) noexcept {
  return reinterpret_cast<std::uintptr_t>(at) % k_bytes_of_type[static_cast<std::size_t>(type)] == 0;
}

// An access that has been checked.
struct checked_access {
  const array_layout* layout = nullptr;
  element type = k_bytes_only;  // k_bytes_only: the elements are no words
  const execution* how = nullptr;
};

refusal check(const port& p, const untyped_access& a, checked_access& found) noexcept {
  found.layout = p.context->memory->arrays().find(a.id);
  if (found.layout == nullptr) return refusal::no_array;
  const array_layout& layout = *found.layout;
  if (a.index >= layout.size) return refusal::out_of_range;
  if (a.what >= verb::count || a.type > k_bytes_only) return refusal::no_such_verb;
  const bool is_transfer = a.what == verb::put || a.what == verb::get;
  if (a.what != verb::get && a.operand == nullptr) return refusal::no_operand;
  if (a.what == verb::compare_exchange && a.desired == nullptr) return refusal::no_operand;
  if (is_fetch(a.what) && a.result == nullptr) return refusal::no_operand;
  if (a.type == k_bytes_only) {
    if (!is_transfer) return refusal::no_such_verb;
    if (!is_word_size(layout.element_bytes)) return refusal::none;
    found.type = type_of_size(layout.element_bytes);
  } else {
    const bool fits = layout.type == k_bytes_only
                          ? layout.element_bytes == k_bytes_of_type[static_cast<std::size_t>(a.type)]
                          : layout.type == a.type;
    if (!fits) return refusal::wrong_type;
    found.type = a.type;
  }
  found.how = &k_executions[operation(a.what, found.type)];
  return found.how->now[0] == nullptr ? refusal::no_such_verb : refusal::none;
}

struct operand_words {
  std::uint64_t value = 0;
  std::uint64_t desired = 0;
};

operand_words operands_of(const untyped_access& a, element type) noexcept {
  operand_words words;
  if (a.what != verb::get) words.value = load_word(type, a.operand);
  if (a.what == verb::compare_exchange) words.desired = load_word(type, a.desired);
  return words;
}

constexpr unsigned unit_of(const array_layout& layout) noexcept {
  return layout.element_bytes == 2 || layout.element_bytes == 4 || layout.element_bytes == 8 ? layout.element_bytes : 0;
}

refusal check_range(std::uint64_t id, std::uint64_t first, std::uint64_t count, const void* memory,
                    const array_layout*& layout) noexcept {
  layout = find(id);
  if (layout == nullptr) return refusal::no_array;
  if (count > layout->size || first > layout->size - count) return refusal::out_of_range;
  if (count != 0 && memory == nullptr) return refusal::no_operand;
  if (const unsigned unit = unit_of(*layout); unit != 0 && reinterpret_cast<std::uintptr_t>(memory) % unit != 0)
    return refusal::unaligned;
  return refusal::none;
}

refusal check_list(std::uint64_t id, const std::uint64_t* indices, std::uint64_t count, const void* values,
                   const array_layout*& layout, std::uint64_t& bad) noexcept {
  if (const refusal r = check_range(id, 0, 0, nullptr, layout); r != refusal::none) return r;
  if (count != 0 && (indices == nullptr || values == nullptr)) return refusal::no_operand;
  if (const unsigned unit = unit_of(*layout); unit != 0 && reinterpret_cast<std::uintptr_t>(values) % unit != 0)
    return refusal::unaligned;
  for (std::uint64_t k = 0; k < count; ++k)
    if (indices[k] >= layout->size) return bad = indices[k], refusal::out_of_range;
  return refusal::none;
}

// Calls word(T) with the unsigned type of the elements' size, or other().
template <class Word, class Other>
auto with_word(const array_layout& layout, const Word& word, const Other& other) {
  switch (layout.element_bytes) {
    case 1: return word(std::uint8_t{});
    case 2: return word(std::uint16_t{});
    case 4: return word(std::uint32_t{});
    case 8: return word(std::uint64_t{});
    default: return other();
  }
}

refusal settled(refusal r, std::uint64_t id, std::uint64_t first, std::uint64_t count) {
  if (r == refusal::none) settle_bulk(*find(id), first, count);
  return r;
}

}  // namespace

const array_layout* find(std::uint64_t id) noexcept { return this_port().context->memory->arrays().find(id); }

refusal run_access(const untyped_access& a) {
  const tsan_ignore_scope ignore;
  port& p = this_port();
  checked_access c;
  if (const refusal r = check(p, a, c); r != refusal::none) return r;
  if (c.how == nullptr)
    return a.what == verb::get ? run_get(a.id, a.index, 1, a.result) : run_put(a.id, a.index, 1, a.operand);
  const operand_words words = operands_of(a, c.type);
  const auto at = c.layout->locate(a.index);
  std::uint64_t old = 0;
  if (std::byte* const base = p.bases[at.node]; base != nullptr) {
    old = c.how->now[attend(p) ? 1 : 0](base + at.offset, words.value, words.desired);
  } else {
    write_command(p, at, a.what, c.type, words.value, words.desired, reserve_reply);
    if (is_fetch(a.what))
      old = fetch(p, at.node);
    else
      settle_node(p, at.node);
  }
  if (is_fetch(a.what)) store_word(c.type, a.result, old);
  return refusal::none;
}

refusal begin_access(const untyped_access& a) {
  const tsan_ignore_scope ignore;
  port& p = this_port();
  checked_access c;
  if (const refusal r = check(p, a, c); r != refusal::none) return r;
  if (c.how == nullptr)
    return a.what == verb::get ? begin_get(a.id, a.index, 1, a.result) : begin_put(a.id, a.index, 1, a.operand);
  if (is_fetch(a.what) && !is_aligned(a.result, c.type)) return refusal::unaligned;
  const operand_words words = operands_of(a, c.type);
  const auto at = c.layout->locate(a.index);
  ++p.async_issued;
  if (std::byte* const base = p.bases[at.node]; base != nullptr) {
    const unsigned plain = attend(p) ? 1 : 0;
    std::byte* const place = base + at.offset;
    if (a.what == verb::compare_exchange) {  // its two values do not fit into an entry of the window
      store_word(c.type, a.result, c.how->now[plain](place, words.value, words.desired));
      return refusal::none;
    }
    __builtin_prefetch(place, 1);
    deferred_access& slot = p.window[p.window_next++ % k_window];
    slot.run(slot.address, slot.value, slot.target);
    slot = {c.how->later[plain], place, words.value, a.result};
    return refusal::none;
  }
  write_command(p, at, a.what, c.type, words.value, words.desired,
                [&](reply_list& replies) { replies.expect(reply_kind_of_type(c.type), a.result); });
  return refusal::none;
}

refusal begin_get(std::uint64_t id, std::uint64_t first, std::uint64_t count, void* target) {
  const array_layout* layout = nullptr;
  const refusal r = check_range(id, first, count, target, layout);
  if (r == refusal::none) bulk_get(*layout, first, target, count, unit_of(*layout));
  return r;
}

refusal begin_put(std::uint64_t id, std::uint64_t first, std::uint64_t count, const void* values) {
  const array_layout* layout = nullptr;
  const refusal r = check_range(id, first, count, values, layout);
  if (r == refusal::none) bulk_put(*layout, first, values, count, unit_of(*layout));
  return r;
}

refusal run_get(std::uint64_t id, std::uint64_t first, std::uint64_t count, void* target) {
  return settled(begin_get(id, first, count, target), id, first, count);
}

refusal run_put(std::uint64_t id, std::uint64_t first, std::uint64_t count, const void* values) {
  return settled(begin_put(id, first, count, values), id, first, count);
}

refusal gather(std::uint64_t id, const std::uint64_t* indices, std::uint64_t count, void* values, std::uint64_t& bad) {
  const array_layout* layout = nullptr;
  if (const refusal r = check_list(id, indices, count, values, layout, bad); r != refusal::none) return r;
  auto* const to = static_cast<std::byte*>(values);
  const bool by_messages = with_word(
      *layout, [&]<class T>(T) { return gather_list<T>(*layout, indices, count, static_cast<T*>(values)); },
      [&] {
        bool messages = false;
        for (std::uint64_t k = 0; k < count; ++k) {
          bulk_get(*layout, indices[k], to + k * layout->element_bytes, 1, 0);
          messages |= this_port().bases[layout->locate(indices[k]).node] == nullptr;
        }
        return messages;
      });
  settle_list(by_messages);
  return refusal::none;
}

refusal scatter(std::uint64_t id, const std::uint64_t* indices, std::uint64_t count, const void* values,
                std::uint64_t& bad) {
  const array_layout* layout = nullptr;
  if (const refusal r = check_list(id, indices, count, values, layout, bad); r != refusal::none) return r;
  const auto* const from = static_cast<const std::byte*>(values);
  const bool by_messages = with_word(
      *layout,
      [&]<class T>(T) { return scatter_list<verb::put, T>(*layout, indices, count, static_cast<const T*>(values)); },
      [&] {
        bool messages = false;
        for (std::uint64_t k = 0; k < count; ++k) {
          bulk_put(*layout, indices[k], from + k * layout->element_bytes, 1, 0);
          messages |= this_port().bases[layout->locate(indices[k]).node] == nullptr;
        }
        return messages;
      });
  settle_list(by_messages);
  return refusal::none;
}

refusal fill(std::uint64_t id, const void* value) {
  const array_layout* const layout = find(id);
  if (layout == nullptr) return refusal::no_array;
  if (value == nullptr) return refusal::no_operand;
  if (layout->element_bytes > k_most_fill_bytes) return refusal::wrong_type;
  detail::fill(*layout, value, unit_of(*layout));
  return refusal::none;
}

refusal copy(std::uint64_t to, std::uint64_t to_first, std::uint64_t from, std::uint64_t from_first,
             std::uint64_t count) {
  const array_layout* const target = find(to);
  const array_layout* const source = find(from);
  if (target == nullptr || source == nullptr) return refusal::no_array;
  if (target->element_bytes != source->element_bytes) return refusal::wrong_type;
  if (count > target->size || to_first > target->size - count) return refusal::out_of_range;
  if (count > source->size || from_first > source->size - count) return refusal::out_of_range;
  detail::copy(*target, to_first, *source, from_first, count, unit_of(*target));
  return refusal::none;
}

}  // namespace shoal::array
