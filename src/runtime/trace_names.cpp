// SPDX-License-Identifier: Apache-2.0
#include "runtime/trace_names.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>

#include "machine/images.hpp"
#include "machine/symbols.hpp"
#include "runtime/body_name.hpp"

namespace shoal::runtime {
namespace {

struct file_stamp {
  std::uint64_t bytes = 0;
  std::int64_t time_ns = 0;
};

// Nothing: there is no such file, as for the part of the kernel in each process.
std::optional<file_stamp> stamp_of(const std::string& path) {
  std::error_code failed;
  const auto bytes = std::filesystem::file_size(path, failed);
  if (failed) return std::nullopt;
  const auto time = std::filesystem::last_write_time(path, failed);
  if (failed) return std::nullopt;
  return file_stamp{bytes, std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count()};
}

}  // namespace

std::string task_code_name(const std::string& symbol, const std::string& place) {
  if (symbol.empty()) return place;
  const body_name body = name_body(symbol);
  return body.spawned_in.empty() ? body.body : fmt::format("{} in {}", body.body, body.spawned_in);
}

// Of what has no name the file is enough: "libc.so.6".
std::string sampled_code_name(const std::string& symbol, const std::string& place) {
  return symbol.empty() ? place.substr(0, place.rfind('+')) : function_name(symbol);
}

std::vector<trace::code_image> traced_images() {
  std::vector<trace::code_image> all;
  for (const machine::image& i : machine::loaded_images())
    if (const auto stamp = stamp_of(i.path); stamp)
      all.push_back({i.base, i.size_bytes, stamp->bytes, stamp->time_ns, i.path});
  return all;
}

void name_code(trace::node_trace& t) {
  machine::symbols symbols;
  std::map<std::string, bool> is_same;  // by path: the file is that of the program that ran
  const auto name = [&](std::uint64_t address, auto&& describe) {
    if (t.code.contains(address)) return;
    const trace::code_image* const i = t.image_at(address);
    if (i == nullptr) return;
    const auto [at, is_new] = is_same.try_emplace(i->path, false);
    if (is_new) {
      const auto stamp = stamp_of(i->path);
      at->second = stamp && stamp->bytes == i->file_bytes && stamp->time_ns == i->file_time_ns;
    }
    const std::string symbol = at->second ? symbols.name_in(i->path, address - i->begin) : std::string();
    t.code[address] = describe(symbol, i->place_of(address));
  };
  for (const std::uint64_t address : t.code_addresses()) name(address, task_code_name);
  for (const auto& s : t.samples)
    for (const std::uint64_t address : s.frames) name(address, sampled_code_name);
}

}  // namespace shoal::runtime
