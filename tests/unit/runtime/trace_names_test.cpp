// SPDX-License-Identifier: Apache-2.0
#include "runtime/trace_names.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace shoal::runtime {
namespace {

[[gnu::noinline]] int some_traced_function(int n) { return n * 3; }

trace::node_trace of_a_program_that_crashed() {
  trace::node_trace t;
  t.images = traced_images();
  t.workers = {{{1, trace::event_kind::task_begin, 0, 0, reinterpret_cast<std::uint64_t>(&some_traced_function)}}};
  return t;
}

TEST(trace_names, code_of_a_program_that_crashed_has_the_names_of_its_file) {
  trace::node_trace t = of_a_program_that_crashed();
  const std::uint64_t address = t.workers[0][0].value;
  ASSERT_NE(t.image_at(address), nullptr);
  name_code(t);
  EXPECT_NE(t.code[address].find("some_traced_function"), std::string::npos) << t.code[address];
  EXPECT_EQ(some_traced_function(2), 6);
}

TEST(trace_names, a_file_that_has_changed_gives_no_names) {
  trace::node_trace t = of_a_program_that_crashed();
  for (trace::code_image& i : t.images) --i.file_time_ns;
  name_code(t);
  const std::string name = t.code[t.workers[0][0].value];
  EXPECT_EQ(name.find("some_traced_function"), std::string::npos) << name;
  EXPECT_NE(name.find("+0x"), std::string::npos) << name;
}

}  // namespace
}  // namespace shoal::runtime
