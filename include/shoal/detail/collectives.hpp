// SPDX-License-Identifier: Apache-2.0
// Collective operations of a group, over a seam: a link sends bytes to a member and receives bytes from one. Teams have
// one kind of link (detail/team_call.hpp), and other groups may bring their own.
// Who may call: every member of the group calls the same function with fitting arguments, each over its own link. The
// functions return when this member's part is done; they wait where the link waits.
// Guarantees: reductions combine in ascending order of ranks, with the same association on all members. O(log n)
// messages per member, except where a long block goes from every member to every other one, or to the root, and in rings.
// Which algorithm is used says a table (src/collectives/algorithm_table.hpp). With no
// data they are barriers, so that no member runs ahead without bound. Temporary memory: at most three times the data.
// Papers: Hensgen, Finkel, Manber 1988 (barrier); Bruck et al. 1997 (gather and exchange); Thakur, Rabenseifner, Gropp
// 2005 (long vectors). Shown by tests/unit/collectives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace shoal::collectives {

class algorithm_table;

/// A member's connection to the others for one collective operation. A member sends to a member at most once per step.
class link {
public:
  /// `algorithms`: which ones the operations use, the same for all members; nullptr: the built-in choice.
  link(std::uint32_t rank, std::uint32_t size, const algorithm_table* algorithms = nullptr) noexcept
      : rank_(rank), size_(size), algorithms_(algorithms) {}
  link(const link&) = default;
  link& operator=(const link&) = delete;
  virtual ~link() = default;

  std::uint32_t rank() const noexcept { return rank_; }
  std::uint32_t size() const noexcept { return size_; }
  const algorithm_table* algorithms() const noexcept { return algorithms_; }

  /// Begins to receive what member `from` sends in `step`: exactly target.size() bytes. `target` must live until
  /// await(from, step) returns, or until the link is destroyed. Does not wait.
  virtual void expect(std::uint32_t from, std::uint32_t step, std::span<std::byte> target) = 0;
  /// Waits until what was expected has arrived.
  virtual void await(std::uint32_t from, std::uint32_t step) = 0;
  /// Returns when `bytes` may be changed. May wait until the receiver expects them.
  virtual void send(std::uint32_t to, std::uint32_t step, std::span<const std::byte> bytes) = 0;

  void receive(std::uint32_t from, std::uint32_t step, std::span<std::byte> target) {
    expect(from, step, target);
    await(from, step);
  }
  /// Sends and receives at the same time.
  void exchange(std::uint32_t to, std::span<const std::byte> bytes, std::uint32_t from, std::span<std::byte> target,
                std::uint32_t step) {
    expect(from, step, target);
    send(to, step, bytes);
    await(from, step);
  }

protected:
  std::uint32_t rank_;
  std::uint32_t size_;
  const algorithm_table* algorithms_;
};

/// The same connection for a second collective operation within one: its steps do not meet those of the first.
class second_phase final : public link {
public:
  explicit second_phase(link& first) noexcept : link(first.rank(), first.size(), first.algorithms()), first_(first) {}

  void expect(std::uint32_t from, std::uint32_t step, std::span<std::byte> target) override {
    first_.expect(from, step + k_steps, target);
  }
  void await(std::uint32_t from, std::uint32_t step) override { first_.await(from, step + k_steps); }
  void send(std::uint32_t to, std::uint32_t step, std::span<const std::byte> bytes) override {
    first_.send(to, step + k_steps, bytes);
  }

private:
  static constexpr std::uint32_t k_steps = 128;  // more than any operation has
  link& first_;
};

/// Where each member's block lies in a buffer of all: member r has bytes [begins[r], begins[r + 1]).
using block_bounds = std::span<const std::size_t>;

/// How elements are combined: into[i] = lower[i] + upper[i] for `count` elements, where `lower` is of lower ranks.
/// `into` may be `lower` or `upper`. Elements are aligned as memory of operator new is.
struct reduction {
  void (*combine)(const void* context, const std::byte* lower, const std::byte* upper, std::byte* into,
                  std::size_t count);
  const void* context;
  std::size_t element_bytes;
};

void barrier(link& to);
/// Every member has the bytes of `root` afterwards.
void broadcast(link& to, std::uint32_t root, std::span<std::byte> data);
/// `root` has the combined elements afterwards; the data of the other members is used as temporary memory.
void reduce(link& to, std::uint32_t root, std::span<std::byte> data, const reduction& how);
/// Every member has the combined elements afterwards.
void all_reduce(link& to, std::span<std::byte> data, const reduction& how);
/// Member r has block r of the combined elements afterwards, in its place in `data`; the rest of `data` is used as
/// temporary memory. `bounds`: in bytes, the same on all members, between elements.
void reduce_scatter(link& to, std::span<std::byte> data, block_bounds bounds, const reduction& how);
/// Member r has the combination of members 0 ... r afterwards.
void scan(link& to, std::span<std::byte> data, const reduction& how);
/// Member r has the combination of members 0 ... r - 1 afterwards; the data of member 0 stays as it is.
void exscan(link& to, std::span<std::byte> data, const reduction& how);

/// `root` receives the blocks of all members, of the same size, in order of ranks. `all`: on root only.
void gather(link& to, std::uint32_t root, std::span<const std::byte> mine, std::span<std::byte> all);
/// The same for blocks of any sizes. On root, room(bounds) is called once and says where they go.
void gather_blocks(link& to, std::uint32_t root, std::span<const std::byte> mine,
                   const std::function<std::span<std::byte>(block_bounds)>& room);
/// Each member receives its block of `all`; `bounds` and `all` on root only. On every member, room(bytes) is called once
/// and says where its block goes.
void scatter_blocks(link& to, std::uint32_t root, block_bounds bounds, std::span<const std::byte> all,
                    const std::function<std::span<std::byte>(std::size_t)>& room);
/// Every member has all blocks afterwards; its own is in its place in `all` before.
void all_gather(link& to, block_bounds bounds, std::span<std::byte> all);
/// Member r receives block r of each member, in order of ranks; all blocks have the same size.
void all_to_all(link& to, std::span<const std::byte> mine, std::span<std::byte> received);
/// The same for blocks of any sizes.
void all_to_all_blocks(link& to, std::span<const std::byte> mine, block_bounds sent, std::span<std::byte> received,
                       block_bounds taken);

/// The bounds of blocks of these sizes.
std::vector<std::size_t> bounds_of(std::span<const std::uint64_t> bytes);
/// The bounds of n blocks of the same size.
std::vector<std::size_t> equal_bounds(std::uint32_t n, std::size_t bytes);

}  // namespace shoal::collectives
