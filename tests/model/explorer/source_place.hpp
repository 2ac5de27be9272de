// SPDX-License-Identifier: Apache-2.0
// std::source_location, or the same where the library has it but the compiler cannot make it (clang 14 with libstdc++).
#pragma once

#include <cstdint>

#if __has_include(<source_location>)
#include <source_location>
#endif

namespace shoal::model {

#if defined(__cpp_lib_source_location)

using source_place = std::source_location;

#else

class source_place {
public:
  static constexpr source_place current(const char* file = __builtin_FILE(),
                                        const char* function = __builtin_FUNCTION(),
                                        std::uint_least32_t line = __builtin_LINE(),
                                        std::uint_least32_t column = __builtin_COLUMN()) noexcept {
    source_place here;
    here.file_ = file;
    here.function_ = function;
    here.line_ = line;
    here.column_ = column;
    return here;
  }
  constexpr const char* file_name() const noexcept { return file_; }
  constexpr const char* function_name() const noexcept { return function_; }
  constexpr std::uint_least32_t line() const noexcept { return line_; }
  constexpr std::uint_least32_t column() const noexcept { return column_; }

private:
  const char* file_ = "";
  const char* function_ = "";
  std::uint_least32_t line_ = 0;
  std::uint_least32_t column_ = 0;
};

#endif

}  // namespace shoal::model
