// SPDX-License-Identifier: Apache-2.0
#include "machine/file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "shoal/error.hpp"

namespace {

namespace fs = std::filesystem;
using shoal::errc;
using shoal::machine::file;

class files_on_disk : public testing::Test {
protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "shoal-file-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string folder_;
};

std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span{text}); }

template <class F>
errc code_of(F&& f, std::string* message = nullptr) {
  try {
    f();
  } catch (const shoal::error& e) {
    if (message != nullptr) *message = e.what();
    return e.code();
  }
  return errc::internal;
}

TEST_F(files_on_disk, what_is_written_at_a_position_is_read_there) {
  file f(path("a"), file::purpose::replace);
  f.resize(1000);
  f.write_at(bytes("hello"), 100);
  f.begin_writing(100, 5);
  f.sync();
  std::string got(5, ' ');
  const file same(path("a"), file::purpose::read);
  EXPECT_EQ(same.size_bytes(), 1000U);
  EXPECT_EQ(same.read_at(std::as_writable_bytes(std::span{got}), 100), 5U);
  EXPECT_EQ(got, "hello");
  EXPECT_EQ(same.read_at(std::as_writable_bytes(std::span{got}), 998), 2U);
  EXPECT_EQ(same.read_at(std::as_writable_bytes(std::span{got}), 2000), 0U);
}

TEST_F(files_on_disk, writing_keeps_what_is_there_and_replacing_does_not) {
  file(path("a"), file::purpose::replace).write_at(bytes("abc"), 0);
  file(path("a"), file::purpose::write).write_at(bytes("X"), 1);
  std::string got(3, ' ');
  EXPECT_EQ(file(path("a"), file::purpose::read).read_at(std::as_writable_bytes(std::span{got}), 0), 3U);
  EXPECT_EQ(got, "aXc");
  EXPECT_EQ(file(path("a"), file::purpose::replace).size_bytes(), 0U);
}

TEST_F(files_on_disk, writing_makes_no_file) {
  EXPECT_EQ(code_of([&] { file(path("a"), file::purpose::write); }), errc::not_found);
  EXPECT_FALSE(fs::exists(path("a")));
}

TEST_F(files_on_disk, what_is_only_written_needs_no_right_to_read) {
  file(path("a"), file::purpose::make);
  fs::permissions(path("a"), fs::perms::owner_write);
  file(path("a"), file::purpose::write).write_at(bytes("x"), 0);
  std::string got(1, ' ');
  file f(path("b"), file::purpose::replace);
  EXPECT_EQ(code_of([&] { f.read_at(std::as_writable_bytes(std::span{got}), 0); }), errc::system);
}

TEST_F(files_on_disk, closing_says_what_the_system_says) {
  file f(path("a"), file::purpose::make);
  f.close();
  f.close();  // nothing is open
  EXPECT_EQ(code_of([&] { f.size_bytes(); }), errc::system);
}

TEST_F(files_on_disk, a_file_knows_whether_its_path_names_it) {
  file f(path("a"), file::purpose::make);
  EXPECT_TRUE(f.is_named());
  shoal::machine::rename_file(path("a"), path("b"));
  EXPECT_FALSE(f.is_named());
  const file other(path("a"), file::purpose::make);
  EXPECT_FALSE(f.is_named());
  EXPECT_TRUE(other.is_named());
}

TEST_F(files_on_disk, names_are_replaced_and_removed) {
  file(path("a"), file::purpose::make).write_at(bytes("new"), 0);
  file(path("b"), file::purpose::make).write_at(bytes("old one"), 0);
  shoal::machine::rename_file(path("a"), path("b"));
  shoal::machine::sync_folder(folder_);
  EXPECT_EQ(file(path("b"), file::purpose::read).size_bytes(), 3U);
  EXPECT_FALSE(shoal::machine::remove_file(path("a")));
  EXPECT_TRUE(shoal::machine::remove_file(path("b")));
}

TEST_F(files_on_disk, refusals_name_the_file_and_what_to_do) {
  std::string message;
  EXPECT_EQ(code_of([&] { file(path("none"), file::purpose::read); }, &message), errc::not_found);
  EXPECT_NE(message.find(path("none")), message.npos) << message;
  EXPECT_EQ(code_of([&] { file(folder_, file::purpose::read); }), errc::system);
  EXPECT_EQ(code_of([&] { file(path("no/folder"), file::purpose::make); }), errc::not_found);
  EXPECT_EQ(code_of([&] { file("/dev/full", file::purpose::write).write_at(bytes("x"), 0); }, &message), errc::system);
  EXPECT_NE(message.find("free some space"), message.npos) << message;
  file(path("plain"), file::purpose::make).resize(0);
  EXPECT_EQ(code_of([&] { shoal::machine::make_folder(path("plain")); }), errc::system);
}

TEST_F(files_on_disk, a_limit_of_file_sizes_is_an_error_and_no_signal) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 4096;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  file f(path("a"), file::purpose::make);
  const errc got = code_of([&] { f.resize(5000); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(got, errc::system);
}

TEST_F(files_on_disk, one_process_holds_a_lock) {
  file first(path("lock"), file::purpose::make);
  EXPECT_TRUE(first.try_lock());
  EXPECT_FALSE(file(path("lock"), file::purpose::write).try_lock());
  first = file();
  EXPECT_TRUE(file(path("lock"), file::purpose::write).try_lock());
}

TEST_F(files_on_disk, folders_and_paths) {
  shoal::machine::make_folder(path("x/y/z"));
  shoal::machine::make_folder(path("x/y/z"));
  EXPECT_TRUE(fs::is_directory(path("x/y/z")));
  EXPECT_EQ(shoal::machine::names_in(path("x")), (std::vector<std::string>{"y"}));
  EXPECT_TRUE(shoal::machine::names_in(path("none")).empty());
  file(path("x/y/f"), file::purpose::make);
  EXPECT_EQ(code_of([&] { shoal::machine::names_in(path("x/y/f")); }), errc::system);
  EXPECT_TRUE(shoal::machine::remove_folder(path("x/y")));
  EXPECT_FALSE(shoal::machine::remove_folder(path("x/y")));
  shoal::machine::make_folder(path("x/y/z"));
  EXPECT_EQ(shoal::machine::folder_of("a"), ".");
  EXPECT_EQ(shoal::machine::folder_of("/x/a"), "/x");
  EXPECT_EQ(shoal::machine::absolute_path("/x/y/../a"), "/x/y/../a");
  shoal::machine::make_folder(path("far/below"));
  fs::create_directory_symlink(path("far/below"), path("link"));
  file(path("far/f"), file::purpose::make);
  file(shoal::machine::absolute_path(path("link/../f")), file::purpose::read);
  EXPECT_EQ(shoal::machine::absolute_path("a"), (fs::current_path() / "a").string());
}

}  // namespace
