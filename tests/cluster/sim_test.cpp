// SPDX-License-Identifier: Apache-2.0
// Whole jobs on simulated machines: many nodes, virtual time, the same run for the same seed.
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "noise/injection.hpp"
#include "runtime/job.hpp"
#include "shoal/shoal.hpp"
#include "tests/cluster/cluster.hpp"

namespace {

using shoal::global_array;

shoal::runtime::config simulated(unsigned nodes, unsigned workers, std::uint64_t seed = 1) {
  auto c = shoal::runtime::read_config(shoal::runtime::all_settings());
  c.transport = "sim";
  c.nodes = nodes;
  c.workers = workers;
  c.sim.seed = seed;
  c.segment_bytes = std::uint64_t{1} << 28;
  return c;
}

void run(const shoal::runtime::config& c, const std::function<void()>& main_task) {
  EXPECT_EQ(shoal::runtime::run_in_process(c, [&] { return main_task(), 0; }), 0);
}

// Arrays, loops, calls, collective operations and quiescence.
void compute_and_check() {
  const unsigned nodes = shoal::node_count();
  const std::uint64_t n = 64 * nodes;
  global_array<std::uint64_t> sums(n);
  shoal::parallel_for(shoal::everywhere, n, [s = sums.ref(), n](std::uint64_t i) {
    s.async_add((i * 7 + 3) % n, i);
    s.async_add((i + n / 2) % n, 1);
  });
  std::uint64_t all = 0;
  for (std::uint64_t i = 0; i < n; i += 17) {
    const std::uint64_t got = sums->get(i);
    all += got;
    EXPECT_GE(got, 1U);
  }
  EXPECT_GT(all, 0U);
  global_array<std::uint64_t> total(1);
  shoal::spmd([t = total.ref()](shoal::team& team) {
    const std::uint64_t sum = team.all_reduce(std::uint64_t{shoal::node_id()} + 1, std::plus<>());
    team.barrier();
    t.async_add(0, sum);
  });
  EXPECT_EQ(total->get(0), std::uint64_t{nodes} * nodes * (nodes + 1) / 2);
  EXPECT_EQ(shoal::async_on(nodes - 1, [] { return shoal::node_id() * 2; }).get(), (nodes - 1) * 2);
  shoal::quiesce();
}

TEST(simulated_job, of_4_nodes_with_4_workers) { run(simulated(4, 4), compute_and_check); }
TEST(simulated_job, of_64_nodes) { run(simulated(64, 1), compute_and_check); }
TEST(simulated_job, of_256_nodes) { run(simulated(256, 1), compute_and_check); }

TEST(simulated_job, programs_see_virtual_time) {
  run(simulated(2, 1), [] {
    global_array<std::uint64_t> a(2, shoal::distribution::cyclic);
    const std::uint64_t before_ns = shoal::base::now_ns();
    for (int i = 0; i < 100; ++i) a->add(1, 1);
    const std::uint64_t took_ns = shoal::base::now_ns() - before_ns;
    EXPECT_GE(took_ns, 100U * 2 * 1500);  // there and back
    EXPECT_LE(took_ns, 100U * 4 * 1500 + 1'000'000);
    EXPECT_EQ(a->get(1), 100U);
  });
}

// Noise that each of many nodes has now and then stops all of them at each barrier.
TEST(simulated_job, injected_noise_takes_virtual_time) {
  const auto time_of_barriers = [](unsigned nodes, const char* noise) {
    std::uint64_t took_ns = 0;
    auto c = simulated(nodes, 1);
    if (*noise != '\0')
      c.injection = std::make_shared<const shoal::noise::injection_plan>(shoal::noise::parse_injection(noise, 1));
    run(c, [&] {
      const std::uint64_t before_ns = shoal::base::now_ns();
      shoal::spmd([](shoal::team& team) {
        for (int i = 0; i < 100; ++i) team.barrier();
      });
      took_ns = shoal::base::now_ns() - before_ns;
    });
    return static_cast<double>(took_ns);
  };
  constexpr const char* k_noise = "quantum(1ms):constant(50us)";
  const double few = time_of_barriers(2, k_noise) / time_of_barriers(2, "");
  const double many = time_of_barriers(32, k_noise) / time_of_barriers(32, "");
  EXPECT_GT(few, 1.01);
  EXPECT_GT(many, 1.2 * few);  // 5 % of each
  EXPECT_EQ(time_of_barriers(8, k_noise), time_of_barriers(8, k_noise));
}

TEST(simulated_job, loops_take_the_time_of_their_iterations) {
  for (const unsigned workers : {1, 4}) {
    std::uint64_t took_ns = 0;
    run(simulated(1, workers), [&] {
      const std::uint64_t before_ns = shoal::base::now_ns();
      shoal::parallel_for(shoal::here, 1'000'000, [](std::uint64_t) {});
      took_ns = shoal::base::now_ns() - before_ns;
    });
    EXPECT_GE(took_ns, 5'000'000U / workers);
    EXPECT_LE(took_ns, 7'000'000U / workers);
  }
}

// What the job says at its end, of which the digest is the last word.
std::string last_line_of(const shoal::runtime::config& c) {
  testing::internal::CaptureStderr();
  run(c, compute_and_check);
  const std::string said = testing::internal::GetCapturedStderr();
  const std::size_t from = said.find("simulated ");
  EXPECT_NE(from, std::string::npos) << said;
  return said.substr(said.rfind("seed"));
}

TEST(simulated_job, the_same_seed_gives_the_same_run) {
  std::set<std::string> different;
  for (const std::uint64_t seed : {1, 2, 3}) {
    auto c = simulated(16, 2, seed);
    c.sim.jitter = c.sim.network.jitter = 0.5;
    const std::string first = last_line_of(c);
    for (int again = 0; again < 3; ++again) EXPECT_EQ(last_line_of(c), first);
    different.insert(first);
  }
  EXPECT_EQ(different.size(), 3U);
}

shoal::runtime::config with_faults(unsigned nodes, const char* faults, std::uint64_t seed = 1) {
  auto c = simulated(nodes, 2, seed);
  c.sim.faults = shoal::net::parse_sim_faults(faults);
  return c;
}

// What stops or is cut for a while holds a job up, and changes no result.
TEST(simulated_job, goes_on_after_faults_that_end) {
  const auto time_of = [](const char* faults) {
    std::uint64_t took_ns = 0;
    run(with_faults(4, faults), [&] {
      const std::uint64_t before_ns = shoal::base::now_ns();
      compute_and_check();
      took_ns = shoal::base::now_ns() - before_ns;
    });
    return took_ns;
  };
  const std::uint64_t usual_ns = time_of("");
  EXPECT_LT(usual_ns, 5'000'000U);
  for (const char* faults : {"stop(2,50us,20ms)", "stop(0,50us,20ms)", "stop(0,50us,15ms)+stop(0,5ms,15050us)",
                             "cut(0-3,50us,20ms)", "cut(1-*,50us,20ms)"}) {
    EXPECT_GT(time_of(faults), 19'000'000U) << faults;
    EXPECT_LT(time_of(faults), 21'000'000U + usual_ns) << faults;
  }
  EXPECT_GT(time_of("slow(0-*,50,0)"), 3 * usual_ns);
  EXPECT_EQ(time_of("slow(0-1,50,0)"), time_of("slow(0-1,50,0)"));
}

TEST(simulated_job, bears_faults_of_many_seeds) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) run(with_faults(5, "random(12,300us)", seed), compute_and_check);
}

