// SPDX-License-Identifier: Apache-2.0
// From the kernel's records to marks: the formats are those of a kernel, the records are made by hand.
#include "noise/kernel_mark.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace shoal::noise {
namespace {

using kind = kernel_mark::kind;

constexpr const char* k_switch_format =
    "name: sched_switch\nID: 372\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
    "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
    "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
    "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
    "\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
    "\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n";
constexpr const char* k_handler_format =
    "name: irq_handler_entry\nID: 225\nformat:\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
    "\tfield:int irq;\toffset:8;\tsize:4;\tsigned:1;\n"
    "\tfield:__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:0;\n";

class record_maker {
public:
  template <class T>
  record_maker& put(std::size_t offset, T value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof value);
    return *this;
  }
  record_maker& text(std::size_t offset, const char* words) {
    std::memcpy(bytes_.data() + offset, words, std::strlen(words));
    return *this;
  }
  machine::kernel_record of(const machine::tracepoint& p) const { return {5000, &p, 0, bytes_}; }

private:
  std::array<std::byte, 64> bytes_{};
};

TEST(kernel_mark, a_switch_names_both_threads_and_whether_the_first_could_go_on) {
  const auto point = machine::parse_tracepoint("sched:sched_switch", k_switch_format);
  word_table words;
  mark_reader reader(words);
  record_maker r;
  r.put<std::int32_t>(4, 11).text(8, "worker").put<std::int32_t>(24, 11).put<std::int64_t>(32, 0x100);
  r.text(40, "kworker/0:1").put<std::int32_t>(56, 22);
  const auto m = reader.read(r.of(point), 3);
  ASSERT_TRUE(m.has_value());
  EXPECT_EQ(m->is, kind::switched);
  EXPECT_EQ(m->time_ns, 5000U);
  EXPECT_EQ(m->processor, 3U);
  EXPECT_EQ(m->thread, 11);
  EXPECT_EQ(m->other, 22);
  EXPECT_TRUE(m->runnable);
  EXPECT_EQ(words.word(m->detail), "kworker/0:1");
  EXPECT_EQ(words.word(m->thread_detail), "worker");
  r.put<std::int64_t>(32, 1);  // it sleeps
  EXPECT_FALSE(reader.read(r.of(point), 3)->runnable);
}

TEST(kernel_mark, a_devices_interrupt_has_its_name) {
  const auto point = machine::parse_tracepoint("irq:irq_handler_entry", k_handler_format);
  word_table words;
  mark_reader reader(words);
  record_maker r;
  r.put<std::int32_t>(4, 11).put<std::int32_t>(8, 36).put<std::uint32_t>(12, (6U << 16) | 16U).text(16, "disk0");
  const auto m = reader.read(r.of(point), 0);
  ASSERT_TRUE(m.has_value());
  EXPECT_EQ(m->what, activity::device_interrupt);
  EXPECT_EQ(words.word(m->detail), "disk0");
}

TEST(kernel_mark, lost_records_are_a_mark) {
  word_table words;
  const auto m = mark_reader(words).read({77, nullptr, 9, {}}, 1);
  ASSERT_TRUE(m.has_value());
  EXPECT_EQ(m->is, kind::lost);
  EXPECT_EQ(m->count, 9U);
}

TEST(kernel_mark, softirqs_are_told_apart) {
  const auto point = machine::parse_tracepoint("irq:softirq_entry",
                                               "ID: 223\n\tfield:unsigned int vec;\toffset:8;\tsize:4;\tsigned:0;\n");
  word_table words;
  mark_reader reader(words);
  for (const auto& [vector, what] : {std::pair{1U, activity::timer_softirq},
                                     {3U, activity::network_receive_softirq},
                                     {7U, activity::scheduler_softirq},
                                     {9U, activity::rcu_softirq}}) {
    record_maker r;
    EXPECT_EQ(reader.read(r.put<std::uint32_t>(8, vector).of(point), 0)->what, what);
  }
}

}  // namespace
}  // namespace shoal::noise
