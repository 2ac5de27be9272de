// SPDX-License-Identifier: Apache-2.0
#include "base/thread_value.hpp"

#include <array>

#include "shoal/detail/assert.hpp"

namespace shoal::base {
namespace {

// Filled during static initialization, by one thread, in no particular order.
constinit std::array<const thread_value*, thread_value::k_most> g_values{};
constinit std::size_t g_count = 0;

}  // namespace

thread_value::thread_value(erased of_this_thread, void* (*call)(erased) noexcept, std::size_t bytes,
                           void (*write_initial)(void*) noexcept) noexcept
    : of_this_thread_(of_this_thread), call_(call), bytes_(bytes), initialize_(write_initial) {
  SHOAL_ASSERT(g_count < k_most, "more thread values than thread_value::k_most; raise it");
  g_values[g_count++] = this;
}

std::span<const thread_value* const> thread_values() noexcept { return {g_values.data(), g_count}; }

}  // namespace shoal::base
