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

void here(const detail::arrival&) noexcept {}
void there(const detail::arrival& a) noexcept { static_cast<void>(a.from); }
std::size_t call_here(std::uint32_t from, std::span<const std::uint64_t>, std::uint64_t*) { return from; }
int g_calls = 0;
void not_registered() { g_calls += 1; }

TEST(code, a_body_survives_the_way_through_its_name) {
  const auto a = encode_body(detail::receiver_of<here>());
  const auto b = encode_body(detail::receiver_of<there>());
  const auto c = encode_body(detail::callee_of<call_here>());
  EXPECT_NE(a, b);
  EXPECT_LE(a, detail::k_offset_mask);
  EXPECT_EQ(decode_receiver(a), detail::receiver_of<here>().run());
  EXPECT_EQ(decode_receiver(b), detail::receiver_of<there>().run());
  ASSERT_NE(decode_callee(c), nullptr);
  EXPECT_EQ(decode_callee(c)(7, {}, nullptr), 7U);
}

TEST(code, names_of_nothing_and_of_another_kind_are_refused) {
  encode_body(detail::receiver_of<here>());
  const std::uint64_t program = 0;
  std::uint64_t receivers = 0;
  while (decode_receiver(program | receivers) != nullptr) ++receivers;
  EXPECT_GE(receivers, 2U);
  EXPECT_EQ(decode_receiver(program | receivers), nullptr);
  EXPECT_EQ(decode_receiver(detail::k_offset_mask), nullptr);
  EXPECT_EQ(decode_callee(detail::k_offset_mask), nullptr);
  for (std::uint64_t image = 0; image < 256; ++image) {
    decode_receiver(image << 36 | 5);  // no image, or one without bodies
    EXPECT_EQ(decode_receiver(image << 36 | (receivers + 100'000)), nullptr);
  }
  // The numbers of callees and receivers are different ones.
  const auto c = encode_body(detail::callee_of<call_here>());
  EXPECT_NE(reinterpret_cast<void*>(decode_receiver(c)), reinterpret_cast<void*>(detail::callee_of<call_here>().run()));
}

TEST(code, plain_functions_travel_by_their_place_and_nothing_else_does) {
  const auto a = encode_plain(not_registered);
  EXPECT_EQ(decode_plain(a), not_registered);
  EXPECT_EQ(decode_plain(a + 1), nullptr);
  EXPECT_EQ(decode_plain(detail::k_offset_mask), nullptr);
  EXPECT_EQ(decode_plain(0), nullptr);
  auto* const absolute = reinterpret_cast<void (*)()>(static_cast<int (*)(int)>(&std::abs));
  EXPECT_EQ(decode_plain(encode_plain(absolute)), absolute);
  static int data = 0;
  EXPECT_THROW(encode_plain(reinterpret_cast<void (*)()>(&data)), error);
}

TEST(code, what_lies_in_no_image_is_refused_with_a_sentence) {
  int on_the_stack = 0;
  try {
    encode_plain(reinterpret_cast<void (*)()>(&on_the_stack));
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
