// SPDX-License-Identifier: Apache-2.0
// Connected components; afterwards both ends of each edge have the same label:   components [SCALE]
#include "components.hpp"

#include "seconds.hpp"

int main(int argc, char** argv) {
  return shoal::run(argc, argv, [&] {
    const int scale = static_cast<int>(examples::number(argc, argv, 1, 17));
    const auto g = shoal::global_graph<>::generate(shoal::graph::kronecker(scale, 16, 1));
    const auto labels = g.values<std::uint32_t>();
    const auto passed = g.values<std::uint32_t>();
    unsigned rounds = 0;
    examples::timed("components", [&] { rounds = examples::find_components(g, labels, passed); });
    const std::uint64_t faults = shoal::parallel_reduce(
        shoal::owners_of(labels), g->vertices(), std::uint64_t{0},
        [g = g.ref(), l = labels.ref()](std::uint64_t v) {
          std::vector<std::uint32_t> of_neighbours(g.neighbours(v).size());
          l.gather(g.neighbours(v), of_neighbours);
          const auto differ = [mine = l.get(v)](std::uint32_t label) { return label != mine; };
          return static_cast<std::uint64_t>(std::ranges::count_if(of_neighbours, differ));
        },
        std::plus<>());
    std::printf("%u rounds\n", rounds);
    return examples::verdict(faults == 0);
  });
}
