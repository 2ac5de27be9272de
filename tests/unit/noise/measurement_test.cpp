// SPDX-License-Identifier: Apache-2.0
// The whole way on this machine, with the kernel's events where this process may see them.
#include "noise/measurement.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

#include "machine/topology.hpp"
#include "noise/text.hpp"
#include "shoal/error.hpp"

namespace shoal::noise {
namespace {

measurement_request short_request() {
  measurement_request r;
  const auto machine = machine::topology::discover();
  for (const machine::processor& p : machine.processors()) r.all_processors.push_back(p.pu);
  r.processors = {r.all_processors.front()};
  r.seconds = 0.3;
  return r;
}

TEST(measurement, of_a_processor) {
  const measurement m = measure(short_request());
  ASSERT_EQ(m.series.size(), 1U);
  EXPECT_EQ(m.series[0].noise_ns.size(), 300U);
  const std::string text = noise_text(m);
  EXPECT_NE(text.find("processor"), std::string::npos);
  if (!m.has_events) {
    EXPECT_NE(text.find("without the kernel's events"), std::string::npos);
    GTEST_SKIP() << m.why_no_events;
  }
  EXPECT_GT(m.marks, 0U);
  EXPECT_EQ(m.record.threads.size(), 1U);
  EXPECT_NE(text.find("timer interrupt"), std::string::npos) << text;
  EXPECT_NE(text.find("unattributed"), std::string::npos);
  const std::string raw = raw_text(m);
  EXPECT_GT(std::ranges::count(raw, '\n'), 300);
}

TEST(measurement, of_a_program_and_its_threads) {
  measurement_request r = short_request();
  r.program = {"sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; (exit 0) & wait"};
  const measurement m = measure(r);
  ASSERT_TRUE(m.program_end.has_value());
  EXPECT_TRUE(m.program_end->clean());
  if (!m.has_events) GTEST_SKIP() << m.why_no_events;
  EXPECT_GE(m.record.threads.size(), 2U);
  EXPECT_GT(m.record.runnable_ns(), 0U);
  EXPECT_NE(noise_text(m).find("migrations"), std::string::npos);
}

TEST(measurement, ends_early_when_it_is_interrupted) {
  ::signal(SIGINT, SIG_DFL);  // it may be ignored, as that of a job in the background
  const machine::interruption stop;
  measurement_request r = short_request();
  r.seconds = 600;
  r.stop = &stop;
  const std::jthread interrupts([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    ::kill(::getpid(), SIGINT);
  });
  const measurement m = measure(r);
  EXPECT_EQ(stop.signal(), SIGINT);
  ASSERT_EQ(m.series.size(), 1U);
  EXPECT_GE(m.series[0].noise_ns.size(), 1U);
  EXPECT_LT(m.series[0].noise_ns.size(), 500'000U);
  EXPECT_NE(noise_text(m).find("processor"), std::string::npos);
}

TEST(measurement, without_events_there_are_counters) {
  measurement_request r = short_request();
  r.events = false;
  const measurement m = measure(r);
  EXPECT_FALSE(m.has_events);
  EXPECT_FALSE(m.counts.counts.empty());
  EXPECT_NE(noise_text(m).find("interrupts and softirqs"), std::string::npos);
}

TEST(measurement, few_quanta_are_refused) {
  measurement_request r = short_request();
  r.seconds = 0.01;
  EXPECT_THROW(measure(r), error);
  r.quantum_ns = 1'000'000'000;
  r.seconds = 10;
  EXPECT_THROW(measure(r), error);
}

TEST(measurement, a_program_that_is_not_there_is_named) {
  measurement_request r = short_request();
  r.program = {"no_such_program"};
  EXPECT_THROW(measure(r), error);
}

TEST(measurement, the_page_is_whole_and_its_title_escaped) {
  const measurement m = measure(short_request());
  const std::string page = noise_page(m, "a <b> & \"c\"");
  EXPECT_NE(page.find("a &lt;b&gt; &amp; &quot;c&quot;"), std::string::npos);
  EXPECT_EQ(page.find("<b>"), std::string::npos);
  EXPECT_EQ(page.find("http://"), page.find("http://www.w3.org/2000/svg"));  // no other address
  EXPECT_NE(page.find("</html>"), std::string::npos);
}

}  // namespace
}  // namespace shoal::noise
