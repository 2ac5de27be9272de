// SPDX-License-Identifier: Apache-2.0
// Random walks: each walker begins at its own vertex and goes on to a random neighbour, a number of times; a vertex
// without neighbours ends its walk. Every random number is a function of (seed, walker, step), so a walk does not depend
// on who executes it, and can be repeated alone. A walker leaves a trace: a hash of the vertices it saw, in their order.
//   simple   a loop over the walkers; each gets what it needs by blocking verbs
//   fast     a walker moves to the owner of its vertex by async_at, and goes on there as long as its vertices are local
// Both return how many steps all walkers took. Who may call: a task; they switch.
// Source: Morari 2014, section 5.6.3 (graph random walk: V/2 walkers of length L).
// Test: tests/cluster/kernels_test.cpp; measured by `shoal walk`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "kernels/reference/whole_graph.hpp"
#include "kernels/walk/group.hpp"
#include "shoal/graph.hpp"
#include "shoal/node_local.hpp"
#include "shoal/parallel_for.hpp"
#include "shoal/quiesce.hpp"

namespace shoal::kernels::walk {

/// `traces` has one element per walker.
template <class Id>
std::uint64_t simple(const graph_ref<Id>& g, const array_ref<std::uint64_t>& traces, const options& o) {
  return parallel_reduce(
      everywhere, traces.size(), std::uint64_t{0},
      [g, traces, o](std::uint64_t w) -> std::uint64_t {
        std::uint64_t v = first_vertex(w, traces.size(), g.vertices());
        std::uint64_t trace = v;
        std::uint64_t step = 0;
        for (; step < o.length; ++step) {
          const std::uint64_t degree = g.degree(v);
          if (degree == 0) break;
          v = g.neighbour(v, choice(o.seed, w, step, degree));
          trace = traced(trace, v);
        }
        traces.put(w, trace);
        return step;
      },
      std::plus<>());
}

template <class Id>
std::uint64_t fast(const graph_ref<Id>& g, const array_ref<std::uint64_t>& traces, const options& o) {
  const node_local<place<Id>> places(g, traces, o);
  parallel_for(everywhere, node_count(), [g, walkers = traces.size(), places = places.ref()](std::uint64_t) {
    const auto mine = walkers_from(g.degrees().local_range(), walkers, g.vertices());
    parallel_for(here, mine, [g, walkers, places](const range1d& some) {
      group<Id> together(places);
      for (std::uint64_t w = some.begin(); w < some.end(); ++w)
        together.add({w, 0, first_vertex(w, walkers, g.vertices()), first_vertex(w, walkers, g.vertices())});
    });
  });
  quiesce();
  return parallel_reduce(
      everywhere, node_count(), std::uint64_t{0},
      [places = places.ref()](std::uint64_t) -> std::uint64_t { return places->steps.load(); }, std::plus<>());
}

/// What is wrong with the traces, compared with walks one after the other; empty if nothing. Repeats at most `most_steps`
/// steps, of walkers that are spread over all. `steps`: how many there were, compared if all are repeated.
template <class Id>
std::string fault_of(const graph_ref<Id>& all, const array_ref<std::uint64_t>& traces, const options& o,
                     std::uint64_t steps, std::uint64_t most_steps) {
  const reference::whole_graph<Id> g(all);
  const std::vector<std::uint64_t> found = reference::whole_array(traces);
  const std::uint64_t stride = 1 + (found.size() * o.length - 1) / std::max<std::uint64_t>(most_steps, 1);
  std::uint64_t repeated = 0;
  for (std::uint64_t w = 0; w < found.size(); w += stride) {
    std::uint64_t v = first_vertex(w, found.size(), g.vertices());
    std::uint64_t trace = v;
    for (std::uint64_t step = 0; step < o.length && g.degree(v) > 0; ++step, ++repeated) {
      v = g.row(v)[choice(o.seed, w, step, g.degree(v))];
      trace = traced(trace, v);
    }
    if (trace != found[w])
      return "walker " + std::to_string(w) + " has seen other vertices than its random numbers say";
  }
  if (stride == 1 && repeated != steps)
    return std::to_string(steps) + " steps were counted instead of " + std::to_string(repeated);
  return {};
}

}  // namespace shoal::kernels::walk
