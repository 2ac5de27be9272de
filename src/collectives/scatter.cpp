// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "collectives/algorithm_table.hpp"
#include "collectives/block.hpp"
#include "collectives/tree.hpp"

namespace shoal::collectives {
namespace {

constexpr std::uint32_t k_sizes_down = 0;
constexpr std::uint32_t k_blocks_down = 1;
constexpr std::uint32_t k_straight_down = 2;

bool comes_straight(const link& to, std::size_t bytes) noexcept {
  return chosen(to, operation::scatter, bytes) == algorithm::straight;
}

// What a member knows of the places of its subtree, from its own on.
class subtree {
public:
  explicit subtree(const tree& t) : t_(t), sizes_(t.end_of(t.place()) - t.place()) {}

  std::uint32_t places() const noexcept { return static_cast<std::uint32_t>(sizes_.size()); }
  std::span<std::uint64_t> sizes() noexcept { return sizes_; }
  bool is_straight(const link& to, std::uint32_t i) const noexcept { return comes_straight(to, sizes_[i]); }
  /// When the sizes are known: where the short blocks lie in memory for them.
  void find_begins(const link& to) {
    begins_.assign(sizes_.size() + 1, 0);
    for (std::uint32_t i = 0; i < places(); ++i) begins_[i + 1] = begins_[i] + (is_straight(to, i) ? 0 : sizes_[i]);
  }
  std::size_t begin(std::uint32_t i) const noexcept { return begins_[i]; }
  std::size_t bytes() const noexcept { return begins_.back(); }

  // To each child what belongs to its subtree.
  void send_sizes(link& to) const {
    t_.for_each_child_largest_first([&](std::uint32_t child) {
      const auto of_child = std::span(sizes_).subspan(child - t_.place(), t_.end_of(child) - child);
      to.send(t_.rank_of(child), k_sizes_down, std::as_bytes(of_child));
    });
  }
  void send_short(link& to, std::span<const std::byte> blocks) const {
    t_.for_each_child_largest_first([&](std::uint32_t child) {
      const std::size_t first = begins_[child - t_.place()];
      const std::size_t end = begins_[t_.end_of(child) - t_.place()];
      if (end > first) to.send(t_.rank_of(child), k_blocks_down, blocks.subspan(first, end - first));
    });
  }

private:
  const tree& t_;
  std::vector<std::uint64_t> sizes_;
  std::vector<std::size_t> begins_;
};

void give_out(link& to, const tree& t, block_bounds bounds, std::span<const std::byte> all) {
  subtree s(t);
  for (std::uint32_t p = 0; p < s.places(); ++p) s.sizes()[p] = block(all, bounds, t.rank_of(p)).size();
  s.sizes()[0] = 0;  // the root's own stays
  s.find_begins(to);
  s.send_sizes(to);
  const auto blocks = std::make_unique_for_overwrite<std::byte[]>(s.bytes());
  for (std::uint32_t p = 1; p < s.places(); ++p)
    if (!s.is_straight(to, p))
      copy(block(all, bounds, t.rank_of(p)), std::span(blocks.get(), s.bytes()).subspan(s.begin(p)));
  s.send_short(to, {blocks.get(), s.bytes()});
  for (std::uint32_t p = 1; p < s.places(); ++p)
    if (s.is_straight(to, p)) to.send(t.rank_of(p), k_straight_down, block(all, bounds, t.rank_of(p)));
}

}  // namespace

// Each member of the tree first learns the sizes of the blocks of its subtree.
void scatter_blocks(link& to, std::uint32_t root, block_bounds bounds, std::span<const std::byte> all,
                    const std::function<std::span<std::byte>(std::size_t)>& room) {
  const tree t(to, root);
  if (t.is_root()) {
    const auto mine = block(all, bounds, root);
    copy(mine, room(mine.size()));
    return give_out(to, t, bounds, all);
  }
  subtree s(t);
  to.receive(t.parent(), k_sizes_down, std::as_writable_bytes(s.sizes()));
  s.send_sizes(to);
  s.find_begins(to);
  const std::span<std::byte> mine = room(s.sizes()[0]);
  const bool straight = s.is_straight(to, 0);
  if (straight) to.expect(root, k_straight_down, mine);
  std::unique_ptr<std::byte[]> memory;
  std::span<std::byte> blocks = mine;
  if (s.places() > 1) {
    memory = std::make_unique_for_overwrite<std::byte[]>(s.bytes());
    blocks = {memory.get(), s.bytes()};
  }
  if (s.bytes() > 0) to.receive(t.parent(), k_blocks_down, blocks.first(s.bytes()));
  s.send_short(to, blocks);
  if (straight)
    to.await(root, k_straight_down);
  else if (s.places() > 1)
    copy(blocks.first(mine.size()), mine);
}

}  // namespace shoal::collectives
