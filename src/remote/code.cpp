// SPDX-License-Identifier: Apache-2.0
#include "remote/code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "machine/images.hpp"
#include "shoal/error.hpp"

namespace shoal::remote {
namespace {

constexpr unsigned k_code_offset_bits = 36;
constexpr std::uint64_t k_code_offset_mask = (std::uint64_t{1} << k_code_offset_bits) - 1;
constexpr std::size_t k_most_images = 256;

std::string name_of(const machine::image& i) {
  return i.path.substr(i.path.rfind('/') + 1);  // all of it if there is no slash
}

// The kernel's own page of code has no file, and no program's functions.
bool is_vdso(const machine::image& i) {
  return i.path.find('/') == std::string::npos && (i.path.rfind("linux-vdso", 0) == 0 || i.path == "[vdso]");
}

struct image_table {
  std::array<std::uintptr_t, k_most_images> bases{};
  std::vector<machine::image> images;
  std::string fingerprint;

  image_table() : images(images_with_code(machine::loaded_images())) {
    for (std::size_t i = 0; i < images.size(); ++i) {
      bases[i] = images[i].base;
      fingerprint += fmt::format("{} {}\n", name_of(images[i]), images[i].identity);
    }
  }
};

// Made once, at the first use (runtime asks for the fingerprint at start), and constant from then on.
const image_table& table() {
  static const image_table made;
  return made;
}

}  // namespace

std::vector<machine::image> images_with_code(std::vector<machine::image> loaded) {
  std::erase_if(loaded, is_vdso);
  if (loaded.size() > k_most_images)
    throw error(
        errc::unsupported,
        fmt::format("the program has loaded {} libraries; code of at most {} can be named for other nodes: link "
                    "some of them statically, or load them after the start",
                    loaded.size(), k_most_images));
  return loaded;
}

std::uint64_t encode_code(void (*function)()) {
  const auto address = reinterpret_cast<std::uintptr_t>(function);
  const auto& images = table().images;
  for (std::size_t i = 0; i < images.size(); ++i)
    if (images[i].contains(reinterpret_cast<const void*>(address)))
      return std::uint64_t{i} << k_code_offset_bits | (address - images[i].base);
  const auto where = machine::find_image(reinterpret_cast<const void*>(address));
  throw error(errc::unsupported,
              fmt::format("a function of {} cannot be sent to other nodes, because that library was loaded after the "
                          "program started; link the program with it, or preload it",
                          where ? where->path : std::string("no known library")));
}

void (*decode_code(std::uint64_t code) noexcept)() {
  return reinterpret_cast<void (*)()>(table().bases[code >> k_code_offset_bits] + (code & k_code_offset_mask));
}

const std::string& code_fingerprint() { return table().fingerprint; }

}  // namespace shoal::remote
