// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/join/kernel.hpp"
#include "examples/global/hash_join.hpp"

int main(int argc, char** argv) {
  using namespace problems::join;
  problems::measurement<problem> m(argc, argv);
  const auto main_task = [&m] {
    const problem& given = m.problem();
    const shoal::global_array<examples::customer> customers(given.customers.size());
    const shoal::global_array<examples::order> orders(given.orders.size());
    for (std::size_t i = 0; i < given.customers.size(); ++i)
      customers->async_put(i, {given.customers[i].id, given.customers[i].region});
    for (std::size_t i = 0; i < given.orders.size(); ++i)
      orders->async_put(i, {given.orders[i].customer, given.orders[i].amount});
    shoal::wait();
    m.run([&](problem&) { return examples::join(customers, orders, k_regions); });
  };
  const int status = shoal::run(main_task, {{{"workers", std::to_string(m.workers())}}});
  return status != 0 ? status : m.finish();
}
