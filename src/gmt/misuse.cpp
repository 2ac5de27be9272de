// SPDX-License-Identifier: Apache-2.0
#include "gmt/misuse.hpp"

#include <fmt/format.h>

#include "gmt/array.hpp"
#include "shoal/detail/assert.hpp"

namespace shoal::gmt {

void refuse(const char* function, const char* what) noexcept {
  const std::string text = fmt::format("{}: {}", function, what);
  detail::assertion_failed(text.c_str(), "gmt.h", 0, function);
}

void refuse_handle(const char* function, std::uint32_t handle) noexcept {
  refuse(function,
         fmt::format("there is no handle {:#x}: gmt_get_handle has not given it, or gmt_wait_handle has ended "
                     "it",
                     handle)
             .c_str());
}

void refuse_elements(const char* function, std::int64_t array, std::uint64_t elem, std::uint64_t count) noexcept {
  const detail::array_layout* const layout = find(array);
  if (array == GMT_DATA_NULL) refuse(function, "the array is GMT_DATA_NULL");
  if (layout == nullptr)
    refuse(function, fmt::format("there is no array {:#x}: it was freed, or never allocated", array).c_str());
  refuse(function, fmt::format("{} elements from element {} on are out of the range of an array of {}", count, elem,
                               size_of(array, *layout))
                       .c_str());
}

void refuse_width(const char* function, std::int64_t array, std::uint64_t bytes) noexcept {
  refuse(function,
         fmt::format("elements of array {:#x} have {} bytes; this is for elements of 1, 2, 4 or 8 bytes", array, bytes)
             .c_str());
}

}  // namespace shoal::gmt
