// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <system_error>
#include <vector>

#include "graph/csr_file.hpp"
#include "graph/csr_layout.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/error.hpp"

namespace shoal::graph {
namespace {

/// A file that gets its name only when it has been written completely. After a failure no file remains.
class whole_file {
public:
  explicit whole_file(const std::string& path)
      : path_(path), part_(path + ".part"), file_(std::fopen(part_.c_str(), "wb")) {
    if (file_ == nullptr) fail("cannot be created");
  }
  whole_file(const whole_file&) = delete;
  whole_file& operator=(const whole_file&) = delete;
  ~whole_file() {
    if (file_ != nullptr) {
      std::fclose(file_);
      std::remove(part_.c_str());
    }
  }

  void write(std::span<const std::byte> bytes) {
    if (!bytes.empty() && std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail("cannot be written");
  }

  void finish() {
    if (std::fflush(file_) != 0) fail("cannot be written");
    std::error_code code;
    std::filesystem::rename(part_, path_, code);
    if (code) throw error(errc::system, fmt::format("{}: cannot be created: {}", path_, code.message()));
    std::fclose(file_);
    file_ = nullptr;
  }

private:
  [[noreturn]] void fail(const char* what) const {
    throw error(errc::system, fmt::format("{}: {}: {}", path_, what, std::generic_category().message(errno)));
  }

  std::string path_;
  std::string part_;
  std::FILE* file_;
};

class payload_writer {
public:
  explicit payload_writer(whole_file& to) : to_(to) {}

  void bytes(std::span<const std::byte> part) {
    checksum_ = crc(checksum_, part);
    to_.write(part);
  }

  template <class Number>
  void numbers(std::span<const Number> all) {
    if constexpr (std::endian::native == std::endian::little) {
      bytes(std::as_bytes(all));
    } else {
      for (const Number number : all) {
        const Number swapped = little_endian(number);
        bytes(std::as_bytes(std::span{&swapped, 1}));
      }
    }
  }

  void end() {
    const std::uint32_t checksum = little_endian(checksum_);
    to_.write(std::as_bytes(std::span{&checksum, 1}));
  }

private:
  whole_file& to_;
  std::uint32_t checksum_ = 0;
};

template <class Target>
void write(const std::string& path, const csr<Target>& rows, const graph_header& header) {
  SHOAL_ASSERT(rows.first == 0 && rows.last == rows.vertices, "a file contains the rows of all vertices");
  SHOAL_ASSERT(header.names.empty() || header.names.size() == rows.vertices,
               "a graph has names for all vertices or none");
  csr_layout layout;
  layout.directed = header.directed;
  layout.wide = sizeof(Target) == sizeof(std::uint64_t);
  layout.names = !header.names.empty();
  layout.vertices = rows.vertices;
  layout.edges = rows.targets.size();
  for (const std::string& name : header.names) {
    if (name.find('\0') != std::string::npos)
      throw error(errc::invalid_argument, "the name of a vertex contains a zero byte");
    layout.names_bytes += name.size() + 1;
  }
  if (const std::string equal = describe_equal_names(header.names); !equal.empty())
    throw error(errc::invalid_argument, equal);

  whole_file file(path);
  file.write(layout.encode());
  payload_writer payload(file);
  payload.numbers(std::span{rows.offsets});
  payload.numbers(std::span{rows.targets});
  for (const std::string& name : header.names) payload.bytes(std::as_bytes(std::span{name.c_str(), name.size() + 1}));
  payload.end();
  file.finish();
}

}  // namespace

void write_csr_file(const std::string& path, const csr<std::uint32_t>& rows, const graph_header& header) {
  write(path, rows, header);
}
void write_csr_file(const std::string& path, const csr<std::uint64_t>& rows, const graph_header& header) {
  write(path, rows, header);
}

void write_csr_file(const std::string& path, const edge_list& graph) {
  if (graph.vertices == 0 || graph.vertices - 1 <= std::numeric_limits<std::uint32_t>::max()) {
    write(path, build_csr<std::uint32_t>(graph.list, graph.vertices, 0, graph.vertices), graph);
  } else {
    write(path, build_csr<std::uint64_t>(graph.list, graph.vertices, 0, graph.vertices), graph);
  }
}

}  // namespace shoal::graph
