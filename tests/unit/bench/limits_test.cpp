// SPDX-License-Identifier: Apache-2.0
// The bare loops give right results for all shapes of their parameters, and their checks see wrong ones. No speeds.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "bench/benchmarks.hpp"
#include "bench/micro/limits/channel.hpp"
#include "bench/micro/limits/loops.hpp"

namespace shoal::bench::limits {
namespace {

constexpr std::uint64_t k_words = 1 << 16;

loop_options short_loops() {
  loop_options options;
  options.seconds = 0.01;
  options.where = choose_seats(machine::topology::discover());
  return options;
}

node_tables halves(const word_table& table) {
  return {{table.all().part(0, k_words / 2), table.all().part(k_words / 2, k_words / 2)}};
}

TEST(word_table, sums_count_updates_and_keep_the_content) {
  word_table table(k_words, page_kind::small);
  word_range all = table.all();
  std::uint64_t before = all.sum();
  all.words[5] += k_update;
  all.words[5] += k_update;
  EXPECT_TRUE(is_sum_after(all.sum(), before, 2));
  EXPECT_FALSE(is_sum_after(all.sum(), before, 1));
  EXPECT_TRUE(is_sum_of_content(all.words[5] + all.words[9], 14));
  EXPECT_FALSE(is_sum_of_content(all.words[5] + all.words[9], 15));
}

TEST(word_table, index_below_covers_the_range) {
  EXPECT_EQ(below(0, 10), 0U);
  EXPECT_EQ(below(~std::uint64_t{0}, 10), 9U);
  EXPECT_EQ(below(~std::uint64_t{0}, std::uint64_t{1} << 32), (std::uint64_t{1} << 32) - 1);
}

TEST(channel, buffers_come_in_order_and_slots_are_reused) {
  channel<std::uint64_t, std::uint32_t> ring(2, 4);
  for (std::uint64_t round = 0; round < 10; ++round) {
    ASSERT_TRUE(ring.has_room());
    ring.to_fill()[0] = round;
    ring.publish(1);
    ASSERT_TRUE(ring.to_serve());
    EXPECT_EQ(ring.request_count(), 1U);
    EXPECT_EQ(ring.request()[0], round);
    EXPECT_FALSE(ring.answered(round));
    ring.answer()[0] = static_cast<std::uint32_t>(round + 100);
    ring.serve_done();
    EXPECT_TRUE(ring.answered(round));
    EXPECT_EQ(ring.answers(round)[0], round + 100);
  }
  ring.publish(1);
  ring.publish(1);
  EXPECT_FALSE(ring.has_room());
  ring.close();
  EXPECT_FALSE(ring.finished());
  ring.serve_done();
  ring.serve_done();
  EXPECT_TRUE(ring.finished());
}

TEST(loops, random_access_is_correct) {
  word_table table(k_words, page_kind::huge);
  loop_options options = short_loops();
  for (access kind : {access::read, access::plain_update, access::atomic_update, access::read}) {
    for (const seats& where : {options.where.one, options.where.all}) {
      measured result = random_access(kind, table.all(), where, options);
      EXPECT_TRUE(result.correct);
      EXPECT_GT(result.value, 0);
    }
  }
}

TEST(loops, a_wrong_word_is_noticed) {
  word_table table(16, page_kind::small);
  table.all().words[3] ^= 1;
  EXPECT_FALSE(random_access(access::read, table.all(), short_loops().where.one, short_loops()).correct);
}

TEST(loops, window_update_is_correct) {
  word_table table(k_words, page_kind::huge);
  loop_options options = short_loops();
  for (std::size_t window : {std::size_t{1}, std::size_t{7}, std::size_t{1024}}) {
    options.window = window;
    EXPECT_TRUE(window_update(table.all(), options.where.all, options).correct) << window;
  }
}

TEST(loops, batched_ones_are_correct_for_all_shapes) {
  word_table table(k_words, page_kind::huge);
  node_tables nodes = halves(table);
  for (std::size_t buffer_bytes : {std::size_t{16}, std::size_t{1024}, std::size_t{65536}}) {
    for (std::size_t prefetch : {std::size_t{0}, std::size_t{16}, std::size_t{1024}}) {
      loop_options options = short_loops();
      options.buffer_bytes = buffer_bytes;
      options.prefetch = prefetch;
      options.buffers = 2;
      EXPECT_TRUE(batched_update(nodes, options).correct) << buffer_bytes << " " << prefetch;
      EXPECT_TRUE(batched_read(nodes, options).correct) << buffer_bytes << " " << prefetch;
    }
  }
}

TEST(loops, blocking_tasks_are_correct_for_all_shapes) {
  word_table table(k_words, page_kind::huge);
  for (std::size_t tasks : {std::size_t{1}, std::size_t{2}, std::size_t{1000}, std::size_t{20000}}) {
    for (std::size_t buffer_bytes : {std::size_t{8}, std::size_t{16384}}) {
      loop_options options = short_loops();
      options.tasks = tasks;
      options.buffer_bytes = buffer_bytes;
      measured result = batched_blocking(halves(table), options);
      EXPECT_TRUE(result.correct) << tasks << " " << buffer_bytes;
      EXPECT_GT(result.value, 0) << tasks << " " << buffer_bytes;
    }
  }
}

TEST(loops, two_nodes_on_one_processor_end) {
  word_table table(k_words, page_kind::small);
  loop_options options = short_loops();
  options.where.pair = {{options.where.one.processors[0], options.where.one.processors[0]}, true};
  EXPECT_TRUE(batched_update(halves(table), options).correct);
  EXPECT_TRUE(batched_read(halves(table), options).correct);
  EXPECT_TRUE(batched_blocking(halves(table), options).correct);
  EXPECT_TRUE(pingpong(options).correct);
}

TEST(loops, the_small_ones_are_correct) {
  word_table from(k_words, page_kind::huge);
  word_table to(k_words, page_kind::huge);
  loop_options options = short_loops();
  EXPECT_TRUE(copy_memory(to.all(), from.all(), options.where.all, options).correct);
  EXPECT_TRUE(pingpong(options).correct);
  EXPECT_TRUE(context_switch(options).correct);
}

TEST(benchmarks, have_different_names_and_an_example_that_calls_them) {
  std::set<std::string> names;
  for (const subcommand& one : benchmarks()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    EXPECT_TRUE(std::string(one.example).starts_with("shoal bench " + std::string(one.name))) << one.example;
    EXPECT_NE(one.declare, nullptr);
  }
  EXPECT_TRUE(names.count("limits"));
}

}  // namespace
}  // namespace shoal::bench::limits
