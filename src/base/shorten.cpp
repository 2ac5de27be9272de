// SPDX-License-Identifier: Apache-2.0
#include "base/shorten.hpp"

namespace shoal::base {
namespace {

bool continues_character(char c) noexcept { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace

std::size_t copy_shortened(std::string_view text, char* to, std::size_t bytes) noexcept {
  if (text.size() <= bytes) return text.copy(to, bytes);
  if (bytes < 3 * k_omission.size()) return text.copy(to, bytes);  // no room for a beginning, a mark and an end
  const std::size_t kept = bytes - k_omission.size();
  // The advice follows the last semicolon. It is kept whole if a quarter of the room is left for the beginning.
  std::size_t end_bytes = kept / 2;
  if (const auto semicolon = text.rfind(';'); semicolon != std::string_view::npos)
    if (const std::size_t advice = text.size() - semicolon; advice > end_bytes && advice <= kept - kept / 4)
      end_bytes = advice;
  std::size_t begin_bytes = kept - end_bytes;
  while (begin_bytes > 0 && continues_character(text[begin_bytes])) --begin_bytes;
  std::size_t end = text.size() - end_bytes;
  while (end < text.size() && continues_character(text[end])) ++end;
  std::size_t length = text.copy(to, begin_bytes);
  length += k_omission.copy(to + length, k_omission.size());
  return length + text.copy(to + length, text.size() - end, end);
}

std::string shortened(std::string_view text, std::size_t bytes) {
  std::string result(bytes, '\0');
  result.resize(copy_shortened(text, result.data(), bytes));
  return result;
}

}  // namespace shoal::base
