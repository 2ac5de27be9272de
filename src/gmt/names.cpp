// SPDX-License-Identifier: Apache-2.0
#include "gmt/names.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cstring>
#include <exception>
#include <mutex>
#include <span>
#include <vector>

#include "base/log.hpp"
#include "gmt/alloc.hpp"
#include "gmt/array.hpp"
#include "gmt/misuse.hpp"
#include "gmt/node_state.hpp"
#include "shoal/detail/array_access.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/detail/call.hpp"
#include "shoal/error.hpp"

namespace shoal::gmt {
namespace {

struct kept_in {
  std::string folder;
  storage files;
};
// Of the C interface's process, as its options are.
kept_in& kept() {
  static kept_in of_process;
  return of_process;
}

// A file name of any name: letters, digits, '-' and '_' stay, the rest becomes %XX.
std::string path_of(std::string_view name) {
  std::string path = kept().folder + "/";
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 128 && (std::isalnum(byte) != 0 || c == '-' || c == '_'))
      path += c;
    else
      path += fmt::format("%{:02X}", byte);
  }
  return path;
}

bool is_kept(gmt_data_t a) noexcept { return keeps_arrays() && (type_of(a) & k_storage_mask) != 0; }

name_table& names() { return node_state::here().names; }

// Words: a first one, the length of the name, its bytes.
std::vector<std::uint64_t> pack(std::uint64_t first, std::string_view name) {
  std::vector<std::uint64_t> words(2 + detail::words_for(name.size()));
  words[0] = first;
  words[1] = name.size();
  std::memcpy(words.data() + 2, name.data(), name.size());
  return words;
}
std::string unpack(std::span<const std::uint64_t> words) {
  SHOAL_ASSERT(words.size() >= 2 && words[1] <= k_most_name_bytes && words.size() == 2 + detail::words_for(words[1]),
               k_misshapen);
  return {reinterpret_cast<const char*>(words.data() + 2), words[1]};
}

std::size_t add_on_node_0(std::uint32_t, std::span<const std::uint64_t> words, std::uint64_t* answer) {
  answer[0] = names().add(unpack(words), static_cast<gmt_data_t>(words[0])) ? 1 : 0;
  return 1;
}
std::size_t attach_on_node_0(std::uint32_t from, std::span<const std::uint64_t> words, std::uint64_t* answer) {
  answer[0] = static_cast<std::uint64_t>(names().attach(unpack(words), from));
  return 1;
}
std::size_t remove_on_node_0(std::uint32_t, std::span<const std::uint64_t> words, std::uint64_t*) {
  SHOAL_ASSERT(words.size() == 1, k_misshapen);
  names().remove(static_cast<gmt_data_t>(words[0]));
  return 0;
}

std::uint64_t ask_node_0(detail::callee code, std::span<const std::uint64_t> words) {
  std::uint64_t answer = 0;
  detail::completion call;
  detail::begin_call(call, 0, code, words, &answer, 1);
  call.wait_and_rethrow();
  return answer;
}

// The copies of a replicated array are alike: one of them is kept, on all nodes, whatever their number.
void save(const std::string& path, gmt_data_t array, const detail::array_layout& known) {
  const detail::array_layout layout = known;
  if (!is_replicated(array)) return kept().files.save(path, layout, type_of(array));
  const std::uint64_t size = layout.size / layout.nodes;
  const auto one = allocate(size, layout.element_bytes, GMT_ALLOC_PARTITION_FROM_ZERO, 0);
  detail::copy(one, 0, layout, 0, size, 0);
  try {
    kept().files.save(path, one, type_of(array));
  } catch (...) {
    detail::free_array(one);
    throw;
  }
  detail::free_array(one);
}

