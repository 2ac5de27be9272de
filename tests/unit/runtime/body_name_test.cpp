// SPDX-License-Identifier: Apache-2.0
#include "runtime/body_name.hpp"

#include <gtest/gtest.h>

namespace shoal::runtime {
namespace {

TEST(body_name, is_the_lambda_and_the_function_around_it) {
  const body_name found = name_body(
      "shoal::task_group::child_of<work::solve(int, std::vector<int>)::{lambda()#1}::operator()() const::{lambda()#2}, "
      "true>::child_of<work::solve(int, std::vector<int>)::{lambda()#1}::operator()() const::{lambda()#2}>(shoal::task_"
      "group const&)::{lambda(shoal::detail::task&)#1}::_FUN(shoal::detail::task&)");
  EXPECT_EQ(found.body, "lambda 2");
  EXPECT_EQ(found.spawned_in, "work::solve(int, std::vector<int>), lambda 1");
}

TEST(body_name, is_found_behind_wrappers_and_results) {
  const body_name sized =
      name_body("shoal::task_group::child_of<shoal::detail::body_on_stack<main::{lambda()#3}>, false>::call()");
  EXPECT_EQ(sized.body, "lambda 3");
  EXPECT_EQ(sized.spawned_in, "main");
  const body_name future =
      name_body("shoal::detail::async_state<int, f()::{lambda()#1}>::step(shoal::detail::future_state&)");
  EXPECT_EQ(future.body, "lambda 1");
  EXPECT_EQ(future.spawned_in, "f()");
}

TEST(body_name, is_the_type_where_there_is_no_lambda) {
  const body_name found = name_body("shoal::task_group::child_of<work::step, true>::run(shoal::detail::task&)");
  EXPECT_EQ(found.body, "work::step");
  EXPECT_EQ(found.spawned_in, "");
  EXPECT_EQ(name_body("plain_function").body, "plain_function");
}

TEST(function_name, has_no_result_no_arguments_and_short_template_arguments) {
  EXPECT_EQ(function_name("a::f(int, b::c)"), "a::f");
  EXPECT_EQ(function_name("void a::f<int>(int)"), "a::f<int>");
  EXPECT_EQ(
      function_name("std::vector<a::b<c>, d> a::(anonymous namespace)::f<an::argument::that::is::long_to_read>(int)"),
      "a::(anonymous namespace)::f<...>");
  EXPECT_EQ(function_name("a::b::operator()(int) const"), "a::b::operator()");
  EXPECT_EQ(function_name("a::operator<(b, c)"), "a::operator<");
  EXPECT_EQ(function_name("main"), "main");
  EXPECT_EQ(function_name("a::f(int)::{lambda(b)#2}::operator()(b) const"), "lambda 2 in a::f(int)");
}

TEST(function_name, is_not_the_word_that_gives_the_type_of_the_result) {
  EXPECT_EQ(function_name("decltype(auto) a::f<int>(int)"), "a::f<int>");
  EXPECT_EQ(function_name("decltype (((declval<a::b*>)())->c((int)(0))) a::f<a::b>(a::b*)"), "a::f<a::b>");
  EXPECT_EQ(function_name("decltype ((a)>(b)) (anonymous namespace)::f<int>(int, int)"),
            "(anonymous namespace)::f<int>");
  EXPECT_EQ(function_name("std::enable_if<((a::n)>(3)), void>::type a::f<int>(int)"), "a::f<int>");
  EXPECT_EQ(function_name("decltype(auto) a::f<int>(int)::{lambda(b)#2}::operator()(b) const"),
            "lambda 2 in a::f<int>(int)");
  EXPECT_EQ(function_name("decltype_of::f(int)"), "decltype_of::f");
  EXPECT_EQ(function_name("decltype(auto) a::b::operator()<int>(int) const"), "a::b::operator()<int>");
  EXPECT_EQ(function_name("a::b::operator unsigned long() const"), "a::b::operator unsigned long");
  EXPECT_EQ(function_name("bool a::operator< <int>(b, c)").substr(0, 12), "a::operator<");
  EXPECT_EQ(function_name("operators::f(int)"), "operators::f");
}

}  // namespace
}  // namespace shoal::runtime
