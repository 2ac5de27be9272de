// SPDX-License-Identifier: Apache-2.0
// Fuzzes what a node executes of a buffer of commands: elements, bulk copies, calls. All accesses must stay inside the
// segment (an address sanitizer sees others), no other function than the registered one may run, and what is refused
// is refused without a change behind the segment.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "command_target.hpp"
#include "fuzz/seeds.hpp"
#include "remote/code.hpp"
#include "remote/handlers.hpp"

namespace {

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "command_fuzz: %s\n", what);
  std::abort();
}

// Replies go into one buffer after another.
class sink final : public shoal::net::out_channel {
public:
  std::uint64_t* acquire() noexcept override { return words_.data(); }
  void post(std::size_t count) noexcept override {
    expect(count <= words_.size(), "replies stay in their buffer");
    ++posted_;
  }
  std::size_t capacity_words() const noexcept override { return words_.size(); }
  std::uint64_t posted() const noexcept override { return posted_; }
  std::uint64_t done() const noexcept override { return posted_; }

private:
  std::vector<std::uint64_t> words_ = std::vector<std::uint64_t>(2048);
  std::uint64_t posted_ = 0;
};

// Whether a word may name another registered function: those of the runtime need a job around them.
bool may_call_others(std::span<const std::uint64_t> buffer) {
  using namespace shoal;
  return std::ranges::any_of(buffer, [](std::uint64_t word) {
    if (detail::operation_of(word) != static_cast<std::uint8_t>(detail::other_operation::call)) return false;
    const auto named = remote::decode_receiver(detail::offset_of(word));
    return named != nullptr && named != detail::receiver_of<fuzz::add_up>().run();
  });
}

void execute(std::span<const std::uint64_t> buffer, bool exclusive) {
  using namespace shoal;
  constexpr std::uint64_t k_bytes = 4096, k_guard = 0x5a5a5a5a5a5a5a5a;
  std::vector<std::uint64_t> memory(k_bytes / 8 + 2, 0);
  memory.front() = memory.back() = k_guard;
  struct face : detail::worker_base {
  } worker;
  sink out;
  detail::stream stream;
  aggregate::flush_counts counts;
  aggregate::outbox replies;
  replies.attach(out, stream, counts, 0);
  remote::serving s;
  s.base = reinterpret_cast<std::byte*>(memory.data() + 1);
  s.capacity_bytes = k_bytes;
  s.worker = &worker;
  s.replies = &replies;
  s.reply_stream = &stream;
  const std::uint64_t* at = buffer.data();
  const std::uint64_t* const end = at + buffer.size();
  while (at < end) {
    const std::uint64_t* const reached = remote::handlers(exclusive)[detail::operation_of(*at)](s, at, end);
    if (reached == nullptr || reached == at) break;
    expect(reached > at && reached <= end, "a handler stays in its buffer");
    at = reached;
  }
  expect(memory.front() == k_guard && memory.back() == k_guard, "commands stay in the segment");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // A copy of its exact size: what is read behind it is found. The last word may be cut off.
  const std::size_t words = (size - 1) / sizeof(std::uint64_t);
  const auto buffer = std::make_unique<std::uint64_t[]>(words);
  std::memcpy(buffer.get(), data + 1, words * sizeof(std::uint64_t));
  if (!may_call_others({buffer.get(), words})) execute({buffer.get(), words}, data[0] % 2 != 0);
  return 0;
}
