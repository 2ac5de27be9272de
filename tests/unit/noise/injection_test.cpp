// SPDX-License-Identifier: Apache-2.0
#include "noise/injection.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "shoal/error.hpp"

namespace shoal::noise {
namespace {

using source_kind = delay_source::kind;

const delay_source& at(const injection_plan& plan, injected_at where) {
  return plan.at[static_cast<std::size_t>(where)];
}

class recording {
public:
  explicit recording(const std::string& text)
      : path_(std::filesystem::temp_directory_path() / ("shoal-recording-" + std::to_string(base::now_ns()))) {
    std::ofstream(path_) << text;
  }
  ~recording() { std::filesystem::remove(path_); }
  recording(const recording&) = delete;
  recording& operator=(const recording&) = delete;
  std::string path() const { return path_.string(); }

private:
  std::filesystem::path path_;
};

TEST(injection, is_read_from_a_setting) {
  const injection_plan plan =
      parse_injection("message:uniform(128ns,1us)+quantum(1ms):constant(20us)+first_touch:constant(5)", 1);
  EXPECT_EQ(at(plan, injected_at::message).is, source_kind::uniform);
  EXPECT_EQ(at(plan, injected_at::message).low_ns, 128U);
  EXPECT_EQ(at(plan, injected_at::message).high_ns, 1000U);
  EXPECT_EQ(at(plan, injected_at::timer).is, source_kind::constant);
  EXPECT_EQ(at(plan, injected_at::timer).low_ns, 20'000U);
  EXPECT_EQ(at(plan, injected_at::timer).period_ns, 1'000'000U);
  EXPECT_EQ(at(plan, injected_at::first_touch).low_ns, 5U);
  EXPECT_EQ(at(plan, injected_at::operation).is, source_kind::none);
  EXPECT_TRUE(plan.any());
  EXPECT_FALSE(parse_injection("", 1).any());
}

TEST(injection, says_what_is_wrong) {
  const auto why = [](const std::string& text) -> std::string {
    try {
      static_cast<void>(parse_injection(text, 1));
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::invalid_argument);
      return e.what();
    }
    return "nothing";
  };
  for (const auto& [text, part] : {std::pair<const char*, const char*>{"message", "there is no : in it"},
                                   {"mail:constant(1)", "no event 'mail'"},
                                   {"message:fixed(1)", "no delay 'fixed'"},
                                   {"message:constant(1h)", "'1h' is no time"},
                                   {"message:constant()", "'' is no time"},
                                   {"message:constant(-1)", "'-1' is no time"},
                                   {"message:constant(11000ms)", "not between 0 and 10 s"},
                                   {"message:constant(nan)", "'nan' is no time"},
                                   {"message:constant(5", "a ) is missing"},
                                   {"message:uniform(5)", "uniform takes two times"},
                                   {"message:uniform(5,1)", "less than the first"},
                                   {"quantum(1us):constant(1)", "a quantum is at least 10us"},
                                   {"quantum:constant(1)", "'' is no time"},
                                   {"replay:constant(1)", "replay takes recorded(FILE)"},
                                   {"message:recorded(/no/such)", "cannot read '/no/such'"},
                                   {"message:constant(1)+message:constant(2)", "another part for this event"},
                                   {"message:constant(1)+", "nothing follows the last +"}})
    EXPECT_NE(why(text).find(part), std::string::npos) << text << ": " << why(text);
  const recording none("kind\tprocessor\tbegin_ns\tns\nquantum\t0\t5\t7\n"), broken("detour\t0\tx\t7\n");
  EXPECT_NE(why("message:recorded(" + none.path() + ")").find("there are no detours"), std::string::npos);
  EXPECT_NE(why("message:recorded(" + broken.path() + ")").find("a line that is no detour"), std::string::npos);
}

TEST(injection, takes_the_detours_of_a_recording_by_processor) {
  const recording file(
      "kind\tprocessor\tbegin_ns\tns\ndetour\t3\t1500\t20\nquantum\t3\t1\t1\ndetour\t1\t1000\t10\n"
      "detour\t3\t1200\t30\n");
  const injection_plan plan = parse_injection("replay:recorded(" + file.path() + ")", 1);
  const auto& all = at(plan, injected_at::timer).recorded;
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].front().begin_ns, 0U);
  ASSERT_EQ(all[1].size(), 2U);
  EXPECT_EQ(all[1][0].begin_ns, 200U);
  EXPECT_EQ(all[1][0].ns, 30U);
  EXPECT_EQ(all[1][1].begin_ns, 500U);
}

TEST(injection, has_a_signature_of_what_it_does) {
  const auto of = [](const char* text, std::uint64_t seed) { return parse_injection(text, seed).signature; };
  EXPECT_EQ(of("message:uniform(0,1us)", 1), of("message:uniform(0ns,1000ns)", 1));
  EXPECT_NE(of("message:uniform(0,1us)", 1), of("message:uniform(0,1us)", 2));
  EXPECT_NE(of("message:uniform(0,1us)", 1), of("message:uniform(0,2us)", 1));
  EXPECT_NE(of("message:constant(1us)", 1), of("operation:constant(1us)", 1));
}

