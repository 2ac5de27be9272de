// SPDX-License-Identifier: Apache-2.0
// Buffers of commands as seeds for fuzzing the node that executes them.
#include <cstring>

#include "command_target.hpp"
#include "fuzz/seeds.hpp"
#include "remote/code.hpp"
#include "shoal/detail/command.hpp"

namespace shoal::fuzz {

std::vector<std::string> seeds() {
  using namespace detail;
  const auto other = [](other_operation o, std::uint64_t small, std::uint64_t offset) {
    return header(static_cast<std::uint8_t>(o), small, offset);
  };
  std::vector<std::uint64_t> elements;
  for (unsigned v = 0; v < static_cast<unsigned>(verb::all_count); ++v)
    for (unsigned e = 0; e < static_cast<unsigned>(element::count); ++e) {
      const auto one = static_cast<verb>(v);
      if (one == verb::compare_exchange) {
        elements.insert(elements.end(), {header(operation(one, static_cast<element>(e)), 0, 8 * v), 1, 2});
        continue;
      }
      elements.push_back(header(operation(one, static_cast<element>(e)), 3, 4096 - 8));
      if (is_fetch(one) && one == verb::get) continue;
      elements.insert(elements.end(),
                      {header(operation(one, static_cast<element>(e)), k_value_follows, 64), 1'000'000});
    }
  const std::uint64_t code = remote::encode_body(receiver_of<add_up>());
  const std::vector<std::vector<std::uint64_t>> buffers = {
      elements,
      {other(other_operation::bulk_put, 8, 16), 24, 1, 2, 3, other(other_operation::bulk_get, 8, 16), 24},
      {other(other_operation::bulk_put, 0, 17), 5, 77, other(other_operation::bulk_get, 4, 4092), 4},
      {other(other_operation::call, 2, code), 5, 6, other(other_operation::call, 0, code)},
      {header(operation(verb::add, element::u64), 1, 8), other(other_operation::call, 1, code), 9},
  };
  std::vector<std::string> result;
  for (const auto& buffer : buffers)
    for (const char exclusive : {'\0', '\1'}) {
      std::string bytes(1 + buffer.size() * sizeof(std::uint64_t), exclusive);
      std::memcpy(bytes.data() + 1, buffer.data(), bytes.size() - 1);
      result.push_back(std::move(bytes));
    }
  return result;
}

}  // namespace shoal::fuzz
