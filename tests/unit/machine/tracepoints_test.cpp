// SPDX-License-Identifier: Apache-2.0
#include "machine/tracepoints.hpp"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <cstring>
#include <thread>

#include "machine/thread_id.hpp"
#include "machine/topology.hpp"
#include "shoal/error.hpp"

namespace shoal::machine {
namespace {

template <class T>
void append(std::vector<std::byte>& to, const T& value) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
  to.insert(to.end(), bytes, bytes + sizeof value);
}

void append_sample(std::vector<std::byte>& to, std::uint64_t time, std::uint16_t number, std::int32_t value) {
  const std::uint32_t raw = 12;
  append(to,
         perf_event_header{PERF_RECORD_SAMPLE, 0, static_cast<std::uint16_t>(sizeof(perf_event_header) + 12 + raw)});
  append(to, time);
  append(to, raw);
  append(to, number);
  append(to, std::uint16_t{0});
  append(to, std::int32_t{0});
  append(to, value);
}

TEST(tracepoints, a_format_is_read) {
  const tracepoint p =
      parse_tracepoint("irq:irq_handler_entry",
                       "name: irq_handler_entry\nID: 225\nformat:\n"
                       "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
                       "\tfield:int irq;\toffset:8;\tsize:4;\tsigned:1;\n"
                       "\tfield:__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:0;\n"
                       "\tfield:char comm[16];\toffset:16;\tsize:16;\tsigned:0;\n\nprint fmt: \"x\"\n");
  EXPECT_EQ(p.number, 225);
  ASSERT_NE(p.field("irq"), nullptr);
  EXPECT_EQ(p.field("irq")->offset, 8U);
  ASSERT_NE(p.field("name"), nullptr);
  EXPECT_TRUE(p.field("name")->is_placed);
  ASSERT_NE(p.field("comm"), nullptr);
  EXPECT_EQ(p.field("comm")->bytes, 16U);
  EXPECT_EQ(p.field("nothing"), nullptr);
  EXPECT_THROW(parse_tracepoint("a:b", "format:\n"), error);
}

TEST(tracepoints, copied_records_are_split_and_lost_ones_counted) {
  tracepoint p;
  p.name = "a:b";
  p.number = 7;
  p.fields = {{"value", 8, 4, false}};
  std::vector<std::byte> copied;
  append_sample(copied, 100, 7, -5);
  append_sample(copied, 200, 8, 1);  // nobody asked for it
  append(copied, perf_event_header{PERF_RECORD_LOST, 0, sizeof(perf_event_header) + 24});
  append(copied, std::uint64_t{1});
  append(copied, std::uint64_t{42});
  append(copied, std::uint64_t{300});
  append_sample(copied, 400, 7, 6);
  copied.resize(copied.size() - 1);  // cut off
  std::vector<std::pair<std::uint64_t, std::int64_t>> seen;
  for_each_record(copied, {&p, 1}, [&](const kernel_record& r) {
    seen.emplace_back(r.time_ns, r.point == nullptr ? static_cast<std::int64_t>(r.lost) : r.number(p.fields[0]));
  });
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0], std::pair(std::uint64_t{100}, std::int64_t{-5}));
  EXPECT_EQ(seen[1], std::pair(std::uint64_t{300}, std::int64_t{42}));
}

TEST(tracepoints, this_kernels_switches_are_recorded) {
  std::optional<tracepoint> point;
  try {
    point = tracepoint_folder::open().find("sched:sched_switch");
    if (!point) GTEST_SKIP() << "this kernel has no event sched_switch";
    const affinity_scope keeps;
    const unsigned here = current_processor();
    ASSERT_TRUE(pin_this_thread(here));
    kernel_recorder recorder({&*point, 1}, {&here, 1}, std::size_t{1} << 20);
    const std::uint64_t begin = kernel_clock_ns();
    recorder.start();
    for (int i = 0; i < 20; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    recorder.stop();
    const std::uint64_t end = kernel_clock_ns();
    std::uint64_t away = 0;
    recorder.for_each(here, [&](const kernel_record& r) {
      if (r.point == nullptr) return;
      EXPECT_GE(r.time_ns, begin);
      EXPECT_LE(r.time_ns, end);
      if (r.number(*point->field("prev_pid")) == thread_id()) ++away;
    });
    if (recorder.lost() == 0) {
      EXPECT_GE(away, 20U);
    }
    EXPECT_THROW(recorder.for_each(here + 1, [](const kernel_record&) {}), error);
  } catch (const error& e) {
    ASSERT_EQ(e.code(), errc::unsupported) << e.what();
    GTEST_SKIP() << e.what();
  }
}

}  // namespace
}  // namespace shoal::machine