std::uint64_t spent(const injection_plan& plan, unsigned worker, injected_at where, std::uint64_t times) {
  injector one(plan, 0, worker);
  one.delay(where, times);
  EXPECT_EQ(one.sum(where).count.load(), at(plan, where).is == source_kind::none ? 0 : times);
  return one.sum(where).ns.load();
}

TEST(injector, takes_as_much_time_as_it_says) {
  const injection_plan plan = parse_injection("message:constant(300us)", 1);
  injector one(plan, 0, 0);
  const std::uint64_t begun = base::now_ns();
  one.delay(injected_at::message, 10);
  EXPECT_GE(base::now_ns() - begun, 2'900'000U);  // two clocks
  EXPECT_EQ(one.sum(injected_at::message).ns.load(), 3'000'000U);
  EXPECT_EQ(spent(plan, 0, injected_at::operation, 5), 0U);
}

TEST(injector, draws_the_same_for_the_same_seed_and_other_delays_for_each_worker) {
  const injection_plan plan = parse_injection("message:uniform(100ns,200ns)", 7);
  const std::uint64_t sum = spent(plan, 0, injected_at::message, 1000);
  EXPECT_EQ(sum, spent(plan, 0, injected_at::message, 1000));
  EXPECT_NE(sum, spent(plan, 1, injected_at::message, 1000));
  EXPECT_GT(sum, 145'000U);  // 1000 of a mean of 150
  EXPECT_LT(sum, 155'000U);
}

TEST(injector, delays_each_worker_of_each_node_in_its_own_way) {
  std::string lines;
  for (int i = 1; i <= 300; ++i) lines += "detour\t0\t" + std::to_string(i * 1000) + "\t" + std::to_string(i) + "\n";
  const recording file(lines);
  for (const std::string& delay : {std::string("uniform(100ns,100us)"), "recorded(" + file.path() + ")"}) {
    const injection_plan plan = parse_injection("message:" + delay, 7);
    const auto sequence = [&plan](std::uint32_t node, unsigned worker) {
      injector one(plan, node, worker);
      std::vector<std::uint64_t> drawn;
      for (int i = 0; i < 5; ++i) {
        const std::uint64_t before = one.sum(injected_at::message).ns.load();
        one.delay(injected_at::message, 1);
        drawn.push_back(one.sum(injected_at::message).ns.load() - before);
      }
      return drawn;
    };
    std::set<std::vector<std::uint64_t>> all;
    for (const std::uint32_t node : {0U, 1U, 2U})
      for (const unsigned worker : {0U, 1U}) {
        all.insert(sequence(node, worker));
        EXPECT_EQ(sequence(node, worker), sequence(node, worker));
      }
    EXPECT_EQ(all.size(), 6U) << delay;
  }
}

TEST(injector, refuses_delays_that_leave_no_time) {
  for (const char* const text :
       {"quantum(1ms):constant(1ms)", "quantum(1ms):constant(5ms)", "quantum(1ms):uniform(0,2ms)"})
    EXPECT_THROW(parse_injection(text, 1), error) << text;
  EXPECT_NO_THROW(parse_injection("quantum(1ms):uniform(0,1900us)", 1));
  const recording file("detour\t0\t100\t20000\n");
  EXPECT_THROW(parse_injection("quantum(10us):recorded(" + file.path() + ")", 1), error);
}

TEST(injector, repeats_a_recording) {
  const recording file("detour\t0\t100\t10\ndetour\t0\t200\t20\ndetour\t0\t300\t30\n");
  const injection_plan plan = parse_injection("message:recorded(" + file.path() + ")", 1);
  EXPECT_EQ(spent(plan, 0, injected_at::message, 3), 60U);
  EXPECT_EQ(spent(plan, 0, injected_at::message, 7), 130U);
  EXPECT_EQ(spent(plan, 5, injected_at::message, 6), 120U);  // wherever it begins
}

// The events are noted on the thread that an injector is attached to, and on no other.
TEST(injector, belongs_to_a_thread) {
  const injection_plan plan = parse_injection("message:constant(10ns)+quantum(100us):constant(1us)", 1);
  injector one(plan, 0, 0);
  passes(injected_at::message);
  {
    const injector::attachment here(one);
    passes(injected_at::message, 3);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (one.sum(injected_at::timer).count.load() < 10 && std::chrono::steady_clock::now() < end) continue;
  }
  passes(injected_at::message);
  EXPECT_EQ(one.sum(injected_at::message).count.load(), 3U);
  const std::uint64_t interrupted = one.sum(injected_at::timer).count.load();
  EXPECT_GE(interrupted, 10U);
  EXPECT_EQ(one.sum(injected_at::timer).ns.load(), interrupted * 1000);
}

}  // namespace
}  // namespace shoal::noise
