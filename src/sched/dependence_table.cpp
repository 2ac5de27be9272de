// SPDX-License-Identifier: Apache-2.0
#include "sched/dependence_table.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "shoal/detail/assert.hpp"

namespace shoal::sched {

// Four neighbours share a cache line, and lines are scattered: regions named one after the other are mostly side by
// side. What lies below the granule differs only where regions are of other sizes.
inline std::size_t dependence_table::home(std::uintptr_t begin) const noexcept {
  constexpr std::uintptr_t k_multiplier = 0x9e3779b97f4a7c15U;
  constexpr std::uintptr_t k_other_multiplier = 0xd6e8feb86659fd93U;
  const std::uintptr_t granule = begin >> granule_bits_;
  const std::uintptr_t below = begin - (granule << granule_bits_);
  return (((granule / k_line) * k_multiplier + below * k_other_multiplier) >> shift_) * k_line + granule % k_line;
}

// Where it is, or belongs.
inline dependence_table::entry& dependence_table::find(std::uintptr_t begin) noexcept {
  for (std::size_t i = home(begin);; i = (i + 1) & mask_) {
    entry& e = hash_[i];
    if (e.at == nullptr || e.begin == begin) return e;
  }
}

inline void dependence_table::add_reader(segment& s, const flow_task& t, task_list& predecessors) {
  const task_reference r = t.reference;
  if (s.readers < segment::k_readers) [[likely]] {
    if (s.readers > 0 && s.reader[s.readers - 1] == r) return;
    s.reader[s.readers++] = r;
    return;
  }
  add_further_reader(s, t, predecessors);
}

inline void dependence_table::touch(segment& s, flow_task& t, access_mode mode, task_list& predecessors) {
  if (mode == access_mode::in) {
    add_predecessor(s.writer, t, predecessors);
    add_reader(s, t, predecessors);
    return;
  }
  if (mode > access_mode::in) [[unlikely]]
    return join_group(s, t, predecessors);
  // Whoever has read since has waited for the writer.
  if (s.readers == 0) {
    add_predecessor(s.writer, t, predecessors);
  } else {
    for (std::uint32_t i = 0; i < s.readers; ++i) add_predecessor(s.reader[i], t, predecessors);
    if (s.more) [[unlikely]]
      end_sets(*s.more, t, predecessors);
    s.readers = 0;
  }
  s.writer = t.reference;
}

// The segment of a region of which nothing is known yet; nullptr if something is.
inline segment* dependence_table::append(std::uintptr_t begin, std::uintptr_t end, entry& empty) {
  const segment_index::place where = index_.around(begin);
  const segment* const before = where.at_or_before();
  const segment* const after = where.after();
  if ((before != nullptr && before->end > begin) || (after != nullptr && after->begin < end)) return nullptr;
  return &make(where, begin, end, empty);
}

inline void dependence_table::register_access(flow_task& t, const access& a, task_list& predecessors) {
  auto begin = reinterpret_cast<std::uintptr_t>(a.where.begin);
  const std::size_t bytes = a.where.row_bytes;
  if (bytes == 0) return;
  SHOAL_ASSERT(begin + bytes > begin, "a declared region goes over the end of the address space; check its size");
  if (segments_ == 0) granule_bits_ = static_cast<unsigned>(std::bit_width(bytes)) - 1;
  for (std::size_t row = 0; row < a.where.rows; ++row) {
    if (segments_ >= most_segments_) [[unlikely]]
      make_way();
    entry& e = find(begin);
    segment* s = e.at;
    if (s == nullptr) s = append(begin, begin + bytes, e);
    if (s != nullptr && s->end == begin + bytes) [[likely]]
      touch(*s, t, a.mode, predecessors);
    else
      walk(begin, begin + bytes, t, a.mode, predecessors);
    begin += static_cast<std::uintptr_t>(a.where.stride_bytes);
  }
}

void dependence_table::register_accesses(flow_task& t, std::span<const access> declared, task_list& predecessors) {
  for (const access& a : declared) register_access(t, a, predecessors);
}

// A region that is no segment: goes through what is known of it and makes segments of the rest.
void dependence_table::walk(std::uintptr_t begin, std::uintptr_t end, flow_task& t, access_mode mode,
                            task_list& predecessors) {
  while (begin < end) {
    if (segments_ >= most_segments_) make_way();
    const segment_index::place where = index_.around(begin);
    segment* s = where.at_or_before();
    if (s != nullptr && s->end > begin) {
      if (s->begin < begin) {
        split(*s, begin);
        continue;
      }
      if (s->end > end) split(*s, end);
    } else {
      const segment* const after = where.after();
      s = &make(where, begin, after != nullptr ? std::min(end, after->begin) : end, find(begin));
    }
    touch(*s, t, mode, predecessors);
    begin = s->end;
  }
}

inline segment& dependence_table::new_segment() {
  if (fresh_ == fresh_end_) [[unlikely]] {
    if (!free_.empty()) {
      segment* const s = free_.back();
      free_.pop_back();
      return *s;
    }
    if (chunks_begun_ == chunks_.size()) chunks_.push_back(std::make_unique<segment[]>(k_chunk));
    fresh_ = chunks_[chunks_begun_++].get();
    fresh_end_ = fresh_ + k_chunk;
  }
  return *fresh_++;
}

inline segment& dependence_table::make(segment_index::place where, std::uintptr_t begin, std::uintptr_t end,
                                       entry& empty) {
  segment& s = new_segment();
  s.begin = begin;
  s.end = end;
  s.writer = 0;
  s.readers = 0;
  if (s.more) [[unlikely]]
    s.more->clear();
  index_.insert(where, begin, s);
  empty = {begin, &s};
  s.slot = static_cast<std::uint32_t>(&empty - hash_.data());
  ++segments_;
  return s;
}

void dependence_table::split(segment& s, std::uintptr_t at) {
  segment& right = make(index_.around(at), at, s.end, find(at));
  s.end = at;
  right.writer = s.writer;
  right.readers = s.readers;
  std::copy_n(s.reader, segment::k_readers, right.reader);
  if (s.more && !s.more->empty()) {
    if (!right.more) right.more = std::make_unique<segment_sets>();
    *right.more = *s.more;
    if (right.more->excludes != nullptr) ++right.more->excludes->segments;
  }
}

void dependence_table::resize_hash(std::size_t capacity) {
  std::vector<entry>(capacity).swap(hash_);
  mask_ = capacity - 1;
  shift_ = 64 - static_cast<unsigned>(std::countr_zero(capacity / k_line));
  index_.for_each([this](segment& s) { hash(s); });
}

void dependence_table::hash(segment& s) noexcept {
  entry& e = find(s.begin);
  e = {s.begin, &s};
  s.slot = static_cast<std::uint32_t>(&e - hash_.data());
}

// Called with room left, so that each time a few segments may be made at once.
[[gnu::noinline]] void dependence_table::make_way() {
  if (segments_ >= sweep_at_) sweep();
  if (4 * segments_ >= 3 * hash_.size()) resize_hash(std::max(k_least_capacity, 2 * hash_.size()));
  most_segments_ = std::min(sweep_at_, hash_.size() / 4 * 3);
}

bool dependence_table::matters(segment& s) const noexcept {
  const auto alive = [this](task_reference r) { return r != 0 && tasks_.find(r) != nullptr; };
  return alive(s.writer) || std::any_of(s.reader, s.reader + s.readers, alive) ||
         (s.more && (std::any_of(s.more->readers.begin(), s.more->readers.end(), alive) ||
                     std::any_of(s.more->members.begin(), s.more->members.end(), alive)));
}

inline void dependence_table::drop_exclusion(segment& s) noexcept {
  if (s.more && s.more->excludes != nullptr) exclusions_.put(*std::exchange(s.more->excludes, nullptr));
}

// Keeps what a new task may have to wait for, and waits with the next sweep until there is twice as much.
void dependence_table::sweep() {
  kept_.clear();
  kept_.reserve(segments_);
  free_.reserve(free_.size() + segments_);
  index_.for_each([this](segment& s) {
    const bool kept = matters(s);
    (kept ? kept_ : free_).push_back(&s);
    if (!kept) drop_exclusion(s);
  });
  index_.clear();
  std::memset(hash_.data(), 0, hash_.size() * sizeof(entry));
  segments_ = kept_.size();
  for (segment* s : kept_) {
    index_.insert(index_.around(s->begin), s->begin, *s);
    hash(*s);
  }
  sweep_at_ = std::max(k_least_sweep, 2 * segments_);
}

void dependence_table::clear() noexcept {
  if (exclusions_.in_use()) [[unlikely]]
    index_.for_each([this](segment& s) { drop_exclusion(s); });
  if (segments_ * 16 > hash_.size())
    std::memset(hash_.data(), 0, hash_.size() * sizeof(entry));
  else
    index_.for_each([this](const segment& s) { hash_[s.slot].at = nullptr; });
  index_.clear();
  free_.clear();
  chunks_begun_ = 0;
  fresh_ = fresh_end_ = nullptr;
  segments_ = 0;
  sweep_at_ = k_least_sweep;
  most_segments_ = std::min(sweep_at_, hash_.size() / 4 * 3);
}

}  // namespace shoal::sched
