// SPDX-License-Identifier: Apache-2.0
// begin_call() by the name that messages have for the function (code.hpp), as one that has come from another node.
// Who may call, guarantees: as shoal/detail/call.hpp. Shown by tests/cluster/call_tree_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shoal/detail/completion.hpp"

namespace shoal::detail {

void begin_named_call(completion& calls, std::uint32_t node, std::uint64_t name,
                      std::span<const std::uint64_t> arguments, std::uint64_t* answer, std::size_t answer_words);

}  // namespace shoal::detail
