// SPDX-License-Identifier: Apache-2.0
#include "cluster/untyped_calls.hpp"

#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "remote/code.hpp"
#include "remote/late_images.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/detail/loop_run.hpp"
#include "shoal/detail/port.hpp"
#include "shoal/error.hpp"

namespace shoal::cluster {
namespace {

using detail::k_share_words;
using detail::loop_share;
using detail::packed;

// Arguments of a callee: `before` words of its own, the code, the number of bytes, the bytes.
constexpr std::size_t k_own_words = 2;
static_assert(k_share_words + k_own_words + detail::words_for(k_most_untyped_bytes) <= detail::k_most_call_words);
static_assert(1 + k_own_words + detail::words_for(k_most_untyped_bytes) <= detail::k_most_call_words);
static_assert(answer_words(k_most_untyped_bytes) <= detail::k_most_call_words);

std::vector<std::uint64_t> pack(std::size_t before, std::uint64_t code, std::span<const std::byte> arguments) {
  SHOAL_ASSERT(arguments.size() <= k_most_untyped_bytes, "the arguments of a loop or call are too long");
  std::vector<std::uint64_t> words(before + k_own_words + detail::words_for(arguments.size()));
  words[before] = code;
  words[before + 1] = arguments.size();
  if (!arguments.empty()) std::memcpy(words.data() + before + k_own_words, arguments.data(), arguments.size());
  return words;
}

template <class Code>
struct unpacked {
  explicit unpacked(std::span<const std::uint64_t> words) noexcept
      : code(reinterpret_cast<Code>(remote::decode_plain(words[0]))),
        bytes(words[1]),
        arguments(words.data() + k_own_words) {
    SHOAL_ASSERT(code != nullptr, "a loop or call names no function: the nodes' programs differ");
    SHOAL_ASSERT(detail::words_for(bytes) == words.size() - k_own_words, "the arguments of a loop or call are cut off");
  }
  Code code;
  std::size_t bytes;
  const void* arguments;
};

template <class Code>
std::uint64_t encode(Code code) {
  return remote::encode_plain_of_task(reinterpret_cast<remote::plain_function>(code));
}

std::size_t run_untyped_share(std::uint32_t, std::span<const std::uint64_t> words, std::uint64_t*) {
  const loop_share share = detail::arrived_share(words);
  const unpacked<loop_code> u(words.subspan(detail::k_rule_words));
  const detail::outermost_scope scope(share.outermost);
  const detail::number_range<std::uint64_t> range(0, share.count);
  const detail::loop_plan plan = share.plan();
  if (share.stride == 1) {
    const auto part = [&](const range1d& r) { u.code(share.first + r.begin(), r.size(), u.arguments, u.bytes); };
    detail::run_for<false>(range, part, plan);
  } else {
    const auto one = [&](std::uint64_t k) { u.code(share.position(k), 1, u.arguments, u.bytes); };
    detail::run_for<false>(range, one, plan);
  }
  return 0;
}

std::size_t run_untyped_call(std::uint32_t from, std::span<const std::uint64_t> words, std::uint64_t* answer) {
  const std::size_t room = words[0];
  const unpacked<call_code> u(words.subspan(1));
  const std::size_t bytes = u.code(from, u.arguments, u.bytes, answer + 1, room);
  if (bytes > room)
    throw error(errc::invalid_argument,
                fmt::format("a call returned an answer of {} bytes, and its caller has room for {}", bytes, room));
  answer[0] = bytes;
  return answer_words(bytes);
}

}  // namespace

void begin_loop(detail::completion& calls, const detail::loop_shares& shares, loop_code code,
                std::span<const std::byte> arguments) {
  auto words = pack(k_share_words, encode(code), arguments);
  detail::begin_loop_calls(calls, shares, detail::callee_of<run_untyped_share>(), words,
                           detail::call_tree::own_part::called);
}

void begin_call(detail::completion& calls, std::uint32_t node, call_code code, std::span<const std::byte> arguments,
                std::size_t room, std::span<std::uint64_t> answer) {
  auto words = pack(1, encode(code), arguments);
  words[0] = room;
  detail::begin_call(calls, node, detail::callee_of<run_untyped_call>(), words, answer.data(), answer.size());
}

}  // namespace shoal::cluster
