// SPDX-License-Identifier: Apache-2.0
#include "shoal/detail/line_cache.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "array/node_memory.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/detail/command.hpp"
#include "shoal/detail/tsan_ignore.hpp"
#include "shoal/detail/worker.hpp"

namespace shoal::detail {
namespace {

constexpr std::uint64_t k_most_fetches = 4096;
constexpr std::uint64_t k_empty = ~std::uint64_t{0};
constexpr std::size_t k_alignment = 64;

}  // namespace

declared_read_only::declared_read_only(const array_layout& layout) noexcept
    : slot_(layout.slot), exists_(layout.size > 0) {
  if (exists_) this_port().context->memory->arrays().add_reader(slot_);
}
declared_read_only::~declared_read_only() {
  if (exists_) this_port().context->memory->arrays().remove_reader(slot_);
}

// Who wants an element of a line that is on its way.
struct line_cache::waiter {
  void* target = nullptr;
  suspended* task = nullptr;  // nullptr: of begin()
  waiter* next = nullptr;
  std::uint32_t element = 0;
  std::uint32_t bytes = 0;
};

// A line on its way keeps the number of its fetch.
struct alignas(64) line_cache::fetch : reply_receiver {
  line_cache* of = nullptr;
  std::uint64_t* tag = nullptr;
  waiter first;  // who asked for the line, and those who joined
  fetch* next_free = nullptr;
};

line_cache::line_cache(std::uint64_t lines, std::uint32_t line_bytes) : line_bytes_(line_bytes) {
  const std::uint64_t sets = std::bit_floor(std::max<std::uint64_t>(lines / k_ways, 2));
  set_shift_ = 64 - static_cast<unsigned>(std::countr_zero(sets));
  set_bytes_ = (k_ways * (sizeof(std::uint64_t) + line_bytes) + k_alignment - 1) / k_alignment * k_alignment;
  memory_ = std::make_unique<std::byte[]>(sets * set_bytes_ + k_alignment);
  sets_ = memory_.get() + (k_alignment - reinterpret_cast<std::uintptr_t>(memory_.get()) % k_alignment);
  for (std::uint64_t s = 0; s < sets; ++s)
    std::fill_n(reinterpret_cast<std::uint64_t*>(sets_ + s * set_bytes_), k_ways, k_empty);
  const std::uint64_t fetches = std::min(k_ways * sets, k_most_fetches);
  fetches_ = std::make_unique<fetch[]>(fetches);
  waiters_ = std::make_unique<waiter[]>(fetches);
  for (std::uint64_t k = fetches; k-- > 0;) {
    fetches_[k].arrived = arrived;
    fetches_[k].of = this;
    fetches_[k].next_free = std::exchange(free_fetches_, &fetches_[k]);
    waiters_[k].next = std::exchange(free_waiters_, &waiters_[k]);
  }
}

line_cache::~line_cache() {
  SHOAL_ASSERT(on_their_way_ == 0, "a read_cache is destroyed while reads through it are in flight");
}

// The place of a line that is not on its way, and was not read since this looked at it last; k_ways: all are on their
// way.
std::uint64_t line_cache::replaced(std::uint64_t* tags) noexcept {
  for (std::uint64_t way = 0; way < k_ways; ++way)
    if (tags[way] == k_empty) return way;
  for (std::uint64_t looks = 0; looks < 2 * k_ways; ++looks) {
    const std::uint64_t way = ++hand_ % k_ways;
    if ((tags[way] & k_on_its_way) != 0) continue;
    if ((tags[way] & k_read_lately) == 0) return way;
    tags[way] &= ~k_read_lately;
  }
  return k_ways;
}

line_cache::state line_cache::expect(const wanted& w, void* target, suspended* task, waiter* own) {
  port& p = this_port();
  // First the room: while this waits for it, others use the cache.
  stream& s = room_for(p, w.at.node, 2);
  if (const std::byte* const line = find(w.line); line != nullptr) {
    std::memcpy(target, line + w.element, w.element_bytes);
    return state::here;
  }
  std::uint64_t* const tags = tags_of(w.line);
  const std::uint64_t on_its_way = w.line << 2 | k_on_its_way;
  if (const auto same = static_cast<std::uint64_t>(std::find(tags, tags + k_ways, on_its_way) - tags); same < k_ways) {
    waiter* const me = own != nullptr ? own : free_waiters_;
    if (me == nullptr) {
      ++counts_.bypassed;
      return state::refused;
    }
    if (own == nullptr) free_waiters_ = me->next;
    ++counts_.merged;
    std::uint64_t number = 0;
    std::memcpy(&number, line_of(tags, same), sizeof(number));
    *me = {target, task, std::exchange(fetches_[number].first.next, me), w.element, w.element_bytes};
    return state::expected;
  }
  const std::uint64_t way = replaced(tags);
  if (way == k_ways || free_fetches_ == nullptr) {
    ++counts_.bypassed;
    return state::refused;
  }
  reply_list& replies = p.peers[w.at.node].replies;
  replies.reserve(1);  // may throw: nothing has changed
  ++counts_.misses;
  ++on_their_way_;
  fetch& f = *std::exchange(free_fetches_, free_fetches_->next_free);
  f.words = words_for(w.bytes);
  f.tag = tags + way;
  f.first = {target, task, nullptr, w.element, w.element_bytes};
  const auto number = static_cast<std::uint64_t>(&f - fetches_.get());
  std::memcpy(line_of(tags, way), &number, sizeof(number));
  tags[way] = on_its_way;
  if (w.code != 0 && w.bytes == w.element_bytes) {
    *s.cursor++ = header(w.code, 0, w.at.offset);
  } else {
    s.cursor[0] = header(static_cast<std::uint8_t>(other_operation::bulk_get), w.unit, w.at.offset);
    s.cursor[1] = w.bytes;
    s.cursor += 2;
  }
  replies.push(reply_kind::called, static_cast<reply_receiver*>(&f));
  return state::expected;
}

void line_cache::arrived(reply_receiver& self, const std::uint64_t* words) noexcept {
  const tsan_ignore_scope ignore;
  fetch& f = static_cast<fetch&>(self);
  line_cache& c = *f.of;
  const std::uint64_t in_set = reinterpret_cast<std::uintptr_t>(f.tag) % k_alignment;
  std::byte* const line = c.line_of(f.tag - in_set / sizeof(std::uint64_t), in_set / sizeof(std::uint64_t));
  std::memcpy(line, words, f.words * sizeof(std::uint64_t));  // lines have whole words
  *f.tag &= ~k_on_its_way;
  for (waiter* w = &f.first; w != nullptr;) {
    waiter* const next = w->next;
    std::memcpy(w->target, line + w->element, w->bytes);
    if (w->task != nullptr)
      wake(w->task);
    else if (w != &f.first)
      w->next = std::exchange(c.free_waiters_, w);
    w = next;
  }
  f.next_free = std::exchange(c.free_fetches_, &f);
  --c.on_their_way_;
}

bool line_cache::read(const wanted& w, void* target) {
  waiter me;
  switch (expect(w, target, this_task(), &me)) {
    case state::here: return true;
    case state::refused: return false;
    case state::expected: break;
  }
  port& p = this_port();
  if (!p.peers[w.at.node].awaited) await_buffer(p, w.at.node);
  leave(wait_kind::reply, numbered(w.at.node));
  return true;
}

bool line_cache::begin(const wanted& w, void* target) {
  ++this_port().async_issued;
  return expect(w, target, nullptr, nullptr) != state::refused;
}

}  // namespace shoal::detail
