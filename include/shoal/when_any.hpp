// SPDX-License-Identifier: Apache-2.0
// The first of several futures that has a result:
//   auto first = shoal::when_any(shoal::async(search_left), shoal::async(search_right)).get();
//   if (first.index == 0) use(std::get<0>(first.futures).get());          // the others can still be waited for
// Who may call: tasks. when_any() does not switch; the future that it gives is one like others (future.hpp): get(), wait(),
// wait_for() and then() work.
// Guarantees: `index` is that of a future whose result, a value or an exception, is there; if several were there at once, of
// any of them. All futures come back, in their order. Tasks are not stopped: use a stop_scope for that. Destroying what
// when_any() gave waits as the futures' own destructors do; destroying a continuation of it does not if one of them is a
// promise's.
// Costs: one allocation, and an atomic operation per future at both ends. O(futures).
// Source: std::experimental::when_any. Tests: tests/unit/sched/when_any_test.cpp, tests/stress/when_any_test.cpp.
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include "shoal/detail/any_state.hpp"
#include "shoal/future.hpp"

namespace shoal {

template <class T>
auto when_any(std::vector<future<T>> futures) -> future<when_any_result<std::vector<future<T>>>> {
  SHOAL_ASSERT(!futures.empty(), "when_any waits for one of several futures, and this vector has none");
  for (future<T>& f : futures) f = detail::settled(std::move(f));
  return detail::begin_any<std::vector<future<T>>>(detail::vector_of_futures<T>(std::move(futures)));
}
template <class... Ts>
requires(sizeof...(Ts) > 0) auto when_any(future<Ts>... futures) -> future<when_any_result<std::tuple<future<Ts>...>>> {
  return detail::begin_any<std::tuple<future<Ts>...>>(
      detail::tuple_of_futures<Ts...>(detail::settled(std::move(futures))...));
}

}  // namespace shoal
