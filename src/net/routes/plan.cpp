// SPDX-License-Identifier: Apache-2.0
#include "net/routes/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "base/counted.hpp"
#include "machine/memory_info.hpp"
#include "net/routes/block.hpp"
#include "net/routes/routed_network.hpp"
#include "shoal/error.hpp"

namespace shoal::net {
namespace {

// Requests, and the replies to them; what handlers send is little beside it.
constexpr std::uint64_t k_busy_classes = 2;
// A block is copied to a shared buffer when it is posted, so that a worker needs a second one only while there is no
// room, however many are on their way.
constexpr std::size_t k_slots = 2;
constexpr std::size_t k_least_block_bytes = 128;
constexpr std::size_t k_least_kept = 64;
constexpr std::size_t k_most_kept = 4096;

std::uint64_t direct_bytes(const job_shape& s) {
  return k_busy_classes * (s.nodes - 1) * s.workers * s.buffers * s.buffer_bytes;
}

std::uint64_t routed_bytes(const job_shape& s, const route_map& map, std::size_t block_bytes, std::size_t kept) {
  const std::uint64_t shared = k_busy_classes * map.most_next_hops() * s.buffers * s.buffer_bytes;
  const std::uint64_t own = k_busy_classes * (s.nodes - 1) * s.workers * k_slots * block_bytes;
  const std::uint64_t large = k_busy_classes * s.workers * message_shape().large_slots * s.buffer_bytes;
  return shared + own + large + k_busy_classes * s.workers * kept * block_bytes;
}

// Blocks of a worker for a node that may be on their way: those of all its workers together fill a buffer several times.
std::size_t credits_for(unsigned workers) {
  constexpr std::size_t k_least = 16, k_of_node = 128;
  return std::bit_ceil(std::max(k_of_node / workers, k_least));
}

std::shared_ptr<const route_map> map_for(const std::string& route, const job_shape& s) {
  if (route == "machine") {
    if (s.machines.empty())
      throw error(errc::unsupported,
                  "SHOAL_ROUTE=machine needs nodes that are numbered machine by machine; have the launcher place them "
                  "by blocks, or use SHOAL_ROUTE=grid");
    return std::make_shared<route_map>(s.machines);
  }
  return std::make_shared<route_map>(s.nodes, route == "shared" ? 1U : route == "grid" ? 2U : 3U);
}

// With the largest blocks that fit; not routed if none do.
route_plan fitting(const std::string& route, const route_wish& wish, const job_shape& s, std::uint64_t limit) {
  const auto map = map_for(route, s);
  for (std::size_t block = std::min(wish.block_bytes, s.buffer_bytes / 2);; block /= 2) {
    const std::uint64_t kept =
        std::clamp<std::uint64_t>(limit / 8 / (k_busy_classes * s.workers * block), k_least_kept, k_most_kept);
    const std::uint64_t bytes = routed_bytes(s, *map, block, kept);
    if (bytes <= limit) return {route, map, block, static_cast<std::size_t>(kept), bytes};
    if (block / 2 < k_least_block_bytes) return {};
  }
}

}  // namespace

route_plan plan_routes(const route_wish& wish, const job_shape& shape) {
  route_plan direct;
  if (shape.nodes < 2) return direct;
  direct.bytes = direct_bytes(shape);
  if (wish.route == "direct") return direct;
  const std::uint64_t limit = wish.memory_bytes == 0 ? route_wish::k_most_default_bytes : wish.memory_bytes;
  if (wish.route == "auto" && direct.bytes <= limit) return direct;
  const std::vector<std::string> tried =
      wish.route == "auto" ? std::vector<std::string>{"shared", "grid", "cube"} : std::vector{wish.route};
  for (const std::string& route : tried)
    if (route_plan plan = fitting(route, wish, shape, limit); plan.is_routed()) return plan;
  const std::string& route = tried.back();
  const auto map = map_for(route, shape);
  const std::uint64_t least = routed_bytes(shape, *map, k_least_block_bytes, k_least_kept);
  if (!wish.must_fit) return {route, map, k_least_block_bytes, k_least_kept, least};
  throw error(errc::invalid_argument,
              fmt::format("{} for the buffers of a node are too few: {} of {} need at least {} with route {}; raise "
                          "SHOAL_AGGREGATION_MEMORY, or lower SHOAL_BUFFERS",
                          machine::describe_bytes(limit), base::counted(shape.nodes, "node"),
                          base::counted(shape.workers, "worker"), machine::describe_bytes(least), route));
}

std::unique_ptr<transport> route_over(std::unique_ptr<transport> inner, const route_plan& plan, std::uint32_t node,
                                      const job_shape& shape, machine::executor& executor) {
  const char* const name = inner->name();
  message_shape m;
  m.node = node;
  m.nodes = shape.nodes;
  m.workers = m.domains = shape.workers;
  m.slot_bytes = plan.block_bytes;
  m.slots = k_slots;
  // With its head it fits into a buffer of the inner transport, whose own label may take as much as that of a block.
  m.large_bytes = std::min(shape.buffer_bytes - k_block_head_words * sizeof(std::uint64_t),
                           (k_most_block_words + k_label_words) * sizeof(std::uint64_t));
  m.credits = credits_for(shape.workers);
  m.requests_may_wait = true;
  m.executor = &executor;
  routed_shape r;
  r.node = node;
  r.workers = shape.workers;
  r.block_words = m.slot_words();
  r.most_words = m.most_words();
  r.most_blocks = plan.most_blocks;
  r.executor = &executor;
  auto network = std::make_unique<routed_network>(std::move(inner), plan.map, r);
  const routed_network* const counting = network.get();
  // The inner transport tells of losses.
  auto above = std::make_unique<message_transport>(name, std::move(network), m, [](std::uint32_t, const char*) {});
  above->set_route_counts([counting] { return counting->counts(); });
  return above;
}

}  // namespace shoal::net
