// SPDX-License-Identifier: Apache-2.0
#include "remote/failure.hpp"

#include <cstring>
#include <utility>

#include "base/shorten.hpp"
#include "base/thrown.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/detail/command.hpp"
#include "shoal/error.hpp"

namespace shoal::remote {
namespace {

using detail::words_for;

constexpr std::size_t k_head_words = 4;
constexpr std::size_t k_most_text_bytes = 2000;

}  // namespace

failure current_failure(std::uint32_t here) {
  failure f;
  f.node = here;
  f.code = static_cast<int>(errc::remote);
  try {
    throw;
  } catch (const remote_error& e) {  // forwarded from a further node
    f.code = static_cast<int>(e.code());
    f.node = e.node();
    f.type = e.type();
    f.message = e.message();
  } catch (const error& e) {
    f.code = static_cast<int>(e.code());
    f.type = "shoal::error";
    f.message = e.what();
  } catch (...) {
    base::thrown t = base::describe_thrown();
    f.type = std::move(t.type);
    f.message = std::move(t.message);
  }
  return f;
}

std::vector<std::uint64_t> pack_failure(std::uint64_t name, const failure& f) {
  const std::string type = base::shortened(f.type, k_most_text_bytes);
  const std::string message = base::shortened(f.message, k_most_text_bytes);
  std::vector<std::uint64_t> words(k_head_words + words_for(type.size()) + words_for(message.size()));
  words[0] = name;
  words[1] = static_cast<std::uint64_t>(f.code);
  words[2] = f.node;
  words[3] = type.size() << 32 | message.size();
  std::memcpy(words.data() + k_head_words, type.data(), type.size());
  std::memcpy(words.data() + k_head_words + words_for(type.size()), message.data(), message.size());
  return words;
}

failure read_failure(std::span<const std::uint64_t> words) {
  const std::uint64_t type_bytes = words.size() < k_head_words ? 0 : words[3] >> 32;
  const std::uint64_t message_bytes = words.size() < k_head_words ? 0 : words[3] & 0xffffffff;
  SHOAL_ASSERT(words.size() >= k_head_words && type_bytes <= k_most_text_bytes && message_bytes <= k_most_text_bytes &&
                   words.size() == k_head_words + words_for(type_bytes) + words_for(message_bytes),
               "an exception of another node has not the form that nodes send: the nodes disagree about the format");
  const auto* const type = reinterpret_cast<const char*>(words.data() + k_head_words);
  const auto* const message = reinterpret_cast<const char*>(words.data() + k_head_words + words_for(type_bytes));
  return {static_cast<int>(words[1]), static_cast<std::uint32_t>(words[2]), std::string(type, type_bytes),
          std::string(message, message_bytes)};
}

}  // namespace shoal::remote
