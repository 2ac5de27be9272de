// SPDX-License-Identifier: Apache-2.0
// Fuzzes all readers of graphs. The first byte chooses the file name, whether ids are compacted, and whether the
// checksums of a .shoalcsr are corrected first, so that the code behind the checksums is reached. An accepted input
// must be valid (vertices in range, the declared number of edges, names for all vertices or none); a rejected one must
// throw a shoal::error with the right code and a message. Also built for libFuzzer; driver.cpp runs it without.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "graph/csr_layout.hpp"
#include "graph/reader.hpp"
#include "shoal/error.hpp"

namespace {

constexpr const char* k_names[] = {"a.txt", "a.mtx", "a.shoalcsr", "a.gz", "a.zst"};
constexpr std::uint64_t k_memory_limit_bytes = std::uint64_t{64} << 20;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "graph_fuzz: %s\n", what);
  std::abort();
}

/// Corrects the checksums of a .shoalcsr.
void mend(std::string& bytes) {
  using shoal::graph::crc;
  constexpr std::size_t header_bytes = shoal::graph::csr_layout::k_bytes;
  constexpr std::size_t sum_bytes = sizeof(std::uint32_t);
  if (bytes.size() < header_bytes + sum_bytes) return;
  const auto all = std::as_bytes(std::span{bytes});
  const auto store = [&](std::size_t at, std::uint32_t sum) {
    sum = shoal::graph::little_endian(sum);
    std::memcpy(bytes.data() + at, &sum, sum_bytes);
  };
  store(header_bytes - sum_bytes, crc(0, all.first(header_bytes - sum_bytes)));
  store(bytes.size() - sum_bytes, crc(0, all.subspan(header_bytes, bytes.size() - header_bytes - sum_bytes)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace shoal;
  if (size == 0) return 0;
  graph::read_options options;
  options.compact_ids = (data[0] & 0x80) != 0;
  options.memory_limit_bytes = k_memory_limit_bytes;
  const std::string name = k_names[(data[0] & 0x3f) % std::size(k_names)];
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if ((data[0] & 0x40) != 0) mend(bytes);
  try {
    const auto graph = graph::read_graph_bytes(bytes, name, options);
    expect(graph.edges == graph.list.size(), "as many edges as the header says");
    expect(graph.names.empty() || graph.names.size() == graph.vertices, "names for all vertices or none");
    for (const auto& e : graph.list) expect(e.from < graph.vertices && e.to < graph.vertices, "vertices in range");
  } catch (const error& e) {
    expect(e.code() == errc::bad_input || e.code() == errc::out_of_memory, "the code of bad input");
    expect(std::string_view{e.what()}.starts_with(name), "the file's name in the message");
    for (const char* c = e.what(); *c != '\0'; ++c) expect(*c >= ' ' && *c <= '~', "a message that can be printed");
  }
  return 0;
}
