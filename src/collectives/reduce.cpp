// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <memory>
#include <optional>

#include "collectives/algorithm_table.hpp"
#include "collectives/tree.hpp"

namespace shoal::collectives {
namespace {

// Steps of one reduction. A member is at most once in each.
constexpr std::uint32_t k_fold_step = 0;
constexpr std::uint32_t k_unfold_step = 1;
constexpr std::uint32_t k_root_step = 2;
constexpr std::uint32_t k_first_round_step = 3;
constexpr std::uint32_t k_most_rounds = 32;

// The members that take part in the rounds: 2^k of them. Where the group has more, pairs of neighbours at the beginning
// have combined their elements first, so that the order of ranks stays.
class rounds {
public:
  explicit rounds(const link& of) noexcept
      : rank_(of.rank()), count_(std::bit_floor(of.size())), pairs_(of.size() - count_) {}

  std::uint32_t count() const noexcept { return count_; }
  /// This member gives its elements to its right neighbour, or takes those of its left one.
  bool gives() const noexcept { return rank_ < 2 * pairs_ && rank_ % 2 == 0; }
  bool takes() const noexcept { return rank_ < 2 * pairs_ && rank_ % 2 == 1; }
  /// This member's place in the rounds, unless it gives.
  std::uint32_t place() const noexcept { return rank_ < 2 * pairs_ ? rank_ / 2 : rank_ - pairs_; }
  std::uint32_t rank_of(std::uint32_t place) const noexcept { return place < pairs_ ? 2 * place + 1 : place + pairs_; }

private:
  std::uint32_t rank_;
  std::uint32_t count_;
  std::uint32_t pairs_;
};

// The elements of a member while they are combined.
class vector_of_elements {
public:
  vector_of_elements(std::span<std::byte> data, const reduction& how)
      : data_(data), how_(how), received_(std::make_unique_for_overwrite<std::byte[]>(data.size())) {}

