// SPDX-License-Identifier: Apache-2.0
#include "remote/code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <vector>

#include "machine/images.hpp"
#include "machine/library.hpp"
#include "shoal/error.hpp"

namespace shoal::remote {
namespace {

constexpr unsigned k_code_offset_bits = 36;
constexpr std::uint64_t k_code_offset_mask = (std::uint64_t{1} << k_code_offset_bits) - 1;
constexpr std::size_t k_most_images = 256;

// The kernel's own page of code has no file, and no program's functions.
bool is_vdso(const machine::image& i) {
  return i.path.find('/') == std::string::npos && (i.path.rfind("linux-vdso", 0) == 0 || i.path == "[vdso]");
}

struct known_image {
  // Partners of the atomics: bind_late_image(), allow_late_image(), and the threads that encode or decode.
  std::atomic<std::uintptr_t> base{0};     // 0: not known here
  std::atomic<std::size_t> sent_bytes{0};  // its size; 0: its code must not be sent from here (yet)
};

struct image_table {
  std::array<known_image, k_most_images> by_number;
  std::atomic<unsigned> count{0};  // numbers from here on are not sent. Partners as above.
  unsigned at_start = 0;           // so many have been numbered by their order; constant
  std::string fingerprint;
  std::mutex mutex;
  std::vector<std::string> late;  // identities, by number from at_start; under the mutex

  image_table() {
    for (const machine::image& i : images_with_code(machine::loaded_images())) {
      machine::keep_loaded(i.path);  // or another image could take its addresses
      by_number[at_start].base.store(i.base, std::memory_order_relaxed);
      by_number[at_start].sent_bytes.store(i.size_bytes, std::memory_order_relaxed);
      ++at_start;
      fingerprint += name_and_identity(i) + "\n";
    }
    count.store(at_start, std::memory_order_release);
  }
};

// Made at the first use (the runtime asks for the fingerprint when a job starts). Of the process: an image lies at one
// address in it, whichever job sends its code.
image_table& table() {
  static image_table made;
  return made;
}

}  // namespace

std::string name_and_identity(const machine::image& i) {
  return fmt::format("{} {}", i.path.substr(i.path.rfind('/') + 1), i.identity);  // all of the path if it has no slash
}

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

std::optional<std::uint64_t> find_code(void (*function)()) {
  const auto address = reinterpret_cast<std::uintptr_t>(function);
  const image_table& t = table();
  const unsigned count = t.count.load(std::memory_order_acquire);
  for (unsigned i = 0; i < count; ++i) {
    const known_image& one = t.by_number[i];
    const std::uintptr_t offset = address - one.base.load(std::memory_order_relaxed);
    if (offset < one.sent_bytes.load(std::memory_order_acquire)) return std::uint64_t{i} << k_code_offset_bits | offset;
  }
  return std::nullopt;
}

std::uint64_t encode_code(void (*function)()) {
  if (const auto code = find_code(function)) return *code;
  const auto where = machine::find_image(reinterpret_cast<const void*>(function));
  throw error(
      errc::unsupported,
      fmt::format("a function of {} cannot be sent to other nodes by a handler, because that library was loaded "
                  "after the program started; call a function of it by a task first, or link the program with it",
                  where ? where->path : std::string("no known library")));
}

void (*decode_code(std::uint64_t code) noexcept)() {
  const std::uintptr_t base = table().by_number[code >> k_code_offset_bits].base.load(std::memory_order_acquire);
  return reinterpret_cast<void (*)()>(base + (code & k_code_offset_mask));
}

unsigned number_late_image(const std::string& identity) {
  image_table& t = table();
  const std::lock_guard hold(t.mutex);
  const auto known = std::ranges::find(t.late, identity);
  const auto number = t.at_start + static_cast<unsigned>(known - t.late.begin());
  if (number >= k_most_images)
    throw error(errc::unsupported, fmt::format("code of more than {} libraries travels between nodes; link some of "
                                               "them statically",
                                               k_most_images));
  if (known == t.late.end()) t.late.push_back(identity);
  return number;
}

bool bind_late_image(unsigned number, const std::string& identity) {
  for (const machine::image& i : machine::loaded_images()) {
    if (name_and_identity(i) != identity) continue;
    machine::keep_loaded(i.path);
    table().by_number[number].base.store(i.base, std::memory_order_release);
    return true;
  }
  return false;
}

void allow_late_image(unsigned number, std::size_t size_bytes) {
  image_table& t = table();
  const std::lock_guard hold(t.mutex);
  t.by_number[number].sent_bytes.store(size_bytes, std::memory_order_release);
  t.count.store(std::max(t.count.load(std::memory_order_relaxed), number + 1), std::memory_order_release);
}

const std::string& code_fingerprint() { return table().fingerprint; }

}  // namespace shoal::remote
