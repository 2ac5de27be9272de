// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstring>

#include "machine/images.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/detail/call.hpp"

namespace shoal::detail {

void check_words(const void* capture, std::size_t bytes, const char* type) noexcept {
  for (std::size_t at = 0; at + sizeof(std::uintptr_t) <= bytes; at += alignof(std::uintptr_t)) {
    std::uintptr_t word = 0;
    std::memcpy(&word, static_cast<const std::byte*>(capture) + at, sizeof word);
    const auto kind = machine::classify(reinterpret_cast<const void*>(word));
    if (kind != machine::address_kind::image && kind != machine::address_kind::heap &&
        kind != machine::address_kind::stack)
      continue;
    constexpr const char* k_names[] = {"nothing", "the program's image", "the heap", "a stack", "a mapping"};
    const std::string message = fmt::format(
        "what is sent to another node captures a pointer into {} of this process ({} bytes into {}); capture values "
        "and array references instead",
        k_names[static_cast<int>(kind)], at, type);
    assertion_failed(message.c_str(), __FILE__, __LINE__, __func__);
  }
}

}  // namespace shoal::detail
