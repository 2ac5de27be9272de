// SPDX-License-Identifier: Apache-2.0
// What fails on a simulated machine, and when: parts joined by '+', as in "stop(3,1ms,500us)+cut(0-1,2ms,1ms)".
//   stop(NODE,AT,FOR)        the processors of the node do nothing; its network card goes on
//   die(NODE,AT)             the node does nothing any more
//   slow(A-B,FACTOR,AT,FOR)  messages between the two nodes take FACTOR times as long; A-*: of A and any node
//   cut(A-B,AT,FOR)          what is sent between them in that time arrives after it
//   random(COUNT,WITHIN)     so many of stop, slow and cut, drawn from the seed: they begin in the first WITHIN, and last
//                            at most a quarter of it
// Without FOR it lasts to the end. Times are virtual and count from the start of the job.
// Who may call: anyone, at start. Throws shoal::error that says what is wrong. Never switches tasks.
// Test: tests/unit/net/sim_faults_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::net {

inline constexpr std::uint64_t k_never_ps = ~std::uint64_t{0};

struct sim_fault {
  enum class kind : std::uint8_t { stop, die, slow, cut };
  kind what = kind::stop;
  std::uint32_t node = 0;
  std::optional<std::uint32_t> other;  // the other end of a link; nothing: any node
  std::uint64_t from_ps = 0;
  std::uint64_t until_ps = k_never_ps;
  double factor = 1;

  bool is_of_link() const noexcept { return what == kind::slow || what == kind::cut; }
  bool is_between(std::uint32_t a, std::uint32_t b) const noexcept {
    return (node == a && (!other || *other == b)) || (node == b && (!other || *other == a));
  }
};

struct sim_fault_plan {
  std::vector<sim_fault> faults;
  unsigned random = 0;  // more, to be drawn
  std::uint64_t random_within_ps = 0;
};

sim_fault_plan parse_sim_faults(std::string_view text);
/// Those of a machine of so many nodes, in the order of their begin, with what is drawn. Stops of one node do not overlap.
/// Throws for a node that it does not have.
std::vector<sim_fault> faults_of(const sim_fault_plan& plan, std::uint32_t nodes, std::uint64_t seed);
/// As in the setting.
std::string describe(const sim_fault& f);

}  // namespace shoal::net
