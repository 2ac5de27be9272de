// SPDX-License-Identifier: Apache-2.0
// A job that checks what a program may rely on, and arrays, loops and calls, on as many nodes as it is started with.
// Prints what is broken; its status is 0 if nothing is, and the last line says on how many nodes.
#include <cstdio>
#include <numeric>
#include <vector>

#include "tests/cluster/litmus.hpp"

namespace {

namespace litmus = shoal::test::litmus;
using litmus::data_by;
using litmus::flag_by;
using shoal::distribution;
using shoal::everywhere;

int failures = 0;

void expect(const char* what, std::uint64_t broken) {
  if (broken == 0) return;
  std::printf("broken %llu times: %s\n", static_cast<unsigned long long>(broken), what);
  ++failures;
}

void check_order() {
  const std::uint32_t last = shoal::node_count() - 1;
  for (const std::uint32_t data_node : {0U, last})
    for (const std::uint32_t flag_node : {0U, last}) {
      expect("put, put", litmus::flag_and_data({flag_by::put, data_by::put, 0, last, data_node, flag_node}, 1000));
      expect("bulk put, add",
             litmus::flag_and_data({flag_by::add, data_by::bulk_put, last, 0, data_node, flag_node}, 500));
      expect("async put, put",
             litmus::flag_and_data({flag_by::put, data_by::async_put, 0, last, data_node, flag_node}, 300));
      expect("put, compare_exchange",
             litmus::flag_and_data({flag_by::compare_exchange, data_by::put, last, 0, data_node, flag_node}, 500));
      for (const bool bulk : {false, true})
        expect("store buffering", litmus::store_buffering(data_node, flag_node, bulk, 4000));
    }
  expect("told by another", litmus::told_by_another(500));
}

void check_atomicity() {
  expect("distinct tickets", litmus::distinct_tickets(2000));
  expect("exchanged once", litmus::exchanged_once(2000));
  expect("neighbours of a byte", litmus::small_neighbours<std::uint8_t>(200));
  expect("neighbours of a float", litmus::small_neighbours<float>(1000));
  expect("torn words", litmus::tears<std::uint64_t, std::uint32_t>(500));
  expect("torn half words", litmus::tears<std::uint32_t, std::uint16_t>(500));
}

void check_arrays() {
  for (const auto kind : {distribution::partition, distribution::local, distribution::remote, distribution::cyclic}) {
    constexpr std::uint64_t k_size = 20011;
    shoal::global_array<std::uint32_t> a(k_size, kind);
    shoal::parallel_for(everywhere, k_size,
                        [r = a.ref()](std::uint64_t i) { r.async_put(i, static_cast<std::uint32_t>(3 * i)); });
    std::vector<std::uint32_t> got(k_size);
    a->get(0, std::span(got));
    std::uint64_t broken = 0;
    for (std::uint64_t i = 0; i < k_size; ++i) broken += got[i] == static_cast<std::uint32_t>(3 * i) ? 0 : 1;
    expect("elements of a loop", broken);
    a->put(1, std::span<const std::uint32_t>(got).first(k_size - 1));  // much larger than a buffer
    broken = 0;
    for (std::uint64_t i = 1; i < k_size; ++i) broken += a->get(i) == got[i - 1] ? 0 : 1;
    expect("elements of a bulk put", broken);
    a->fill(11);
    const auto sum = shoal::parallel_reduce(
        shoal::owners_of(a), 0, k_size, std::uint64_t{0},
        [r = a.ref()](std::uint64_t i) { return std::uint64_t{r.get(i)}; }, std::plus<>{});
    expect("sum of a filled array", sum == 11 * k_size ? 0 : 1);
  }
}

void check_calls() {
  for (std::uint32_t n = 0; n < shoal::node_count(); ++n) {
    expect("number of the node", shoal::on(n, [] { return shoal::node_id(); }) == n ? 0 : 1);
    try {
      shoal::on(n, [n] {
        if (shoal::node_id() == n) throw std::out_of_range("far out");
      });
      expect("an exception", 1);
    } catch (const shoal::remote_error& e) {
      expect("its words", e.node() == n && e.type() == "std::out_of_range" && e.message() == "far out" ? 0 : 1);
    }
  }
  shoal::global_array<std::uint64_t> wrong(1);
  shoal::spmd([w = wrong.ref()](shoal::team& t) {
    const auto n = t.size();
    for (int round = 0; round < 20; ++round) {
      if (t.all_reduce(t.rank(), std::plus<>{}) != n * (n - 1) / 2) w.add(0, 1);
      t.barrier();
    }
  });
  expect("collectives", wrong->get(0));
}

}  // namespace

int main(int argc, char** argv) {
  return shoal::run(argc, argv, [] {
    check_order();
    check_atomicity();
    check_arrays();
    check_calls();
    std::printf("%s on %u nodes\n", failures == 0 ? "all promises kept" : "promises broken", shoal::node_count());
    return failures == 0 ? 0 : 1;
  });
}
