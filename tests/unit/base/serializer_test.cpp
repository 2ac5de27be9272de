// SPDX-License-Identifier: Apache-2.0
#include "shoal/serializer.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

struct person {
  std::string name;
  int age = 0;
  std::vector<std::string> children;
  bool operator==(const person&) const = default;
};

}  // namespace

template <>
struct shoal::serializer<person> : shoal::serialize_members<&person::name, &person::age, &person::children> {};

namespace {

template <class T>
void expect_the_same_again(const T& value) {
  static_assert(shoal::serializable<T>);
  std::vector<std::byte> bytes(shoal::serializer<T>::bytes(value));
  shoal::byte_writer to(bytes.data());
  shoal::serializer<T>::write(value, to);
  EXPECT_EQ(to.position(), bytes.data() + bytes.size());
  shoal::byte_reader from(bytes.data(), bytes.size());
  EXPECT_EQ(shoal::serializer<T>::read(from), value);
  EXPECT_EQ(from.left(), 0U);
  if (bytes.empty()) return;
  shoal::byte_reader cut_off(bytes.data(), bytes.size() - 1);
  EXPECT_THROW(shoal::serializer<T>::read(cut_off), shoal::error);
}

TEST(serializer, brings_values_back) {
  expect_the_same_again(7);
  expect_the_same_again(std::string());
  expect_the_same_again(std::string("a text with \0 in it", 19));
  expect_the_same_again(std::vector<int>{1, 2, 3});
  expect_the_same_again(std::vector<std::string>{"a", "", "bc"});
  expect_the_same_again(std::pair<std::string, int>("x", 2));
  expect_the_same_again(std::optional<std::string>("x"));
  expect_the_same_again(std::optional<std::string>());
  expect_the_same_again(std::optional<int>(3));
  expect_the_same_again(person{"Ada", 36, {"Byron", "Anne"}});
}

TEST(serializer, does_not_believe_lengths) {
  const std::uint32_t many = 0xffffffff;  // elements, in a message of four bytes
  shoal::byte_reader from(&many, sizeof(many));
  EXPECT_THROW(shoal::serializer<std::vector<int>>::read(from), shoal::error);
}

}  // namespace
