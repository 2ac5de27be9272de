// SPDX-License-Identifier: Apache-2.0
#include "remote/code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "machine/function_starts.hpp"
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

using functions = std::vector<detail::registered_body::function>;  // by number

// The functions of an image that messages may name. Constant from its first use on; numbered images stay loaded.
struct image_code {
  explicit image_code(const machine::image& i) : starts(i) {}
  std::array<functions, detail::k_body_kinds> bodies;
  machine::function_starts starts;
};

struct known_image {
  // Partners of the atomics: bind_late_image(), allow_late_image(), and the threads that encode or decode.
  std::atomic<std::uintptr_t> base{0};
  std::atomic<const image_code*> code{nullptr};  // null: not known here
  std::atomic<std::size_t> sent_bytes{0};        // its size; 0: its code must not be sent from here (yet)
};

}  // namespace
}  // namespace shoal::remote

namespace shoal::detail {

// The registered functions of the process; images register theirs while they are loaded.
class body_list {
public:
  void add(registered_body& b) noexcept {
    const std::lock_guard hold(mutex_);
    b.next_ = first_;
    if (first_ != nullptr) first_->previous_ = &b;
    first_ = &b;
  }
  void remove(registered_body& b) noexcept {
    const std::lock_guard hold(mutex_);
    (b.previous_ == nullptr ? first_ : b.previous_->next_) = b.next_;
    if (b.next_ != nullptr) b.next_->previous_ = b.previous_;
  }
  /// Those of an image, in the order of their addresses, which all nodes have in common.
  std::vector<registered_body*> of(const machine::image& i, body_kind kind) {
    const std::lock_guard hold(mutex_);
    std::vector<registered_body*> found;
    for (registered_body* b = first_; b != nullptr; b = b->next_)
      if (b->kind_ == kind && i.contains(reinterpret_cast<const void*>(b->run_))) found.push_back(b);
    std::ranges::sort(found, {}, [](const registered_body* b) { return reinterpret_cast<std::uintptr_t>(b->run_); });
    return found;
  }

private:
  std::mutex mutex_;
  registered_body* first_ = nullptr;
};

namespace {
constinit body_list bodies;
}  // namespace

registered_body::registered_body(body_kind kind, function f) noexcept : kind_(kind), run_(f) { bodies.add(*this); }
registered_body::~registered_body() { bodies.remove(*this); }

}  // namespace shoal::detail

namespace shoal::remote {
namespace {

constexpr detail::body_kind k_kinds[] = {detail::body_kind::receiver, detail::body_kind::callee};

std::unique_ptr<const image_code> collect_code(const machine::image& i) {
  auto code = std::make_unique<image_code>(i);
  for (const detail::body_kind kind : k_kinds)
    for (const detail::registered_body* b : detail::bodies.of(i, kind))
      code->bodies[static_cast<std::size_t>(kind)].push_back(b->run());
  return code;
}

void name_bodies(const machine::image& i, unsigned number) {
  for (const detail::body_kind kind : k_kinds) {
    std::uint64_t name = std::uint64_t{number} << k_code_offset_bits;
    for (detail::registered_body* b : detail::bodies.of(i, kind)) b->name(name++);
  }
}

// An image, and what it registers: nodes that disagree about it would call other functions than they name.
std::string describe_code(const machine::image& i, const image_code& code) {
  return fmt::format("{} {}+{}", name_and_identity(i), code.bodies[0].size(), code.bodies[1].size());
}

struct image_table {
  std::array<known_image, k_most_images> by_number;
  std::atomic<unsigned> count{0};  // numbers from here on are not sent. Partners as above.
  unsigned at_start = 0;           // so many have been numbered by their order; constant
  std::string fingerprint;
  std::mutex mutex;
  std::vector<std::string> late;                         // identities, by number from at_start; under the mutex
  std::vector<std::unique_ptr<const image_code>> codes;  // under the mutex

  image_table() {
    for (const machine::image& i : images_with_code(machine::loaded_images())) {
      fingerprint += describe_code(i, bind(at_start, i)) + "\n";
      by_number[at_start].sent_bytes.store(i.size_bytes, std::memory_order_relaxed);
      name_bodies(i, at_start);
      ++at_start;
    }
    count.store(at_start, std::memory_order_release);
  }