TEST(simulated_job, refuses_faults_of_nodes_that_it_does_not_have) {
  EXPECT_THROW(run(with_faults(4, "stop(4,1ms)"), [] {}), shoal::error);
}

#if !SHOAL_TSAN && !SHOAL_ASAN
const auto k_fails = [](int status) { return status != 0; };

void barrier_for_ever() {
  shoal::spmd([](shoal::team& team) {
    for (;;) team.barrier();
  });
}

TEST(simulated_job_death_test, ends_when_a_node_dies) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run(with_faults(3, "die(2,3ms)"), barrier_for_ever), k_fails,
              "at 0.004000 s, seed 1: node 2 has died, as sim_faults says \\(die\\(2,3ms\\)\\); the job ends");
  EXPECT_EXIT(run(with_faults(3, "die(0,3ms)"), barrier_for_ever), k_fails, "node 0 has died");
  run(with_faults(3, "die(2,10s)"), compute_and_check);  // it ends before
}

TEST(simulated_job_death_test, tells_of_a_link_that_is_cut_for_ever) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run(with_faults(3, "cut(1-2,3ms)"), barrier_for_ever), k_fails,
              "nothing can run any more(.|\n)*; cut\\(1-2,3ms\\)(.|\n)*waits for(.|\n)*barrier");
  EXPECT_EXIT(run(with_faults(3, "stop(1,3ms)"), barrier_for_ever), k_fails, "stop\\(1,3ms\\)");
}

TEST(simulated_job_death_test, who_waits_for_ever_is_told) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run(simulated(3, 2),
                  [] {
                    shoal::latch never(1);
                    never.wait();
                  }),
              k_fails, "nothing can run any more(.|\n)*waits for(.|\n)*latch");
}
#endif

TEST(simulated_job, refuses_what_it_cannot_simulate) {
  auto c = simulated(2, 1);
  c.helpers = 1;
  EXPECT_THROW(run(c, [] {}), shoal::error);
  c = simulated(65, 1);
  c.transport = "inproc";
  EXPECT_THROW(run(c, [] {}), shoal::error);
  shoal::run_options options;
  options.settings = {{"transport", "sim"}};
  EXPECT_THROW(shoal::job outside(options), shoal::error);
}

TEST(simulated_job, measured_time_is_charged_if_that_is_wanted) {
  auto c = simulated(4, 2);
  c.sim.measured_factor = 1;
  run(c, compute_and_check);
}

TEST(simulated_job, runs_on_every_network) {
  for (const char* name : {"infiniband", "slingshot", "ethernet"})
    for (const auto topology :
         {shoal::net::sim_topology::flat, shoal::net::sim_topology::fat_tree, shoal::net::sim_topology::torus}) {
      auto c = simulated(12, 1);
      c.sim.network = *shoal::net::find_sim_network(name);
      c.sim.network.topology = topology;
      run(c, compute_and_check);
    }
}

TEST(simulated_job, several_in_a_row_and_beside_real_ones) {
  for (unsigned nodes = 1; nodes <= 3; ++nodes) {
    run(simulated(nodes, 2), compute_and_check);
    auto real = simulated(nodes, 2);
    real.transport = "inproc";
    real.pin = false;
    run(real, compute_and_check);
  }
}

}  // namespace
