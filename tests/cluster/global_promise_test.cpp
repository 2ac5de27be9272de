// SPDX-License-Identifier: Apache-2.0
// Promises and futures that nodes share, in jobs of all shapes and of 16 nodes.
#include "shoal/global_promise.hpp"

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "cluster/node_promises.hpp"
#include "shoal/parallel_for.hpp"
#include "shoal/spmd.hpp"
#include "tests/cluster/cluster.hpp"

namespace {

using shoal::errc;
using shoal::global_future;
using shoal::global_promise;
using shoal::global_result;

static_assert(std::is_trivially_copyable_v<global_promise<int>> && sizeof(global_promise<int>) == 16);
static_assert(std::is_trivially_copyable_v<global_future<void>> && sizeof(global_future<void>) == 16);

template <class F>
std::string refusal(errc code, F&& f) {
  try {
    f();
  } catch (const shoal::error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    return e.what();
  }
  return "nothing was refused";
}

class global_promises : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(global_promises);
INSTANTIATE_TEST_SUITE_P(many_nodes, global_promises, testing::Values(shoal::test::job_shape{16, 1, false}),
                         shoal::test::name_of);

TEST_P(global_promises, a_value_reaches_tasks_of_all_nodes_before_and_after_it_is_set) {
  run([this] {
    for (std::uint32_t setter = 0; setter < nodes(); setter += 1 + nodes() / 3) {
      const global_result<std::uint64_t> r;
      shoal::global_array<std::uint64_t> got(nodes() * 20ULL);
      shoal::task_group all;
      all.run([&] {
        shoal::parallel_for(shoal::everywhere, got.size(), [f = r.future(), g = got.ref()](std::uint64_t i) {
          g.put(i, f.get() + i);  // most wait
        });
      });
      shoal::on(setter, [p = r.promise(), f = r.future()] {
        for (int k = 0; k < 10; ++k) shoal::yield();
        p.set_value(100);
        EXPECT_EQ(f.get(), 100U);
      });
      all.wait();
      for (std::uint64_t i = 0; i < got.size(); ++i) EXPECT_EQ(got->get(i), 100 + i);
      EXPECT_EQ(r.future().get(), 100U);
      EXPECT_TRUE(r.future().local().get() == 100);
    }
  });
}

TEST_P(global_promises, what_was_written_before_is_seen_by_who_has_the_value) {
  run([this] {
    shoal::global_array<std::uint64_t> data(nodes() * 8ULL);
    const global_result<void> ready;
    auto reader = shoal::async_on(nodes() - 1, [d = data.ref(), f = ready.future()] {
      f.wait();
      std::uint64_t sum = 0;
      for (std::uint64_t i = 0; i < d.size(); ++i) sum += d.get(i);
      return sum;
    });
    shoal::on(nodes() / 2, [d = data.ref(), p = ready.promise()] {
      for (std::uint64_t i = 0; i < d.size(); ++i) d.put(i, 3);
      p.set_value();
    });
    EXPECT_EQ(reader.get(), 24 * nodes());
  });
}

TEST_P(global_promises, errors_travel_and_a_second_setting_is_refused) {
  run([this] {
    const std::uint32_t last = nodes() - 1;
    const global_result<int> r;
    auto waiting = shoal::async_on(last, [f = r.future()] {
      try {
        return f.get();
      } catch (const shoal::remote_error& e) {
        EXPECT_EQ(e.type(), "std::runtime_error");
        EXPECT_EQ(e.message(), "no result");
        return -1;
      }
    });
    shoal::on(last, [p = r.promise()] { p.set_exception(std::make_exception_ptr(std::runtime_error("no result"))); });
    EXPECT_EQ(waiting.get(), -1);
    const std::string twice =
        refusal(errc::invalid_argument, [&] { shoal::on(last, [p = r.promise()] { p.set_value(1); }); });
    EXPECT_NE(twice.find("of node 0 is set twice"), twice.npos) << twice;
    auto later = r.promise().async_set_value(2);
    refusal(errc::invalid_argument, [&] { later.get(); });
    refusal(errc::invalid_argument,
            [&] { r.promise().set_exception(std::make_exception_ptr(std::runtime_error("again"))); });
    refusal(errc::remote, [&] { r.future().get(); });
  });
}

TEST_P(global_promises, continuations_run_on_the_node_that_asked_and_futures_combine) {
  run([this] {
    std::vector<global_result<std::uint64_t>> results(nodes());  // one promise, set by each node
    std::vector<global_future<std::uint64_t>> futures;
    for (const auto& r : results) futures.push_back(r.future());
    auto sum = shoal::when_all(futures).then([](const std::vector<std::uint64_t>& all) {
      std::uint64_t s = 0;
      for (const std::uint64_t x : all) s += x;
      return s;
    });
    const global_result<int> a;
    const global_result<double> b;
    auto there = shoal::async_on(nodes() - 1, [fa = a.future(), fb = b.future(), node = nodes() - 1] {
      auto [x, y] = shoal::when_all(fa, fb).get();
      const std::uint32_t ran_on = fa.then([](int) { return shoal::node_id(); }).get();
      EXPECT_EQ(ran_on, node);
      return x + y;
    });
    a.promise().set_value(1);
    b.promise().set_value(0.5);
    EXPECT_EQ(there.get(), 1.5);
    for (std::uint32_t n = 0; n < nodes(); ++n)
      shoal::on(n, [p = results[n].promise(), n] { p.async_set_value(n + 1).get(); });
    EXPECT_EQ(sum.get(), nodes() * (nodes() + 1) / 2);
  });
}

TEST_P(global_promises, large_values_and_many_promises) {
  run([this] {
    using row = std::array<std::uint64_t, 1024>;
    const global_result<row> large;
    shoal::on(nodes() - 1, [p = large.promise()] {
      row r{};
      for (std::uint64_t i = 0; i < r.size(); ++i) r[i] = i * i;
      p.set_value(r);
    });
    EXPECT_EQ(large.future().get()[1023], 1023U * 1023U);
    // Each node makes promises that the next one sets.
    shoal::spmd([](shoal::team& t) {
      std::vector<global_result<std::uint64_t>> mine(50);
      std::vector<global_promise<std::uint64_t>> promises;
      std::vector<global_future<std::uint64_t>> futures;
      for (auto& r : mine) {
        promises.push_back(r.promise());
        futures.push_back(r.future());
      }
      const auto all = t.all_gather(std::span<const global_promise<std::uint64_t>>(promises));
      const auto others = all.of((t.rank() + 1) % t.size());
      for (const auto& p : others) p.set_value(t.rank());
      for (const auto& f : futures) EXPECT_EQ(f.get(), (t.rank() + t.size() - 1) % t.size());
      t.barrier();
    });
  });
}

TEST_P(global_promises, a_freed_promise_is_named) {
  run([this] {
    global_promise<int> p;
    global_future<int> f;
    EXPECT_FALSE(p || f);
    {
      const global_result<int> r;
      p = r.promise();
      f = r.future();
      EXPECT_TRUE(p && f);
    }
    for (const std::uint32_t n : {0U, nodes() - 1}) {
      const std::string used = refusal(errc::not_found, [&] { shoal::on(n, [f] { return f.get(); }); });
      EXPECT_NE(used.find("of node 0 is used after it was freed"), used.npos) << used;
      refusal(errc::not_found, [&] { shoal::on(n, [p] { p.set_value(3); }); });
    }
    shoal::future<int> in_vain;
    {
      const global_result<int> r;
      in_vain = r.future().local();
      shoal::on(nodes() - 1, [f = r.future()] { EXPECT_FALSE(f.local().ready()); });  // and drops it
    }
    EXPECT_NE(refusal(errc::abandoned, [&] { in_vain.get(); }).find("destroyed before it was set"), std::string::npos);
    EXPECT_EQ(shoal::detail::this_port().context->promises->size(), 0U);
  });
}

TEST_P(global_promises, who_waits_leaves_the_worker) {
  run([this] {
    const global_result<std::uint64_t> r;
    std::vector<shoal::future<std::uint64_t>> waiting;  // more than there are workers
    for (std::uint32_t k = 0; k < 100; ++k)
      waiting.push_back(shoal::async_on(k % nodes(), [f = r.future()] { return f.get(); }));
    r.promise().set_value(7);
    for (auto& w : waiting) EXPECT_EQ(w.get(), 7U);
  });
}

}  // namespace
