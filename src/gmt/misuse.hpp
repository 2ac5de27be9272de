// SPDX-License-Identifier: Apache-2.0
// What ends a program that misuses GMT's C interface: one line that names the function and what was wrong.
// Who may call: any task. Never returns. Shown by tests/cluster/gmt_test.cpp.
#pragma once

#include <cstdint>

namespace shoal::gmt {

[[noreturn, gnu::cold, gnu::noinline]] void refuse(const char* function, const char* what) noexcept;
/// There is no such handle.
[[noreturn, gnu::cold, gnu::noinline]] void refuse_handle(const char* function, std::uint32_t handle) noexcept;
/// There is no such array, or it does not have these elements.
[[noreturn, gnu::cold, gnu::noinline]] void refuse_elements(const char* function, std::int64_t array,
                                                            std::uint64_t elem, std::uint64_t count) noexcept;
/// The elements have another size than 1, 2, 4 or 8 bytes.
[[noreturn, gnu::cold, gnu::noinline]] void refuse_width(const char* function, std::int64_t array,
                                                         std::uint64_t bytes) noexcept;

inline constexpr const char* k_misshapen =
    "a message of GMT's C interface has not the form that nodes send: the nodes disagree about the format";

}  // namespace shoal::gmt
