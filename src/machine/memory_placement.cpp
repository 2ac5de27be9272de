// SPDX-License-Identifier: Apache-2.0
#include "machine/memory_placement.hpp"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bitset>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "machine/memory_info.hpp"

namespace shoal::machine {
namespace {

constexpr std::size_t k_word_bits = sizeof(unsigned long) * CHAR_BIT;
constexpr std::size_t k_most_nodes = 1024;

long set_policy(int policy, const unsigned long* mask, std::size_t bits) noexcept {
  return ::syscall(SYS_set_mempolicy, policy, mask, bits);
}

long get_policy(int* policy, unsigned long* mask, std::size_t bits, unsigned long flags) noexcept {
  return ::syscall(SYS_get_mempolicy, policy, mask, bits, nullptr, flags);
}

}  // namespace

std::vector<memory_node> memory_nodes() {
  std::vector<memory_node> found;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/devices/system/node", none)) {
    const std::string name = entry.path().filename();
    memory_node n;
    if (std::sscanf(name.c_str(), "node%u", &n.number) != 1) continue;
    // "Node 0 MemTotal:       16373656 kB"
    std::ifstream in(entry.path() / "meminfo");
    for (std::string line; std::getline(in, line);) {
      char what[32];
      unsigned long long kibibytes = 0;
      if (std::sscanf(line.c_str(), "Node %*u %31s %llu", what, &kibibytes) != 2) continue;
      if (std::string_view(what) == "MemTotal:") n.total_bytes = kibibytes << 10;
      if (std::string_view(what) == "MemFree:") n.free_bytes = kibibytes << 10;
    }
    found.push_back(n);
  }
  std::ranges::sort(found, {}, &memory_node::number);
  return found;
}

std::vector<unsigned> allowed_memory_nodes() {
  std::array<unsigned long, k_most_nodes / k_word_bits> mask{};
  std::vector<unsigned> nodes;
  if (get_policy(nullptr, mask.data(), k_most_nodes, MPOL_F_MEMS_ALLOWED) != 0) return nodes;
  for (unsigned n = 0; n < k_most_nodes; ++n)
    if ((mask[n / k_word_bits] >> n % k_word_bits & 1) != 0) nodes.push_back(n);
  return nodes;
}

memory_placement::memory_placement(const std::vector<unsigned>& nodes) noexcept {
  static_assert(k_mask_words * k_word_bits == k_most_nodes);
  node_mask mask{};
  for (const unsigned n : nodes)
    if (n < k_most_nodes) mask[n / k_word_bits] |= 1UL << n % k_word_bits;
  // The kernel reads one bit less than it is told.
  if (get_policy(&policy_before_, mask_before_.data(), k_most_nodes, 0) != 0 ||
      set_policy(nodes.size() == 1 ? MPOL_PREFERRED : MPOL_INTERLEAVE, mask.data(), k_most_nodes + 1) != 0)
    refused_ = errno;
}

memory_placement::~memory_placement() {
  if (refused_ != 0) return;
  const bool any = std::ranges::any_of(mask_before_, [](unsigned long w) { return w != 0; });
  set_policy(policy_before_, any ? mask_before_.data() : nullptr, any ? k_most_nodes + 1 : 0);
}

unsigned count_memory_nodes(const void* address, std::size_t bytes) noexcept {
  constexpr std::size_t k_samples = 64;
  const std::size_t page = page_size();
  const std::size_t pages = bytes / page + (bytes % page != 0 ? 1 : 0);
  const std::size_t count = std::min(pages, k_samples);
  if (count == 0) return 0;
  const std::uintptr_t first = round_down(reinterpret_cast<std::uintptr_t>(address), page);
  std::array<void*, k_samples> at{};
  std::array<int, k_samples> where{};
  for (std::size_t k = 0; k < count; ++k) at[k] = reinterpret_cast<void*>(first + (pages * k / count) * page);
  if (::syscall(SYS_move_pages, 0, count, at.data(), nullptr, where.data(), 0) != 0) return 0;
  std::bitset<k_most_nodes> found;
  for (std::size_t k = 0; k < count; ++k)
    if (where[k] >= 0 && where[k] < static_cast<int>(k_most_nodes)) found.set(static_cast<std::size_t>(where[k]));
  return static_cast<unsigned>(found.count());
}

}  // namespace shoal::machine
