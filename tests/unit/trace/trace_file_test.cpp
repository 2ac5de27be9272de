// SPDX-License-Identifier: Apache-2.0
#include "trace/trace_file.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "shoal/error.hpp"

namespace shoal::trace {
namespace {

class memory {
public:
  explicit memory(std::size_t bytes)
      : bytes_(bytes), data_(static_cast<std::byte*>(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096))) {
    std::fill_n(data_, bytes, std::byte{0});
  }
  ~memory() { std::free(data_); }
  memory(const memory&) = delete;
  memory& operator=(const memory&) = delete;
  std::span<std::byte> bytes() const { return {data_, bytes_}; }

private:
  std::size_t bytes_;
  std::byte* data_;
};

trace_form form(std::uint64_t events, bool overwrite, std::uint32_t workers = 2) {
  trace_form f;
  f.node = 3;
  f.nodes = 4;
  f.workers = workers;
  f.events = events;
  f.overwrite = overwrite;
  f.ticks_per_us = 2000;
  f.machine = "here";
  f.program = "program argument";
  return f;
}

TEST(trace_file, what_was_written_is_read) {
  const trace_form f = form(8, true);
  const memory m(trace_bytes(f));
  trace_writer w(m.bytes(), f, {1000, 500, 77});
  w.ring(0).add_at(1100, event_kind::task_begin, 1, 0, 0x1234);
  w.ring(0).add_at(1200, event_kind::task_end);
  w.ring(1).add_at(1150, event_kind::state, 5);
  w.ring(1).note_thread(99);
  EXPECT_EQ(w.number_of("build"), 1U);
  EXPECT_EQ(w.number_of("search"), 2U);
  EXPECT_EQ(w.number_of("build"), 1U);
  w.name_wait(7, "loop");
  w.add_image({0x1000, 0x500, 77, -5, "/bin/program"});
  ASSERT_EQ(w.code_addresses(), (std::vector<std::uint64_t>{0x1234}));
  w.name_code(0x1234, "work()");
  const node_trace before = read_trace(m.bytes(), "x");
  EXPECT_FALSE(before.is_whole);
  EXPECT_EQ(before.end.ticks, 1200U);
  EXPECT_DOUBLE_EQ(before.ns_per_tick(), 0.5);  // by the rate that was noted
  w.finish({3000, 2500, 2077});
  const node_trace t = read_trace(m.bytes(), "x");
  EXPECT_TRUE(t.is_whole);
  EXPECT_DOUBLE_EQ(t.ns_per_tick(), 1);
  EXPECT_EQ(t.form.node, 3U);
  EXPECT_EQ(t.form.machine, "here");
  EXPECT_EQ(t.form.program, "program argument");
  ASSERT_EQ(t.workers.size(), 2U);
  ASSERT_EQ(t.workers[0].size(), 2U);
  EXPECT_EQ(t.workers[0][0].value, 0x1234U);
  EXPECT_EQ(t.workers[1][0].small, 5);
  EXPECT_EQ(t.threads, (std::vector<std::uint32_t>{0, 99}));
  EXPECT_EQ(t.names.at(2), "search");
  EXPECT_EQ(t.waits.at(7), "loop");
  EXPECT_EQ(t.code.at(0x1234), "work()");
  EXPECT_EQ(t.code_addresses(), (std::vector<std::uint64_t>{0x1234}));
  ASSERT_NE(t.image_at(0x14ff), nullptr);
  EXPECT_EQ(t.image_at(0x14ff)->path, "/bin/program");
  EXPECT_EQ(t.image_at(0x14ff)->file_bytes, 77U);
  EXPECT_EQ(t.image_at(0x14ff)->file_time_ns, -5);
  EXPECT_EQ(t.image_at(0x1500), nullptr);
  EXPECT_EQ(t.image_at(0xfff), nullptr);
}

TEST(trace_file, the_newest_or_the_oldest_are_kept) {
  for (const bool overwrite : {true, false}) {
    const trace_form f = form(8, overwrite, 1);
    const memory m(trace_bytes(f));
    trace_writer w(m.bytes(), f, {});
    for (std::uint64_t i = 0; i < 20; ++i) w.ring(0).add_at(100 + i, event_kind::mark, 0, 0, i);
    // Over the oldest one the worker may be writing, or may have been when it was killed.
    const node_trace written = read_trace(m.bytes(), "x");
    EXPECT_EQ(written.workers[0].size(), overwrite ? 7U : 8U);
    EXPECT_EQ(written.workers[0].front().value, overwrite ? 13U : 0U);
    EXPECT_EQ(written.left_out[0], overwrite ? 13U : 12U);
    w.finish({200, 0, 0});
    const node_trace t = read_trace(m.bytes(), "x");
    ASSERT_EQ(t.workers[0].size(), 8U);
    EXPECT_EQ(t.left_out[0], 12U);
    EXPECT_EQ(t.workers[0].front().value, overwrite ? 12U : 0U);
    EXPECT_EQ(t.workers[0].back().value, overwrite ? 19U : 7U);
  }
}

// Whoever reads while the worker writes sees no event that is half of another.
TEST(trace_file, reading_while_it_is_written) {
  const trace_form f = form(64, true, 1);
  const memory m(trace_bytes(f));
  trace_writer w(m.bytes(), f, {});
  std::atomic<bool> stop{false};  // partner: the loop of the writer
  std::thread writer([&] {
    for (std::uint64_t i = 1; !stop.load(std::memory_order_relaxed); ++i)
      w.ring(0).add_at(i, event_kind::mark, 0, static_cast<std::uint32_t>(i), i);
  });
#if !defined(__SANITIZE_THREAD__)  // what may be torn is read, and left out afterwards
  for (int round = 0; round < 200; ++round) {
    const node_trace t = read_trace(m.bytes(), "x");
    std::uint64_t last = 0;
    for (const event& e : t.workers[0]) {
      ASSERT_EQ(e.value, e.ticks);
      ASSERT_EQ(e.number, static_cast<std::uint32_t>(e.value));
      ASSERT_TRUE(last == 0 || e.value == last + 1);
      last = e.value;
    }
  }
#endif
  stop.store(true, std::memory_order_relaxed);
  writer.join();
}

TEST(trace_file, names_beyond_the_room_are_left_out) {
  const trace_form f = form(8, true, 1);
  const memory m(trace_bytes(f));
  trace_writer w(m.bytes(), f, {});
  const std::string long_name(900, 'x');
  std::uint32_t last = 1;
  int given = 0;
  for (; last != 0 && given < 10'000; ++given) last = w.number_of(long_name + std::to_string(given));
  EXPECT_LT(given, 2000);
  EXPECT_EQ(read_trace(m.bytes(), "x").names.size(), static_cast<std::size_t>(given - 1));
}

TEST(trace_file, what_is_no_trace_is_refused) {
  const trace_form f = form(8, true, 1);
  const memory m(trace_bytes(f));
  EXPECT_THROW(read_trace(m.bytes().first(100), "x"), error);
  EXPECT_THROW(read_trace(m.bytes(), "x"), error);
  trace_writer w(m.bytes(), f, {});
  EXPECT_NO_THROW(read_trace(m.bytes(), "x"));
  EXPECT_THROW(read_trace(m.bytes().first(m.bytes().size() - 1), "x"), error);
}

}  // namespace
}  // namespace shoal::trace
