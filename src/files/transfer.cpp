// SPDX-License-Identifier: Apache-2.0
#include "files/transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "files/file_thread.hpp"
#include "machine/file.hpp"
#include "shoal/detail/call.hpp"
#include "shoal/detail/port.hpp"
#include "shoal/remote_error.hpp"

namespace shoal::files {
namespace {

using detail::packed;

struct part_request {
  part what;
  std::uint32_t path_bytes;
  bool sync;
};
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
  write_part(path, r.what, r.sync);
  return 0;
}

std::size_t read_there(std::uint32_t, std::span<const std::uint64_t> arguments, std::uint64_t*) {
  std::string path;
  const part_request r = request_of(arguments, path);
  read_part(path, r.what);
  return 0;
}

// Calls every node that has blocks.
void call_holders(detail::callee code, const std::string& path, const part& p, bool sync) {
  if (path.size() > k_most_path_bytes) throw error(errc::invalid_argument, path + ": the path is too long");
  std::vector<std::uint64_t> words(packed<part_request>::k_words + detail::words_for(path.size()));
  packed<part_request>::write({p, static_cast<std::uint32_t>(path.size()), sync}, words.data());
  std::memcpy(words.data() + packed<part_request>::k_words, path.data(), path.size());
  try {
    detail::completion calls;
    for (std::uint32_t n = 0; n < detail::this_port().nodes; ++n)
      if (!share_of(p, n).empty()) detail::begin_call(calls, n, code, words);
    calls.wait_and_rethrow();
  } catch (const remote_error& e) {
    rethrow_here(e);
  }
}

}  // namespace

void rethrow_here(const remote_error& e) {
  if (e.type() != "shoal::error") throw e;
  throw error(e.code(), fmt::format("{} (node {})", e.message(), e.node()));
}

void begin_file(const std::string& path, const array_file& file) {
  file_thread thread;
  thread.run([&] {
    machine::file made(path, machine::file::purpose::write);
    made.resize(file.file_bytes());
    const std::string header = header_of(file);
    made.write_at(std::as_bytes(std::span{header}), 0);
  });
}

void write_file(const std::string& path, const part& p, bool sync) {
  begin_file(path, p.file);
  if (p.file.size > 0) return call_holders(detail::callee_of<write_there>(), path, p, sync);
  write_part(path, p, sync);
}

array_file open_file(const std::string& path, file_type wanted, file_format format) {
  format = format_of(path, format);
  array_file file;
  file_thread thread;
  thread.run([&] {
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