  // Under the mutex, or before others know the table.
  const image_code& bind(unsigned number, const machine::image& i) {
    machine::keep_loaded(i.path);  // or another image could take its addresses
    const image_code& code = *codes.emplace_back(collect_code(i));
    by_number[number].base.store(i.base, std::memory_order_relaxed);
    by_number[number].code.store(&code, std::memory_order_release);
    return code;
  }
};

// Made at the first use (the runtime asks for the fingerprint when a job starts). Of the process: an image lies at one
// address in it, whichever job sends its code. Never destroyed: a task may call exit() while other workers use it.
image_table& table() {
  static auto& made = *new image_table;
  return made;
}

const image_code* code_named(std::uint64_t name) noexcept {
  return table().by_number[name >> k_code_offset_bits & (k_most_images - 1)].code.load(std::memory_order_acquire);
}

detail::registered_body::function decode(std::uint64_t name, detail::body_kind kind) noexcept {
  const image_code* const code = code_named(name);
  if (code == nullptr) return nullptr;
  const functions& all = code->bodies[static_cast<std::size_t>(kind)];
  const std::uint64_t number = name & k_code_offset_mask;
  return number < all.size() ? all[number] : nullptr;
}

[[noreturn]] void refuse(const void* function) {
  const auto where = machine::find_image(function);
  throw error(
      errc::unsupported,
      fmt::format("a function of {} cannot be sent to other nodes by a handler, because that library was loaded "
                  "after the program started; call a function of it by a task first, or link the program with it",
                  where ? where->path : std::string("no known library")));
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

std::optional<std::uint64_t> find_body(const detail::registered_body& b) {
  table();
  const std::uint64_t name = b.name();
  return name == detail::registered_body::k_unnamed ? std::nullopt : std::optional(name);
}

std::uint64_t encode_body(const detail::registered_body& b) {
  if (const auto name = find_body(b)) return *name;
  refuse(reinterpret_cast<const void*>(b.run()));
}

detail::receiver_function decode_receiver(std::uint64_t name) noexcept {
  return reinterpret_cast<detail::receiver_function>(decode(name, detail::body_kind::receiver));
}
detail::callee_function decode_callee(std::uint64_t name) noexcept {
  return reinterpret_cast<detail::callee_function>(decode(name, detail::body_kind::callee));
}

std::optional<std::uint64_t> find_plain(plain_function function) {
  const auto address = reinterpret_cast<std::uintptr_t>(function);
  const image_table& t = table();
  const unsigned count = t.count.load(std::memory_order_acquire);
  for (unsigned i = 0; i < count; ++i) {
    const known_image& one = t.by_number[i];
    const std::uintptr_t offset = address - one.base.load(std::memory_order_relaxed);
    if (offset >= one.sent_bytes.load(std::memory_order_acquire)) continue;
    if (!one.code.load(std::memory_order_acquire)->starts.contains(address))
      throw error(errc::unsupported,
                  "what is to be called on other nodes is not known as a function: C code must be compiled with "
                  "-fasynchronous-unwind-tables (most compilers' default)");
    return std::uint64_t{i} << k_code_offset_bits | offset;
  }
  return std::nullopt;
}

std::uint64_t encode_plain(plain_function function) {
  if (const auto name = find_plain(function)) return *name;
  refuse(reinterpret_cast<const void*>(function));
}

plain_function decode_plain(std::uint64_t name) noexcept {
  const image_code* const code = code_named(name);
  if (code == nullptr) return nullptr;
  const known_image& one = table().by_number[name >> k_code_offset_bits & (k_most_images - 1)];
  const std::uintptr_t address = one.base.load(std::memory_order_relaxed) + (name & k_code_offset_mask);
  return code->starts.contains(address) ? reinterpret_cast<plain_function>(address) : nullptr;
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
  if (number >= k_most_images) return false;
  for (const machine::image& i : machine::loaded_images()) {
    if (name_and_identity(i) != identity) continue;
    image_table& t = table();
    const std::lock_guard hold(t.mutex);
    if (t.by_number[number].code.load(std::memory_order_relaxed) == nullptr) t.bind(number, i);
    return true;
  }
  return false;
}

void allow_late_image(unsigned number, const machine::image& i) {
  image_table& t = table();
  const std::lock_guard hold(t.mutex);
  t.by_number[number].sent_bytes.store(i.size_bytes, std::memory_order_release);
  t.count.store(std::max(t.count.load(std::memory_order_relaxed), number + 1), std::memory_order_release);
  name_bodies(i, number);
}

const std::string& code_fingerprint() { return table().fingerprint; }

}  // namespace shoal::remote