detail::array_layout load(const std::string& path, const storage::kept_array& k, std::uint32_t caller) {
  const int type = k.type & k_policy_mask;
  if (type != GMT_ALLOC_REPLICATE) {
    const auto layout = allocate(k.size, k.element_bytes, k.type, caller);
    try {
      kept().files.load(path, layout);
    } catch (...) {
      detail::free_array(layout);
      throw;
    }
    return layout;
  }
  const std::uint32_t nodes = detail::this_port().nodes;
  const auto one = allocate(k.size, k.element_bytes, GMT_ALLOC_PARTITION_FROM_ZERO, 0);
  detail::array_layout all;
  try {
    kept().files.load(path, one);
    all = allocate(k.size * nodes, k.element_bytes, k.type, caller);
  } catch (...) {
    detail::free_array(one);
    throw;
  }
  for (std::uint32_t n = 0; n < nodes; ++n) detail::copy(all, n * k.size, one, 0, k.size, 0);
  detail::free_array(one);
  return all;
}

}  // namespace

void keep_arrays_in(const std::string& folder, const storage& files) { kept() = {folder, files}; }
bool keeps_arrays() noexcept { return !kept().folder.empty(); }

bool is_file_name(std::string_view name) {
  constexpr std::size_t k_most_file_name_bytes = 255;
  constexpr std::size_t k_ending_bytes = 8;  // .gmt.tmp
  return !keeps_arrays() || path_of(name).size() - kept().folder.size() - 1 + k_ending_bytes <= k_most_file_name_bytes;
}

bool name_table::add(std::string_view name, gmt_data_t array) {
  const std::lock_guard guard(lock_);
  return arrays_.emplace(name, array).second;
}

gmt_data_t name_table::attach(const std::string& name, std::uint32_t caller) {
  const std::lock_guard guard(lock_);
  if (const auto found = arrays_.find(name); found != arrays_.end()) return found->second;
  if (!keeps_arrays()) return GMT_DATA_NULL;
  const std::string path = path_of(name);
  const storage::kept_array k = kept().files.describe(path);
  if (k.size == 0) return GMT_DATA_NULL;
  const gmt_data_t array = data_of(load(path, k, caller), k.type, true);
  arrays_.emplace(name, array);
  return array;
}

void name_table::remove(gmt_data_t array) {
  const std::lock_guard guard(lock_);
  for (auto i = arrays_.begin(); i != arrays_.end(); ++i) {
    if (i->second != array) continue;
    if (is_kept(array)) kept().files.remove(path_of(i->first));
    arrays_.erase(i);
    return;
  }
}

void name_table::save_all() {
  if (!keeps_arrays()) return;
  const std::lock_guard guard(lock_);
  std::exception_ptr first;  // the others are saved all the same
  for (const auto& [name, array] : arrays_) {
    const detail::array_layout* const layout = find(array);
    if (layout == nullptr || !is_kept(array)) continue;
    try {
      save(path_of(name), array, *layout);
    } catch (...) {
      if (first == nullptr) first = std::current_exception();
    }
  }
  if (first != nullptr) std::rethrow_exception(first);
}

bool add_name(std::string_view name, gmt_data_t array) {
  return ask_node_0(detail::callee_of<add_on_node_0>(), pack(static_cast<std::uint64_t>(array), name)) != 0;
}

void remove_name(gmt_data_t array) {
  const auto word = static_cast<std::uint64_t>(array);
  detail::completion call;
  detail::begin_call(call, 0, detail::callee_of<remove_on_node_0>(), {&word, 1});
  call.wait_and_rethrow();
}

}  // namespace shoal::gmt

gmt_data_t gmt_attach(const char* name) {
  using namespace shoal;
  if (name == nullptr || *name == '\0' || std::strlen(name) > gmt::k_most_name_bytes) return GMT_DATA_NULL;
  try {
    return static_cast<gmt_data_t>(gmt::ask_node_0(detail::callee_of<gmt::attach_on_node_0>(), gmt::pack(0, name)));
  } catch (const error& e) {
    base::warn("gmt_attach: {}", e.what());
    return GMT_DATA_NULL;
  }
}
