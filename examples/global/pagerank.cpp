// SPDX-License-Identifier: Apache-2.0
// PageRank by pushing and by pulling, which must agree:   pagerank [SCALE [ROUNDS]]
#include "pagerank.hpp"

#include <cmath>

#include "seconds.hpp"

int main(int argc, char** argv) {
  return shoal::run(argc, argv, [&] {
    const int scale = static_cast<int>(examples::number(argc, argv, 1, 17));
    const auto rounds = static_cast<unsigned>(examples::number(argc, argv, 2, 10));
    const auto out = shoal::global_graph<>::generate(shoal::graph::kronecker(scale, 16, 1),
                                                     {.way = shoal::graph::direction::forward});
    const auto in = out.transposed();
    const shoal::graph_halo<> halo(in);
    const auto pushed = out.values<double>();
    const auto pulled = in.values<double>();
    examples::timed("push", [&] { examples::push_ranks(out, pushed, rounds); });
    examples::timed("pull", [&] { examples::pull_ranks(halo, out->degrees(), pulled, rounds); });
    const double difference = shoal::parallel_reduce(
        shoal::owners_of(pushed), out->vertices(), 0.0,
        [a = pushed.ref(), b = pulled.ref()](std::uint64_t v) { return std::abs(a.get(v) - b.get(v)); }, std::plus<>());
    return examples::verdict(difference < 1e-9);
  });
}