  std::size_t count() const noexcept { return data_.size() / how_.element_bytes; }
  std::span<std::byte> part(std::size_t first, std::size_t end) const noexcept {
    return data_.subspan(first * how_.element_bytes, (end - first) * how_.element_bytes);
  }
  /// Where elements of another member arrive.
  std::span<std::byte> received(std::size_t count) const noexcept {
    return {received_.get(), count * how_.element_bytes};
  }
  /// Combines elements [first, end) with those that were received.
  void combine(std::size_t first, std::size_t end, bool received_are_lower) const {
    std::byte* const mine = data_.data() + first * how_.element_bytes;
    const std::byte* const theirs = received_.get();
    if (received_are_lower)
      how_.combine(how_.context, theirs, mine, mine, end - first);
    else
      how_.combine(how_.context, mine, theirs, mine, end - first);
  }

private:
  std::span<std::byte> data_;
  const reduction& how_;
  std::unique_ptr<std::byte[]> received_;
};

void fold(link& to, const rounds& r, const vector_of_elements& v) {
  const std::size_t count = v.count();
  if (r.gives()) to.send(to.rank() + 1, k_fold_step, v.part(0, count));
  if (r.takes()) {
    to.receive(to.rank() - 1, k_fold_step, v.received(count));
    v.combine(0, count, true);
  }
}

// Part `place` of a vector that is halved once per round: the bit of round 0 says which half.
struct element_range {
  std::size_t first;
  std::size_t end;
  element_range half(bool upper) const noexcept {
    const std::size_t middle = first + (end - first) / 2;
    return upper ? element_range{middle, end} : element_range{first, middle};
  }
};
element_range range_of(std::uint32_t place, std::uint32_t distance_end, std::size_t count) noexcept {
  element_range r{0, count};
  for (std::uint32_t distance = 1; distance < distance_end; distance *= 2) r = r.half((place & distance) != 0);
  return r;
}

// Afterwards each place has its own part of the combined vector. Neighbours come first, so the order of ranks stays.
void halve(link& to, const rounds& r, const vector_of_elements& v) {
  const std::uint32_t place = r.place();
  std::uint32_t step = k_first_round_step;
  for (std::uint32_t distance = 1; distance < r.count(); distance *= 2, ++step) {
    const element_range all = range_of(place, distance, v.count());
    const bool upper = (place & distance) != 0;
    const element_range mine = all.half(upper);
    const element_range theirs = all.half(!upper);
    const std::uint32_t partner = r.rank_of(place ^ distance);
    to.exchange(partner, v.part(theirs.first, theirs.end), partner, v.received(mine.end - mine.first), step);
    v.combine(mine.first, mine.end, upper);
  }
}

// The reverse of halve(): afterwards every place has all parts.
void unite(link& to, const rounds& r, const vector_of_elements& v) {
  const std::uint32_t place = r.place();
  std::uint32_t step = k_first_round_step + k_most_rounds;
  for (std::uint32_t distance = r.count() / 2; distance > 0; distance /= 2, ++step) {
    const element_range all = range_of(place, distance, v.count());
    const bool upper = (place & distance) != 0;
    const element_range mine = all.half(upper);
    const element_range theirs = all.half(!upper);
    const std::uint32_t partner = r.rank_of(place ^ distance);
    to.exchange(partner, v.part(mine.first, mine.end), partner, v.part(theirs.first, theirs.end), step);
  }
}

// Every place sends its whole vector to a partner in each round.
void double_up(link& to, const rounds& r, const vector_of_elements& v) {
  const std::uint32_t place = r.place();
  const std::size_t count = v.count();
  std::uint32_t step = k_first_round_step;
  for (std::uint32_t distance = 1; distance < r.count(); distance *= 2, ++step) {
    const std::uint32_t partner = r.rank_of(place ^ distance);
    to.exchange(partner, v.part(0, count), partner, v.received(count), step);
    v.combine(0, count, (place & distance) != 0);
  }
}

}  // namespace

void all_reduce(link& to, std::span<std::byte> data, const reduction& how) {
  if (to.size() == 1) return;
  if (data.empty()) return barrier(to);
  const vector_of_elements v(data, how);
  const rounds r(to);
  fold(to, r, v);
  if (r.gives()) return to.receive(to.rank() + 1, k_unfold_step, data);
  if (chosen(to, operation::all_reduce, data.size()) == algorithm::rabenseifner) {
    halve(to, r, v);
    unite(to, r, v);
  } else {
    double_up(to, r, v);
  }
  if (r.takes()) to.send(to.rank() - 1, k_unfold_step, data);
}

void reduce(link& to, std::uint32_t root, std::span<std::byte> data, const reduction& how) {
  if (to.size() == 1) return;
  if (data.empty()) return barrier(to);
  const vector_of_elements v(data, how);
  const std::size_t count = v.count();
  if (chosen(to, operation::reduce, data.size()) == algorithm::binomial) {
    // To member 0, so that the places of the tree are the ranks and the order stays; from there to the root.
    const tree up(to, 0);
    up.for_each_child_smallest_first([&](std::uint32_t child) {
      to.receive(child, k_first_round_step, v.received(count));
      v.combine(0, count, false);
    });
    if (!up.is_root()) to.send(up.parent(), k_first_round_step, data);
    if (root == 0) return;
    if (up.is_root()) to.send(root, k_root_step, data);
    if (to.rank() == root) to.receive(0, k_root_step, data);
    return;
  }
  const rounds r(to);
  fold(to, r, v);
  if (!r.gives()) halve(to, r, v);
  if (to.rank() != root) {
    if (r.gives()) return;
    const element_range mine = range_of(r.place(), r.count(), count);
    if (mine.end > mine.first) to.send(root, k_root_step, v.part(mine.first, mine.end));
    return;
  }
  const auto for_each_other_part = [&](const auto& f) {
    for (std::uint32_t place = 0; place < r.count(); ++place) {
      const element_range part = range_of(place, r.count(), count);
      if (r.rank_of(place) != root && part.end > part.first) f(r.rank_of(place), part);
    }
  };
  for_each_other_part(
      [&](std::uint32_t rank, element_range part) { to.expect(rank, k_root_step, v.part(part.first, part.end)); });
  for_each_other_part([&](std::uint32_t rank, element_range) { to.await(rank, k_root_step); });
}

// Hillis and Steele 1986. In each round a member's elements cover twice as many ranks, up to its own.
void scan(link& to, std::span<std::byte> data, const reduction& how) {
  if (data.empty()) return barrier(to);
  const vector_of_elements v(data, how);
  const std::size_t count = v.count();
  std::uint32_t step = 0;
  for (std::uint64_t distance = 1; distance < to.size(); distance *= 2, ++step) {
    const auto far = static_cast<std::uint32_t>(distance);
    const bool has_left = to.rank() >= far;
    if (has_left) to.expect(to.rank() - far, step, v.received(count));
    if (to.rank() + distance < to.size()) to.send(to.rank() + far, step, data);
    if (!has_left) continue;
    to.await(to.rank() - far, step);
    v.combine(0, count, true);
  }
}

void exscan(link& to, std::span<std::byte> data, const reduction& how) {
  if (to.size() == 1) return;
  if (data.empty()) return barrier(to);
  // `block` covers ranks up to this one, `data` those before it.
  const auto memory = std::make_unique_for_overwrite<std::byte[]>(data.size());
  const std::span<std::byte> block(memory.get(), data.size());
  std::ranges::copy(data, block.begin());
  const vector_of_elements v(block, how);
  const std::size_t count = v.count();
  std::uint32_t step = 0;
  for (std::uint64_t distance = 1; distance < to.size(); distance *= 2, ++step) {
    const auto far = static_cast<std::uint32_t>(distance);
    const bool has_left = to.rank() >= far;
    if (has_left) to.expect(to.rank() - far, step, v.received(count));
    if (to.rank() + distance < to.size()) to.send(to.rank() + far, step, block);
    if (!has_left) continue;
    to.await(to.rank() - far, step);
    const std::span<const std::byte> lower = v.received(count);
    if (distance == 1)
      std::ranges::copy(lower, data.begin());
    else
      how.combine(how.context, lower.data(), data.data(), data.data(), count);
    v.combine(0, count, true);
  }
}

}  // namespace shoal::collectives
