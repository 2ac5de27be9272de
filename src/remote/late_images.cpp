// SPDX-License-Identifier: Apache-2.0
#include "remote/late_images.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "machine/images.hpp"
#include "remote/code.hpp"
#include "shoal/detail/call.hpp"
#include "shoal/detail/completion.hpp"
#include "shoal/detail/port.hpp"
#include "shoal/error.hpp"

namespace shoal::remote {
namespace {

using words = std::span<const std::uint64_t>;

// What the calls carry: a number, and the name and identity of the image.
std::vector<std::uint64_t> pack(std::uint64_t number, const std::string& identity) {
  std::vector<std::uint64_t> packed(2 + detail::words_for(identity.size()));
  packed[0] = number;
  packed[1] = identity.size();
  std::memcpy(packed.data() + 2, identity.data(), identity.size());
  return packed;
}
std::string identity_in(words packed) {
  SHOAL_ASSERT(packed.size() > 2 && packed[1] <= (packed.size() - 2) * sizeof(std::uint64_t),
               "another node has sent the name of an image that is longer than its message");
  std::string identity(packed[1], '\0');
  std::memcpy(identity.data(), packed.data() + 2, identity.size());
  return identity;
}

std::uint64_t call_and_wait(std::uint32_t node, detail::callee code, words arguments) {
  std::uint64_t answer = 0;
  detail::completion call;
  detail::begin_call(call, node, code, arguments, &answer, 1);
  call.wait_and_rethrow();
  return answer;
}

std::size_t bind_here(std::uint32_t, words arguments, std::uint64_t* answer) {
  *answer = bind_late_image(static_cast<unsigned>(arguments[0]), identity_in(arguments)) ? 1 : 0;
  return 1;
}

// On node 0. The answer: the number, or k_missing and the first node without the image.
constexpr std::uint64_t k_missing = std::uint64_t{1} << 32;

std::size_t number_for_all(std::uint32_t, words arguments, std::uint64_t* answer) {
  const std::string identity = identity_in(arguments);
  const unsigned number = number_late_image(identity);
  const auto request = pack(number, identity);
  *answer = number;
  for (std::uint32_t n = 0; n < detail::this_port().nodes; ++n) {
    if (call_and_wait(n, detail::callee_of<bind_here>(), request) != 0) continue;
    *answer = k_missing | n;
    break;
  }
  return 1;
}

void number_image(const machine::image& image) {
  const std::uint64_t answer = call_and_wait(0, detail::callee_of<number_for_all>(), pack(0, name_and_identity(image)));
  if ((answer & k_missing) != 0)
    throw error(
        errc::unsupported,
        fmt::format("a function of {} cannot run on other nodes, because node {} has not loaded this version of the "
                    "library; load it on all nodes first (dlopen in shoal::spmd), or link the "
                    "program with it",
                    image.path, answer & ~k_missing));
  allow_late_image(static_cast<unsigned>(answer), image);
}

}  // namespace

std::uint64_t encode_body_of_task(const detail::registered_body& b) {
  if (const auto name = find_body(b)) return *name;
  if (const auto image = machine::find_image(reinterpret_cast<const void*>(b.run()))) number_image(*image);
  return encode_body(b);
}

std::uint64_t encode_plain_of_task(plain_function function) {
  if (const auto name = find_plain(function)) return *name;
  if (const auto image = machine::find_image(reinterpret_cast<const void*>(function))) number_image(*image);
  return encode_plain(function);
}

}  // namespace shoal::remote
