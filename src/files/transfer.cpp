// SPDX-License-Identifier: Apache-2.0
#include "files/transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "array/node_memory.hpp"
#include "machine/file.hpp"
#include "machine/huge_buffer.hpp"
#include "machine/memory_info.hpp"
#include "shoal/blocking.hpp"
#include "shoal/detail/call.hpp"
#include "shoal/detail/port.hpp"
#include "shoal/remote_error.hpp"

namespace shoal::files {
namespace {

using detail::packed;

struct part_request {
  part what;
  std::uint64_t copy;  // an address of the called node; 0: the array itself
  std::uint32_t path_bytes;
  bool sync;
};

// A part in private memory.
struct part_copy {
  explicit part_copy(std::uint64_t bytes)
      : memory(bytes), counted(detail::this_port().context->memory->ledger().copies()) {
    counted.take(memory.size());
  }
  part_copy(const part_copy&) = delete;
  part_copy& operator=(const part_copy&) = delete;
  ~part_copy() { counted.give_back(memory.size()); }

  machine::huge_buffer memory;
  array::counted_memory& counted;
};
part_copy* copy_at(std::uint64_t address) noexcept { return reinterpret_cast<part_copy*>(address); }
constexpr std::size_t k_most_path_bytes = 8 * (detail::k_most_call_words - 8 - packed<part_request>::k_words);

part_request request_of(std::span<const std::uint64_t> arguments, std::string& path) {
  const auto r = packed<part_request>::read(arguments.data());
  path.resize(r.path_bytes);
  std::memcpy(path.data(), arguments.data() + packed<part_request>::k_words, r.path_bytes);
  return r;
}

std::size_t write_there(std::uint32_t, std::span<const std::uint64_t> arguments, std::uint64_t*) {
  std::string path;
  const part_request r = request_of(arguments, path);
  write_part(path, r.what, r.sync, r.copy != 0 ? copy_at(r.copy)->memory.data() : nullptr);
  return 0;
}

// The answer is where the copy is; 0: there is no memory for it.
std::size_t copy_there(std::uint32_t, std::span<const std::uint64_t> arguments, std::uint64_t* answer) {
  const auto p = packed<part>::read(arguments.data());
  const detail::port& here = detail::this_port();
  const std::uint64_t bytes = bytes_of(share_of(p, here.node), p.file);
  *answer = 0;
  try {
    // The nodes of this machine take theirs at the same time.
    machine::require_memory(bytes * here.context->memory->options().nodes_on_machine, "the copy of an array");
    auto made = std::make_unique<part_copy>(bytes);
    copy_part(p, made->memory.data());
    *answer = reinterpret_cast<std::uintptr_t>(made.release());
  } catch (const error& e) {
    if (e.code() != errc::out_of_memory) throw;
  } catch (const std::bad_alloc&) {
    // As above.
  }
  return 1;
}

std::size_t drop_there(std::uint32_t, std::span<const std::uint64_t> arguments, std::uint64_t*) {
  delete copy_at(arguments[0]);
  return 0;
}

std::size_t read_there(std::uint32_t, std::span<const std::uint64_t> arguments, std::uint64_t*) {
  std::string path;
  const part_request r = request_of(arguments, path);
  read_part(path, r.what);
  return 0;
}

// Throws e as it was thrown on its node, naming that.
[[noreturn]] void rethrow_here(const remote_error& e) {
  if (e.type() != "shoal::error") throw e;
  throw error(e.code(), fmt::format("{} (node {})", e.message(), e.node()));
}

// Calls every node that has blocks.
void call_holders(detail::callee code, const std::string& path, const part& p, bool sync,
                  const part_copies* copies = nullptr) {
  if (path.size() > k_most_path_bytes) throw error(errc::invalid_argument, path + ": the path is too long");
  std::vector<std::uint64_t> words(packed<part_request>::k_words + detail::words_for(path.size()));
  std::memcpy(words.data() + packed<part_request>::k_words, path.data(), path.size());
  try {
    detail::completion calls;
    for (std::uint32_t n = 0; n < detail::this_port().nodes; ++n) {
      if (share_of(p, n).empty()) continue;
      const std::uint64_t copy = copies != nullptr ? copies->of(n) : 0;
      packed<part_request>::write({p, copy, static_cast<std::uint32_t>(path.size()), sync}, words.data());
      detail::begin_call(calls, n, code, words);
    }
    calls.wait_and_rethrow();
  } catch (const remote_error& e) {
    rethrow_here(e);
  }
}

// Makes the file, with its size and header, but without its elements.
void begin_file(const std::string& path, const array_file& file, bool sync) {
  blocking([&] {
    machine::file made(path, machine::file::purpose::make);
    made.resize(file.file_bytes());
    const std::string header = header_of(file);
    made.write_at(std::as_bytes(std::span{header}), 0);
    if (sync) made.sync();
    made.close();
  });
}

}  // namespace

bool part_copies::take(const part& p) {
  const std::uint32_t nodes = detail::this_port().nodes;
  drop();
  of_node_.assign(nodes, 0);
  std::vector<std::uint64_t> words(packed<part>::k_words);
  packed<part>::write(p, words.data());
  bool all = true;
  try {
    detail::completion calls;
    for (std::uint32_t n = 0; n < nodes; ++n)
      if (!share_of(p, n).empty())
        detail::begin_call(calls, n, detail::callee_of<copy_there>(), words, &of_node_[n], 1);
    calls.wait_and_rethrow();
  } catch (const remote_error& e) {
    drop();
    rethrow_here(e);
  }
  for (std::uint32_t n = 0; n < nodes; ++n) all = all && (share_of(p, n).empty() || of_node_[n] != 0);
  if (!all) drop();
  return all;
}

void part_copies::drop() noexcept {
  const std::vector<std::uint64_t> all = std::exchange(of_node_, {});
  try {
    detail::completion calls;
    for (std::uint32_t n = 0; n < all.size(); ++n)
      if (all[n] != 0) detail::begin_call(calls, n, detail::callee_of<drop_there>(), {&all[n], 1});
    calls.wait_and_rethrow();
  } catch (const error&) {
    // A node is lost, and the job ends; there is nothing to free.
  }
}

void write_file(const std::string& path, const part& p, bool sync, const part_copies* copies) {
  // Where this node writes elements too, it gives the header to the disk with them.
  begin_file(path, p.file, sync && share_of(p, detail::this_port().node).empty());
  if (p.file.size > 0) call_holders(detail::callee_of<write_there>(), path, p, sync, copies);
}

array_file open_file(const std::string& path, file_type wanted, file_format format) {
  format = format_of(path, format);
  array_file file;
  blocking([&] {
    const machine::file from(path, machine::file::purpose::read);
    std::vector<std::byte> begin(k_most_header_bytes);
    begin.resize(from.read_at(begin, 0));
    file = read_header(path, format, begin, from.size_bytes(), wanted);
  });
  return file;
}

void read_file(const std::string& path, const part& p) {
  if (p.file.size > 0) call_holders(detail::callee_of<read_there>(), path, p, false);
}

}  // namespace shoal::files
