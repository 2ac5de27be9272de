// SPDX-License-Identifier: Apache-2.0
#include "runtime/wait_report.hpp"

#include <gtest/gtest.h>

#include <map>

namespace shoal::runtime {
namespace {

using detail::wait_kind;
using sched::waiting_task;

waiting_task named(const char* name, int stack, wait_kind why, const void* held_by = nullptr) {
  static const int code = 0;
  waiting_task t;
  t.name = name;
  t.code = &code;
  t.stack = detail::numbered(static_cast<std::uint64_t>(stack));
  t.why = why;
  t.object = detail::numbered(0x10);
  t.held_by = held_by;
  t.waited_ns = 2'500'000'000;
  return t;
}

TEST(wait_report, groups_equal_waits_and_names_holders_and_cycles) {
  machine::symbols names;
  sched::wait_survey found;
  found.waiting = 4;
  found.tasks.push_back(named("a", 1, wait_kind::mutex, detail::numbered(2)));
  found.tasks.push_back(named("b", 2, wait_kind::mutex, detail::numbered(1)));
  found.tasks.push_back(named("c", 3, wait_kind::latch));
  found.tasks.push_back(named("c", 4, wait_kind::latch));
  const node_waits node = describe_waits(1, 2, found, names);
  ASSERT_EQ(node.rows.size(), 3U);
  ASSERT_EQ(node.cycles.size(), 1U);
  EXPECT_EQ(node.cycles[0], "'a' waits for the mutex 0x10 of 'b', which waits for the mutex 0x10 of 'a'");
  const std::string table = table_of(std::span(&node, 1));
  EXPECT_NE(table.find("the latch 0x10"), std::string::npos) << table;
  EXPECT_NE(table.find("2.5 s"), std::string::npos) << table;
  EXPECT_NE(table.find("in a cycle: 'a'"), std::string::npos) << table;
}

TEST(wait_report, finds_the_task_that_fills_an_awaited_future) {
  machine::symbols names;
  sched::wait_survey found;
  found.waiting = 2;
  found.tasks.push_back(named("reader", 1, wait_kind::future));
  found.tasks.push_back(named("writer", 2, wait_kind::latch));
  found.tasks[1].fills = {found.tasks[0].object};
  const node_waits node = describe_waits(0, 1, found, names);
  for (const wait_row& r : node.rows) EXPECT_EQ(r.held_by, r.task == "'reader'" ? "'writer'" : "");
}

TEST(wait_report, knows_that_the_holder_of_a_mutex_has_ended) {
  machine::symbols names;
  for (const bool still : {false, true}) {
    sched::wait_survey found;
    found.tasks.push_back(named("another", 1, wait_kind::mutex, detail::numbered(2)));  // on the holder's stack now
    found.tasks.push_back(named("later", 2, wait_kind::latch));
    found.tasks.push_back(named("itself", 3, wait_kind::mutex, detail::numbered(3)));   // the holder's stack is its own
    found.tasks.push_back(named("idle", 4, wait_kind::mutex, detail::numbered(5)));     // nobody waits on that stack
    found.tasks.push_back(named("waiting", 6, wait_kind::mutex, detail::numbered(2)));  // the holder waits
    for (waiting_task& t : found.tasks) t.number = 7;
    for (const std::size_t i : {0U, 2U}) found.tasks[i].holder_number = 6;
    for (const std::size_t i : {3U, 4U}) found.tasks[i].holder_number = 7;
    found.waiting = found.tasks.size();
    const node_waits node = describe_waits(0, 1, found, names, still);
    EXPECT_TRUE(node.cycles.empty());
    std::map<std::string, std::string> holders;
    for (const wait_row& r : node.rows) holders[r.task] = r.held_by;
    EXPECT_EQ(holders["'another'"], "a task that has ended");
    EXPECT_EQ(holders["'itself'"], "a task that has ended");
    EXPECT_EQ(holders["'idle'"], still ? "a task that has ended" : "a task that can run");
    EXPECT_EQ(holders["'waiting'"], "'later'");
    found.silent = {0};  // a worker that does not answer may run it
    for (const wait_row& r : describe_waits(0, 1, found, names, still).rows)
      if (r.task == "'idle'") {
        EXPECT_EQ(r.held_by, "a task that can run");
      }
  }
}

TEST(wait_report, survives_the_way_to_another_process_and_foreign_text_does_not) {
  machine::symbols names;
  sched::wait_survey found;
  found.waiting = 3;
  found.tasks.push_back(named("a\tb\n", 1, wait_kind::mutex, detail::numbered(1)));
  found.silent = {1};
  const std::vector<node_waits> sent{describe_waits(7, 2, found, names)};
  const auto got = parse_waits(to_text(sent));
  ASSERT_TRUE(got.has_value());
  ASSERT_EQ(got->size(), 1U);
  EXPECT_EQ((*got)[0].node, 7U);
  EXPECT_EQ((*got)[0].silent, 1U);
  EXPECT_EQ((*got)[0].waiting, 3U);
  ASSERT_EQ((*got)[0].rows.size(), 1U);
  EXPECT_EQ((*got)[0].rows[0].task, "'a?b?'");
  EXPECT_EQ((*got)[0].rows[0].held_by, "itself");
  EXPECT_EQ((*got)[0].cycles, std::vector<std::string>{"'a?b?' waits for the mutex 0x10 of itself"});
  for (const char* foreign : {"row\t1\t2\ta\tb\tc\td\n", "node\t1\n", "node\t-1\t1\t1\t1\n", "x", "cycle\ta\n"})
    EXPECT_FALSE(parse_waits(foreign).has_value()) << foreign;
}

waiting_task rank_that_waits(int stack, std::int64_t rank, const char* call, const char* what) {
  waiting_task t = named("rank", stack, wait_kind::message);
  t.of_rank = {rank, call, nullptr, what};
  return t;
}

TEST(wait_report, has_a_row_for_ranks_that_wait_for_the_same) {
  machine::symbols names;
  std::vector<node_waits> nodes;
  for (const int first : {0, 4}) {
    sched::wait_survey found;
    found.tasks.push_back(named("runtime", 100, wait_kind::latch));
    for (int r = first; r < first + 4; ++r)
      found.tasks.push_back(r == 5 ? rank_that_waits(r, r, "MPI_Recv", "a message of rank 0 with tag 7")
                                   : rank_that_waits(r, r, "MPI_Barrier", "the others"));
    // A task that carries the operation out for rank 0 or 4 knows more.
    found.tasks.push_back(rank_that_waits(200, first, "MPI_Barrier", "the others; but one has called MPI_Bcast"));
    found.waiting = found.tasks.size();
    nodes.push_back(describe_waits(first == 0 ? 0 : 1, 1, found, names));
  }
  const auto got = parse_waits(to_text(nodes));
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(ranks_of(*got), 8U);
  EXPECT_EQ(table_of(*got),
            "  rank     in           called at  waits for                                 since\n"
            "  0,4      MPI_Barrier  -          the others; but one has called MPI_Bcast  2.5 s\n"
            "  1-3,6-7  MPI_Barrier  -          the others                                2.5 s\n"
            "  5        MPI_Recv     -          a message of rank 0 with tag 7            2.5 s");
  EXPECT_EQ(table_of(*got, 1).substr(table_of(*got, 1).rfind('\n')), "\n  and 6 more ranks that wait");
  for (const char* foreign :
       {"ranks\t0\tf\ta\tb\t1\n", "node\t0\t1\t0\t1\nranks\t-1\tf\ta\tb\t1\n", "node\t0\t1\t0\t1\nranks\t0\tf\n",
        "node\t0\t1\t0\t1\nranks\t0-99999999999\tf\ta\tb\t1\n", "node\t0\t1\t0\t1\nranks\t\tf\ta\tb\t1\n"})
    EXPECT_FALSE(parse_waits(foreign).has_value()) << foreign;
}

}  // namespace
}  // namespace shoal::runtime
