// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of checkpoints' manifests. The first byte says whether the checksum is corrected first. An accepted
// manifest must be one that can be written and read again; a rejected one must throw bad_input with the file's name.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "files/manifest.hpp"
#include "shoal/error.hpp"

namespace {

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "manifest_fuzz: %s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace shoal;
  if (size == 0) return 0;
  std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if ((data[0] & 1) != 0)
    if (const std::size_t last = text.rfind("\nchecksum "); last != std::string::npos) {
      text.resize(last + 1);
      text += files::checksum_line(text);
    }
  try {
    const files::manifest m = files::read_manifest("name", text);
    expect(m.number > 0, "a number");
    for (const auto& a : m.arrays) {
      std::uint64_t product = 1;
      for (const std::uint64_t extent : a.shape) product *= extent;
      expect(product == a.size && a.type.bytes > 0 && files::is_checkpoint_name(a.name), "an array that can exist");
    }
    for (const auto& v : m.values)
      expect(v.bytes.size() == v.type.bytes && files::is_checkpoint_name(v.name), "a value of its size");
    const std::string again = files::text_of(m);
    expect(files::text_of(files::read_manifest("name", again)) == again, "the same when it is written and read again");
  } catch (const error& e) {
    expect(e.code() == errc::bad_input, "the code of bad input");
    expect(std::string_view{e.what()}.starts_with("name "), "the file's name in the message");
    for (const char* c = e.what(); *c != '\0'; ++c) expect(*c >= ' ' && *c <= '~', "a message that can be printed");
  }
  return 0;
}
