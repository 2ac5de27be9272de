// SPDX-License-Identifier: Apache-2.0
// Loops and calls whose code is a plain function and whose arguments are bytes of a size known only at run time: what
// the loops and calls of shoal/core.h are made of, and of layers for other languages.
// Who may call: tasks. The begin_ functions may switch, when buffers are full; they copy the arguments.
// Guarantees: the code runs as a task, on this node too, and gets its own copy of the arguments, aligned to 8
// bytes. What it throws becomes the failure of the completion. Both throw shoal::error (unsupported) for a function
// that another node does not have (remote/late_images.hpp).
// Shown by tests/cluster/core_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shoal/detail/call.hpp"
#include "shoal/detail/loop_shares.hpp"

namespace shoal::cluster {

/// Runs iterations first ... first + count - 1.
using loop_code = void (*)(std::uint64_t first, std::uint64_t count, const void* arguments, std::size_t bytes);
/// Writes at most `room` bytes to `answer` (aligned to 8 bytes) and returns how many.
using call_code = std::size_t (*)(std::uint32_t from, const void* arguments, std::size_t bytes, void* answer,
                                  std::size_t room);

/// The longest arguments, and the longest answers.
inline constexpr std::size_t k_most_untyped_bytes = 11 << 10;

/// Begins every share of a loop, this node's as well. Each call of `code` gets at most `grain` iterations (set in the
/// shares), and one if they are not contiguous.
void begin_loop(detail::completion& calls, const detail::loop_shares& shares, loop_code code,
                std::span<const std::byte> arguments);

/// How many words an answer of `bytes` takes: its length, then its bytes.
constexpr std::size_t answer_words(std::size_t bytes) noexcept { return 1 + detail::words_for(bytes); }

/// Begins a call whose answer has at most `room` bytes. `answer`: answer_words(room) words; the first becomes the
/// answer's length in bytes.
void begin_call(detail::completion& calls, std::uint32_t node, call_code code, std::span<const std::byte> arguments,
                std::size_t room, std::span<std::uint64_t> answer);

}  // namespace shoal::cluster
