// SPDX-License-Identifier: Apache-2.0
// What the tests of the graph readers share: compressing, files that go away, and the message of a refusal.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/reader.hpp"
#include "shoal/error.hpp"

namespace shoal::graph::test {

inline std::string gzip(std::string_view text) {
  std::string out(compressBound(static_cast<uLong>(text.size())) + 64, '\0');
  z_stream state{};
  EXPECT_EQ(deflateInit2(&state, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  state.avail_in = static_cast<uInt>(text.size());
  state.next_out = reinterpret_cast<Bytef*>(out.data());
  state.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&state, Z_FINISH), Z_STREAM_END);
  out.resize(state.total_out);
  deflateEnd(&state);
  return out;
}

inline std::string zstd(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  const std::size_t size = ZSTD_compress2(context, out.data(), out.size(), text.data(), text.size());
  EXPECT_EQ(ZSTD_isError(size), 0u);
  ZSTD_freeCCtx(context);
  out.resize(size);
  return out;
}

/// A file of this name (in a folder of its own) with this content, for the life of the object.
class scratch_file {
public:
  explicit scratch_file(const std::string& name, std::string_view content = {}) {
    const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) / (std::string("shoal-graph-") + test->test_suite_name() + "-" +
                                                           test->name() + "-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    path_ = folder_ / name;
    std::ofstream(path_, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
  }
  scratch_file(const scratch_file&) = delete;
  scratch_file& operator=(const scratch_file&) = delete;
  ~scratch_file() { std::filesystem::remove_all(folder_); }

  std::string path() const { return path_.string(); }
  std::string content() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

private:
  std::filesystem::path folder_;
  std::filesystem::path path_;
};

/// The message with which f refuses, after checking the code; "" and a failure if it does not.
template <class F>
std::string refusal(F&& f, errc code = errc::bad_input) {
  try {
    f();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return "";
}

/// The refusal of `text` as the file `name`.
inline std::string refused(std::string_view text, const std::string& name, const read_options& options = {},
                           errc code = errc::bad_input) {
  return refusal([&] { read_graph_bytes(text, name, options); }, code);
}

inline edge_list read_text(std::string_view text, const std::string& name, const read_options& options = {}) {
  return read_graph_bytes(text, name, options);
}

using edges = std::vector<edge>;

}  // namespace shoal::graph::test
