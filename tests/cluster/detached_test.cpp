// SPDX-License-Identifier: Apache-2.0
// Continuations of dropped futures on the nodes of a job: its end waits for them, also for what they cause elsewhere.
#include <atomic>
#include <memory>
#include <stdexcept>
#include <vector>

#include "shoal/future.hpp"
#include "shoal/job.hpp"
#include "tests/cluster/cluster.hpp"

namespace {

class detached : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(detached);

// All nodes of these tests are in this process.
std::atomic<int> ended{0};

template <class F>
void begin_detached(F body) {
  shoal::promise<void> p;
  { auto f = p.get_future().then(std::move(body)); }
  p.set_value();
}

void wait_a_while() {
  for (int i = 0; i < 20; ++i) shoal::yield();
}

TEST_P(detached, continuations_that_access_other_nodes_end_before_the_job) {
  ended = 0;
  run([this] {
    auto counts = std::make_shared<shoal::global_array<std::uint64_t>>(1000);
    for (unsigned i = 0; i < 10; ++i)
      begin_detached([counts, i] {
        for (std::uint64_t at = i; at < 1000; at += 10) (*counts)->fetch_add(at, 1);
        std::uint64_t sum = 0;
        for (std::uint64_t at = i; at < 1000; at += 10) sum += (*counts)->get(at);
        ended += static_cast<int>(sum);
      });
  });
  EXPECT_EQ(ended.load(), 1000);
}

TEST_P(detached, continuations_of_every_node_end_before_the_job) {
  ended = 0;
  run([this] {
    for (unsigned n = 0; n < nodes(); ++n)
      shoal::on(n, [] {
        begin_detached([] {
          wait_a_while();
          ++ended;
        });
      });
  });
  EXPECT_EQ(ended.load(), static_cast<int>(nodes()));
}

// Each link runs on the next node, and is caused by a message whose sender does not wait for it.
void begin_link(unsigned left) {
  begin_detached([left] {
    wait_a_while();
    ++ended;
    if (left == 0) return;
    shoal::async_at((shoal::node_id() + 1) % shoal::node_count(), [left] { begin_link(left - 1); });
  });
}

TEST_P(detached, continuations_that_cause_others_on_other_nodes_end_before_the_job) {
  ended = 0;
  run([] { begin_link(50); });
  EXPECT_EQ(ended.load(), 51);
}

TEST_P(detached, continuations_end_when_the_main_task_throws) {
  ended = 0;
  EXPECT_THROW(run([this] {
                 shoal::on(nodes() - 1, [] {
                   begin_detached([] {
                     wait_a_while();
                     ++ended;
                   });
                 });
                 throw std::runtime_error("the main task gives up");
               }),
               std::runtime_error);
  EXPECT_EQ(ended.load(), 1);
}

TEST_P(detached, a_promise_that_is_never_set_holds_up_no_node) {
  // Never destroyed: at its end it would run the continuation, for which there is no worker any more.
  static auto& never_set = *new std::vector<shoal::promise<void>>;
  ended = 0;
  run([this] {
    shoal::on(nodes() - 1, [] {
      never_set.emplace_back();
      auto f = never_set.back().get_future().then([] { ++ended; });
    });
  });
  EXPECT_EQ(ended.load(), 0);
}

TEST(detached_job, continuations_of_main_tasks_of_threads_end_before_the_job) {
  ended = 0;
  {
    shoal::run_options options;
    options.settings = {{"nodes", "2"}, {"workers", "2"}, {"segment", "64M"}, {"direct", "off"}};
    shoal::job job(options);
    for (int i = 0; i < 4; ++i) job.run([] { shoal::on(1, [] { begin_link(3); }); });
  }
  EXPECT_EQ(ended.load(), 16);
}

}  // namespace
