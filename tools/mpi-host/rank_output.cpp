// SPDX-License-Identifier: Apache-2.0
// Standard output and error of the ranks of a process: one stream for all in libc's eyes, without a buffer, of which each
// rank's part is gathered into whole lines here. C++ streams come here past libc.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <iostream>
#include <new>
#include <streambuf>
#include <string_view>

#include "rank/rank.hpp"
#include "tools/mpi-host/rank_libc.hpp"
#include "tools/mpi-host/start.h"

namespace shoal::host {
namespace {

constexpr std::size_t k_longest_line = std::size_t{64} << 10;  // what is longer goes out in pieces

struct channel {
  line_output rank_libc::*of;
  int descriptor;
};
constexpr channel k_out{&rank_libc::out, STDOUT_FILENO};
constexpr channel k_err{&rank_libc::err, STDERR_FILENO};

// Set before the ranks begin.
bool output_is_split = false;
bool has_labels = false;

bool write_all(int descriptor, std::string_view data) noexcept {
  SHOAL_NEXT(write);
  while (!data.empty()) {
    const ssize_t n = write_next(descriptor, data.data(), data.size());
    if (n < 0 && errno != EINTR) return false;
    if (n > 0) data.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

// `data` begins a line unless the output is in one already.
bool emit(const rank_libc& of, line_output& to, const channel& by, std::string_view data) {
  const int descriptor = to.descriptor >= 0 ? to.descriptor : by.descriptor;
  if (data.empty()) return true;
  if (!has_labels || to.of_program) return write_all(descriptor, data);
  const std::string label = fmt::format("[{}] ", of.world);
  std::string text;
  while (!data.empty()) {
    if (!to.in_line) text += label;
    const std::size_t end = data.find('\n');
    to.in_line = end == data.npos;
    text += data.substr(0, to.in_line ? data.size() : end + 1);
    data.remove_prefix(to.in_line ? data.size() : end + 1);
  }
  return write_all(descriptor, text);
}

bool put(rank_libc& of, const channel& by, std::string_view data) {
  const std::lock_guard hold(of.mutex);
  line_output& to = of.*by.of;
  if (by.descriptor == STDERR_FILENO) return emit(of, to, by, data);
  const std::size_t lines = data.rfind('\n') + 1;
  bool written = true;
  if (lines != 0 && to.held.empty()) {
    written = emit(of, to, by, data.substr(0, lines));
  } else if (lines != 0) {
    to.held += data.substr(0, lines);
    written = emit(of, to, by, to.held);
    to.held.clear();
  }
  to.held += data.substr(lines);
  if (to.held.size() > k_longest_line) {
    written = emit(of, to, by, to.held) && written;
    to.held.clear();
  }
  return written;
}

ssize_t write_stream(void* raw, const char* data, std::size_t bytes) {
  const channel& by = *static_cast<const channel*>(raw);
  rank_libc* const mine = calling_libc();
  const bool written = mine != nullptr ? put(*mine, by, {data, bytes}) : write_all(by.descriptor, {data, bytes});
  return written ? static_cast<ssize_t>(bytes) : 0;
}

class rank_streambuf final : public std::streambuf {
public:
  explicit rank_streambuf(const channel& by) : by_(by) {}

protected:
  std::streamsize xsputn(const char* data, std::streamsize bytes) override {
    return write_stream(const_cast<channel*>(&by_), data, static_cast<std::size_t>(bytes));
  }
  int overflow(int letter) override {
    if (letter == traits_type::eof()) return 0;
    const char one = traits_type::to_char_type(letter);
    return xsputn(&one, 1) == 1 ? letter : traits_type::eof();
  }

private:
  const channel by_;
};

std::FILE* open_stream(const channel& by) {
  std::FILE* const made = ::fopencookie(const_cast<channel*>(&by), "w", {nullptr, write_stream, nullptr, nullptr});
  std::setvbuf(made, nullptr, _IONBF, 0);
  return made;
}

// The output of the calling rank that `stream` is; nullptr: none.
line_output* output_of(const std::FILE* stream, rank_libc** of) noexcept {
  rank_libc* const mine = output_is_split && (stream == stdout || stream == stderr) ? calling_libc() : nullptr;
  if (mine == nullptr) return nullptr;
  *of = mine;
  return stream == stdout ? &mine->out : &mine->err;
}

int flags_of(std::string_view mode) noexcept {
  const bool both = mode.find('+') != mode.npos;
  const int access = both ? O_RDWR : mode.starts_with('r') ? O_RDONLY : O_WRONLY;
  return access | (mode.starts_with('w') ? O_CREAT | O_TRUNC : mode.starts_with('a') ? O_CREAT | O_APPEND : 0);
}

}  // namespace

void split_output(bool label) {
  std::fflush(nullptr);
  stdout = open_stream(k_out);
  stderr = open_stream(k_err);
  std::cout.rdbuf(new rank_streambuf(k_out));
  std::cerr.rdbuf(new rank_streambuf(k_err));
  std::clog.rdbuf(new rank_streambuf(k_err));
  has_labels = label;
  output_is_split = true;
}

bool is_rank_output(const std::FILE* stream) noexcept {
  rank_libc* mine = nullptr;
  return output_of(stream, &mine) != nullptr;
}

void make_streams(void* const (&at)[3]) {
  static_assert(sizeof(std::ostream) <= SHOAL_STREAM_BYTES);
  auto* const out = new (at[0]) std::ostream(std::cout.rdbuf());
  auto* const err = new (at[1]) std::ostream(std::cerr.rdbuf());
  new (at[2]) std::ostream(std::clog.rdbuf());
  err->setf(std::ios_base::unitbuf);
  err->tie(out);
}

void finish_output(rank_libc& of) {
  const std::lock_guard hold(of.mutex);
  if (!of.out.held.empty()) {
    if (!of.out.of_program) of.out.held += '\n';  // another rank's line may follow
    emit(of, of.out, k_out, of.out.held);
    of.out.held.clear();
  }
}

}  // namespace shoal::host

using namespace shoal::host;  // NOLINT: the functions of a C interface

// Of a rank, what Fortran's and a program's own writes give belongs to its lines.
SHOAL_INTERPOSED ssize_t write(int descriptor, const void* data, std::size_t bytes) {
  SHOAL_NEXT(write);
  rank_libc* const mine = descriptor == STDOUT_FILENO && output_is_split && in_own_process() ? calling_libc() : nullptr;
  if (mine == nullptr) return write_next(descriptor, data, bytes);
  return put(*mine, k_out, {static_cast<const char*>(data), bytes}) ? static_cast<ssize_t>(bytes) : -1;
}

// The stream of all ranks stays without a buffer.
SHOAL_INTERPOSED int setvbuf(std::FILE* stream, char* buffer, int mode, std::size_t bytes) noexcept {
  SHOAL_NEXT(setvbuf);
  rank_libc* mine = nullptr;
  return output_of(stream, &mine) != nullptr ? 0 : setvbuf_next(stream, buffer, mode, bytes);
}

SHOAL_INTERPOSED void setbuf(std::FILE* stream, char* buffer) noexcept {
  setvbuf(stream, buffer, buffer != nullptr ? _IOFBF : _IONBF, BUFSIZ);
}

SHOAL_INTERPOSED void setbuffer(std::FILE* stream, char* buffer, std::size_t bytes) noexcept {
  setvbuf(stream, buffer, buffer != nullptr ? _IOFBF : _IONBF, bytes);
}

SHOAL_INTERPOSED void setlinebuf(std::FILE* stream) noexcept { setvbuf(stream, nullptr, _IOLBF, 0); }

SHOAL_INTERPOSED int fileno(std::FILE* stream) noexcept {
  SHOAL_NEXT(fileno);
  rank_libc* mine = nullptr;
  const line_output* const to = output_of(stream, &mine);
  if (to == nullptr) return fileno_next(stream);
  return to->descriptor >= 0 ? to->descriptor : stream == stdout ? STDOUT_FILENO : STDERR_FILENO;
}

SHOAL_INTERPOSED int fclose(std::FILE* stream) {
  SHOAL_NEXT(fclose);
  rank_libc* mine = nullptr;
  if (output_of(stream, &mine) == nullptr) return fclose_next(stream);
  finish_output(*mine);  // other ranks go on with it
  return 0;
}

// The rank's own output goes into the file, and no other's.
SHOAL_INTERPOSED std::FILE* freopen(const char* path, const char* mode, std::FILE* stream) {
  SHOAL_NEXT(freopen);
  rank_libc* mine = nullptr;
  line_output* const to = output_of(stream, &mine);
  if (to == nullptr || path == nullptr) return to == nullptr ? freopen_next(path, mode, stream) : stream;
  constexpr int k_for_all = 0666;
  const int descriptor = ::open(path, flags_of(mode) | O_CLOEXEC, k_for_all);
  if (descriptor < 0) return nullptr;
  finish_output(*mine);
  const std::lock_guard hold(mine->mutex);
  if (to->descriptor >= 0) ::close(to->descriptor);
  to->descriptor = descriptor;
  to->of_program = true;
  return stream;
}

// std::ios_base::sync_with_stdio(): without it, libstdc++ writes to the process's descriptor in blocks of all ranks, by
// streams that are not those of the copy.
SHOAL_INTERPOSED bool _ZNSt8ios_base15sync_with_stdioEb(bool wanted) {
  static auto* const next_one = next<bool(bool)>("_ZNSt8ios_base15sync_with_stdioEb");
  return calling_libc() != nullptr ? true : next_one(wanted);
}
