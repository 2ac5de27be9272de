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
  /// Whether a place has taken the elements of its left neighbour.
  bool has_pair(std::uint32_t place) const noexcept { return place < pairs_; }
  /// The number of a place or part with its bits in reverse.
  std::uint32_t reversed(std::uint32_t place) const noexcept {
    std::uint32_t bits = 0;
    for (std::uint32_t distance = 1; distance < count_; distance *= 2) bits = bits * 2 + ((place & distance) != 0);
    return bits;
  }

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

// How a vector is cut into parts, one for each place: where part i begins, in elements.
struct cuts {
  std::size_t count;  // elements
  std::uint32_t parts;
  std::span<const std::size_t> begins{};  // empty: equal parts
  std::size_t begin(std::uint32_t i) const noexcept {
    return begins.empty() ? static_cast<std::size_t>(std::uint64_t{count} * i / parts) : begins[i];
  }
};

// Some of its parts. They are halved once per round: the bit of round 0 says which half.
struct part_range {
  std::uint32_t first;
  std::uint32_t end;
  part_range half(bool upper) const noexcept {
    const std::uint32_t middle = first + (end - first) / 2;
    return upper ? part_range{middle, end} : part_range{first, middle};
  }
};
part_range parts_of(std::uint32_t place, std::uint32_t distance_end, const cuts& c) noexcept {
  part_range r{0, c.parts};
  for (std::uint32_t distance = 1; distance < distance_end; distance *= 2) r = r.half((place & distance) != 0);
  return r;
}

struct element_range {
  std::size_t first;
  std::size_t end;
};
element_range elements_of(const part_range& r, const cuts& c) noexcept { return {c.begin(r.first), c.begin(r.end)}; }
// What a place has when all rounds are over.
element_range range_of(std::uint32_t place, const cuts& c) noexcept {
  return elements_of(parts_of(place, c.parts, c), c);
}

// Afterwards each place has its own part of the combined vector. Neighbours come first, so the order of ranks stays.
void halve(link& to, const rounds& r, const vector_of_elements& v, const cuts& c) {
  const std::uint32_t place = r.place();
  std::uint32_t step = k_first_round_step;
  for (std::uint32_t distance = 1; distance < r.count(); distance *= 2, ++step) {
    const part_range all = parts_of(place, distance, c);
    const bool upper = (place & distance) != 0;
    const element_range mine = elements_of(all.half(upper), c);
    const element_range theirs = elements_of(all.half(!upper), c);
    const std::uint32_t partner = r.rank_of(place ^ distance);
    to.exchange(partner, v.part(theirs.first, theirs.end), partner, v.received(mine.end - mine.first), step);
    v.combine(mine.first, mine.end, upper);
  }
}

// The reverse of halve(): afterwards every place has all parts.
void unite(link& to, const rounds& r, const vector_of_elements& v, const cuts& c) {
  const std::uint32_t place = r.place();
  std::uint32_t step = k_first_round_step + k_most_rounds;
  for (std::uint32_t distance = r.count() / 2; distance > 0; distance /= 2, ++step) {
    const part_range all = parts_of(place, distance, c);
    const bool upper = (place & distance) != 0;
    const element_range mine = elements_of(all.half(upper), c);
    const element_range theirs = elements_of(all.half(!upper), c);
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
    const cuts equal{v.count(), r.count()};
    halve(to, r, v, equal);
    unite(to, r, v, equal);
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
  const cuts equal{count, r.count()};
  fold(to, r, v);
  if (!r.gives()) halve(to, r, v, equal);
  if (to.rank() != root) {
    if (r.gives()) return;
    const element_range mine = range_of(r.place(), equal);
    if (mine.end > mine.first) to.send(root, k_root_step, v.part(mine.first, mine.end));
    return;
  }
  const auto for_each_other_part = [&](const auto& f) {
    for (std::uint32_t place = 0; place < r.count(); ++place) {
      const element_range part = range_of(place, equal);
      if (r.rank_of(place) != root && part.end > part.first) f(r.rank_of(place), part);
    }
  };
  for_each_other_part(
      [&](std::uint32_t rank, element_range part) { to.expect(rank, k_root_step, v.part(part.first, part.end)); });
  for_each_other_part([&](std::uint32_t rank, element_range) { to.await(rank, k_root_step); });
}

// Rounds of halving leave a place the part whose number is the place's with its bits in reverse, so the blocks are put in
// that order first (Traeff 2005).
void reduce_scatter(link& to, std::span<std::byte> data, block_bounds bounds, const reduction& how) {
  if (to.size() == 1) return;
  if (data.empty()) return barrier(to);
  const rounds r(to);
  // Of a place's own rank, and of the one that has given it its elements.
  const auto blocks_of = [&](std::uint32_t place) {
    const std::uint32_t last = r.rank_of(place);
    const std::uint32_t first = last - (r.has_pair(place) ? 1 : 0);
    return data.subspan(bounds[first], bounds[last + 1] - bounds[first]);
  };
  const auto memory = std::make_unique_for_overwrite<std::byte[]>(data.size());
  const std::span<std::byte> ordered(memory.get(), data.size());
  std::vector<std::size_t> begins(r.count() + 1, 0);
  for (std::uint32_t part = 0; part < r.count(); ++part) {
    const auto blocks = blocks_of(r.reversed(part));
    std::ranges::copy(blocks, ordered.begin() + static_cast<std::ptrdiff_t>(begins[part] * how.element_bytes));
    begins[part + 1] = begins[part] + blocks.size() / how.element_bytes;
  }
  const vector_of_elements v(ordered, how);
  const auto own = data.subspan(bounds[to.rank()], bounds[to.rank() + 1] - bounds[to.rank()]);
  fold(to, r, v);
  if (r.gives()) {
    if (!own.empty()) to.receive(to.rank() + 1, k_unfold_step, own);
    return;
  }
  const cuts c{v.count(), r.count(), begins};
  halve(to, r, v, c);
  const element_range mine = range_of(r.place(), c);
  const std::span<std::byte> combined = v.part(mine.first, mine.end);
  const std::size_t given = combined.size() - own.size();  // the block of the left neighbour is in front
  if (given > 0) to.send(to.rank() - 1, k_unfold_step, combined.first(given));
  std::ranges::copy(combined.subspan(given), own.begin());
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
