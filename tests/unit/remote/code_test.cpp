// SPDX-License-Identifier: Apache-2.0
#include "remote/code.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "shoal/detail/command.hpp"
#include "shoal/error.hpp"

namespace shoal::remote {
namespace {

int here(int x) noexcept { return x + 1; }
int there(int x) noexcept { return x + 2; }

TEST(code, a_function_survives_the_way_through_its_name) {
  const auto a = encode_function(here);
  const auto b = encode_function(there);
  EXPECT_NE(a, b);
  EXPECT_LE(a, detail::k_offset_mask);
  EXPECT_EQ(decode_function<int (*)(int) noexcept>(a)(1), 2);
  EXPECT_EQ(decode_function<int (*)(int) noexcept>(b)(1), 3);
}

TEST(code, functions_of_libraries_travel_too) {
  auto* const absolute = reinterpret_cast<void (*)()>(static_cast<int (*)(int)>(&std::abs));
  EXPECT_EQ(decode_code(encode_code(absolute)), absolute);
}

TEST(code, what_lies_in_no_image_is_refused_with_a_sentence) {
  int on_the_stack = 0;
  try {
    encode_code(reinterpret_cast<void (*)()>(&on_the_stack));
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::unsupported);
    EXPECT_NE(std::string(e.what()).find("cannot be sent to other nodes"), std::string::npos);
  }
}

TEST(code, only_the_kernel_s_own_page_is_left_out_whatever_folders_are_called) {
  const auto kept = [](const char* path) { return images_with_code({{path, 0x1000, 0x1000, "build:1"}}).size() == 1; };
  EXPECT_FALSE(kept("linux-vdso.so.1"));
  EXPECT_FALSE(kept("[vdso]"));
  EXPECT_TRUE(kept("/usr/lib/vdso/program"));
  EXPECT_TRUE(kept("/usr/lib/libvdso-tools.so"));
}

TEST(code, more_images_than_can_be_named_are_refused_with_a_sentence) {
  std::vector<machine::image> many(257, {"/usr/lib/one.so", 0x1000, 0x1000, "build:1"});
  EXPECT_THROW(images_with_code(many), error);
  many.front().path = "linux-vdso.so.1";
  EXPECT_EQ(images_with_code(many).size(), 256U);
}

TEST(code, the_fingerprint_names_the_images_and_stays_the_same) {
  const std::string first = code_fingerprint();
  EXPECT_NE(first.find("libc.so"), std::string::npos) << first;
  EXPECT_EQ(first.find("vdso"), std::string::npos) << first;
  EXPECT_EQ(code_fingerprint(), first);
}

}  // namespace
}  // namespace shoal::remote
