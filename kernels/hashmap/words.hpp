// SPDX-License-Identifier: Apache-2.0
// Pools of words that are the same on all nodes: generated from a seed, or lines of a file that one node has read.
//   const word_pool made(1'000'000, seed);     const word_pool read(lines_of("/usr/share/dict/words"));
//   std::string word = made.ref().at(i);       on any node; the handle is trivially copyable
// Who may call: tasks; construction switches, at() does not. Memory of a pool from a file: all lines on each node.
// Errors: lines_of() throws shoal::error for a file that cannot be read, is empty or has a line that is too long.
// Test: tests/cluster/kernels_test.cpp, tests/unit/tools/kernels_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shoal/collectives.hpp"
#include "shoal/node_local.hpp"
#include "shoal/random.hpp"

namespace shoal::kernels::hashmap {

/// Generated word i: 6 to 20 letters. Few words of a pool are equal.
std::string generated_word(std::uint64_t seed, std::uint64_t i);

/// The lines of a text, one behind the other.
struct word_list {
  std::vector<char> text;
  std::vector<std::uint64_t> begins{0};  // of the words in `text`, and the end

  std::uint64_t size() const noexcept { return begins.size() - 1; }
  std::string_view at(std::uint64_t i) const noexcept {
    return {text.data() + begins[i], static_cast<std::size_t>(begins[i + 1] - begins[i])};
  }
};

/// The lines of a file that are not empty; gzip and zstd, too.
word_list lines_of(const std::string& path);

class word_pool_ref {
public:
  word_pool_ref() = default;
  word_pool_ref(std::uint64_t size, std::uint64_t seed) noexcept : size_(size), seed_(seed) {}
  word_pool_ref(std::uint64_t size, node_local_ref<word_list> lists) noexcept
      : size_(size), from_list_(true), lists_(lists) {}

  std::uint64_t size() const noexcept { return size_; }
  std::string at(std::uint64_t i) const { return from_list_ ? std::string(lists_->at(i)) : generated_word(seed_, i); }

private:
  std::uint64_t size_ = 0;
  std::uint64_t seed_ = 0;
  bool from_list_ = false;
  node_local_ref<word_list> lists_;
};

/// Owns the lists; move-only.
class word_pool {
public:
  word_pool() = default;
  word_pool(std::uint64_t size, std::uint64_t seed) noexcept : ref_(size, seed) {}
  explicit word_pool(word_list lines) : ref_(lines.size(), lists_.ref()) {
    *lists_ = std::move(lines);
    spmd([lists = lists_.ref(), from = node_id()](team& t) {
      const auto copy = [&](auto& values) {
        values.resize(t.broadcast(values.size(), from));
        t.broadcast(std::span(values), from);
      };
      copy(lists->text);
      copy(lists->begins);
    });
  }

  const word_pool_ref& ref() const noexcept { return ref_; }

private:
  node_local<word_list> lists_;
  word_pool_ref ref_;
};

}  // namespace shoal::kernels::hashmap
