// SPDX-License-Identifier: Apache-2.0
#include "machine/mapped_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "shoal/error.hpp"

namespace shoal::machine {
namespace {

TEST(mapped_file, what_is_written_is_in_the_file) {
  const std::string path = testing::TempDir() + "mapped_file_test";
  {
    const mapped_file f = mapped_file::make(path, 10'000);
    ASSERT_EQ(f.bytes().size(), 10'000U);
    EXPECT_EQ(f.bytes()[9'999], std::byte{0});
    f.bytes()[5'000] = std::byte{'x'};
    const mapped_file again = mapped_file::read(path);  // while it is mapped
    EXPECT_EQ(again.bytes()[5'000], std::byte{'x'});
  }
  EXPECT_EQ(std::filesystem::file_size(path), 10'000U);
  mapped_file moved = mapped_file::read(path);
  const mapped_file target = std::move(moved);
  EXPECT_EQ(target.bytes()[5'000], std::byte{'x'});
  std::ofstream(path, std::ios::trunc);
  EXPECT_TRUE(mapped_file::read(path).bytes().empty());
  std::filesystem::remove(path);
  EXPECT_THROW(mapped_file::read(path), error);
  EXPECT_THROW(mapped_file::make("/no/such/folder/file", 10), error);
}

std::uintmax_t allocated_bytes(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return static_cast<std::uintmax_t>(status.st_blocks) * 512;
}

TEST(mapped_file, its_room_is_reserved_when_it_is_made) {
  const std::string path = testing::TempDir() + "mapped_file_test_room";
  {
    const mapped_file f = mapped_file::make(path, 1'000'000);
    EXPECT_GE(allocated_bytes(path), 1'000'000U);
  }
  std::filesystem::remove(path);
  const std::uintmax_t capacity = std::filesystem::space(testing::TempDir()).capacity;
  if (capacity == 0) GTEST_SKIP() << "this file system has no limit";
  try {
    static_cast<void>(mapped_file::make(path, capacity + (std::uintmax_t{1} << 30)));
    FAIL() << "there was room for a file larger than the file system";
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find("cannot reserve"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find(path), std::string::npos) << e.what();
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace shoal::machine
