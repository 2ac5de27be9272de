// SPDX-License-Identifier: Apache-2.0
#include "machine/topology.hpp"

#include <fmt/format.h>
#include <hwloc.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <shoal/detail/assert.hpp>
#include <shoal/error.hpp>
#include <tuple>

#include "base/counted.hpp"
#include "machine/control_group.hpp"
#include "machine/memory_info.hpp"

namespace shoal::machine {

struct topology::state {
  state() {
    if (hwloc_topology_init(&tree) != 0) throw error(errc::system, "hwloc cannot start; is memory exhausted?");
  }
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state() { hwloc_topology_destroy(tree); }

  void load();

  hwloc_topology_t tree = nullptr;
  std::vector<processor> processors;
  double quota = std::numeric_limits<double>::infinity();
  unsigned cores = 0;
  unsigned packages = 0;
  unsigned numa_nodes = 0;
};

namespace {

unsigned ancestor(hwloc_topology_t tree, hwloc_obj_t pu, hwloc_obj_type_t type, unsigned otherwise) {
  const hwloc_obj_t found = hwloc_get_ancestor_obj_by_type(tree, type, pu);
  return found == nullptr ? otherwise : found->logical_index;
}

// NUMA nodes are not ancestors in hwloc's tree but hang beside them.
unsigned numa_of(hwloc_topology_t tree, hwloc_obj_t pu) {
  for (hwloc_obj_t node = nullptr; (node = hwloc_get_next_obj_by_type(tree, HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
    if (node->cpuset != nullptr && hwloc_bitmap_isset(node->cpuset, pu->os_index)) return node->logical_index;
  }
  return 0;
}

template <class Member>
unsigned count_distinct(const std::vector<processor>& processors, Member member) {
  std::set<unsigned> seen;
  for (const processor& one : processors) seen.insert(one.*member);
  return static_cast<unsigned>(seen.size());
}

// The part of `all` things that falls to `index` of `parts`.
struct share {
  share(std::size_t all, unsigned parts, unsigned index)
      : begin(all * index / parts), size(all * (index + std::size_t{1}) / parts - begin) {}
  std::size_t begin;
  std::size_t size;
};

// `wanted` of the candidates, evenly spaced, so that a few workers spread over caches and packages.
void take_spread(std::span<const processor> candidates, std::size_t wanted, std::vector<processor>& taken) {
  for (std::size_t i = 0; i < wanted; ++i) taken.push_back(candidates[i * candidates.size() / wanted]);
}

// The first hardware thread of every core, then the others; within each the order of the machine stays.
std::vector<processor> first_threads_first(std::span<const processor> some, std::size_t& first_threads) {
  std::vector<processor> ordered(some.begin(), some.end());
  std::set<unsigned> seen;
  const auto middle = std::stable_partition(ordered.begin(), ordered.end(),
                                            [&seen](const processor& one) { return seen.insert(one.core).second; });
  first_threads = static_cast<std::size_t>(middle - ordered.begin());
  return ordered;
}

// Before hwloc would fill the memory with them. Attributes in brackets and parentheses do not multiply.
bool describes_too_many(const std::string& description) {
  std::uint64_t all = 1;
  for (std::size_t colon = description.find(':'); colon != std::string::npos;
       colon = description.find(':', colon + 1)) {
    const auto* const first = description.data() + colon + 1;
    std::uint64_t number = 0;
    const auto [end, failure] = std::from_chars(first, description.data() + description.size(), number);
    if (failure == std::errc::result_out_of_range || number > topology::k_most_described) return true;
    if (end != first && (all *= std::max(number, std::uint64_t{1})) > topology::k_most_described) return true;
  }
  return false;
}

}  // namespace

sharing shared_by(const processor& a, const processor& b) noexcept {
  if (a.package != b.package) return sharing::machine;
  if (a.core == b.core) return sharing::core;
  if (a.l2 == b.l2) return sharing::l2;
  if (a.l3 == b.l3) return sharing::l3;
  return a.numa == b.numa ? sharing::numa : sharing::package;
}

void topology::state::load() {
  if (hwloc_topology_load(tree) != 0) throw error(errc::system, "hwloc cannot read this machine's processors");
  hwloc_bitmap_t mask = hwloc_bitmap_alloc();
  // The whole process's, so that a caller that is pinned already does not narrow it.
  if (hwloc_topology_is_thissystem(tree) == 0 || hwloc_get_cpubind(tree, mask, HWLOC_CPUBIND_PROCESS) != 0) {
    hwloc_bitmap_copy(mask, hwloc_topology_get_topology_cpuset(tree));
  }
  for (hwloc_obj_t pu = nullptr; (pu = hwloc_get_next_obj_by_type(tree, HWLOC_OBJ_PU, pu)) != nullptr;) {
    if (!hwloc_bitmap_isset(mask, pu->os_index)) continue;
    processor one;
    one.pu = pu->os_index;
    one.core = ancestor(tree, pu, HWLOC_OBJ_CORE, pu->logical_index);
    one.l2 = ancestor(tree, pu, HWLOC_OBJ_L2CACHE, one.core);
    one.l3 = ancestor(tree, pu, HWLOC_OBJ_L3CACHE, one.core);
    one.numa = numa_of(tree, pu);
    one.package = ancestor(tree, pu, HWLOC_OBJ_PACKAGE, 0);
    processors.push_back(one);
  }
  hwloc_bitmap_free(mask);
  if (processors.empty()) throw error(errc::system, "this process may use no processor; check taskset and cpuset");
  std::sort(processors.begin(), processors.end(), [](const processor& left, const processor& right) {
    return std::tie(left.package, left.numa, left.l3, left.l2, left.core, left.pu) <
           std::tie(right.package, right.numa, right.l3, right.l2, right.core, right.pu);
  });
  cores = count_distinct(processors, &processor::core);
  packages = count_distinct(processors, &processor::package);
  numa_nodes = count_distinct(processors, &processor::numa);
}

topology::topology(std::unique_ptr<state> made) noexcept : state_(std::move(made)) {}
topology::topology(topology&&) noexcept = default;
topology& topology::operator=(topology&&) noexcept = default;
topology::~topology() = default;

topology topology::discover() {
  auto made = std::make_unique<state>();
  made->load();
  made->quota = read_cpu_quota();
  return topology(std::move(made));
}

topology topology::synthetic(const std::string& description, double quota) {
  auto made = std::make_unique<state>();
  if (describes_too_many(description))
    throw error(errc::invalid_argument,
                fmt::format("'{}' describes more than {} processors; write for instance 'package:2 core:4 pu:2'",
                            description, k_most_described));
  const auto accepts = [&made](const std::string& text) {
    return hwloc_topology_set_synthetic(made->tree, text.c_str()) == 0;
  };
  if (!accepts(description) && (description.empty() || !accepts(description + " pu:1")))
    throw error(errc::invalid_argument,
                fmt::format("'{}' describes no machine; write for instance 'package:2 core:4 pu:2'", description));
  made->load();
  made->quota = quota;
  return topology(std::move(made));
}

std::span<const processor> topology::processors() const noexcept { return state_->processors; }
unsigned topology::cores() const noexcept { return state_->cores; }
unsigned topology::packages() const noexcept { return state_->packages; }
unsigned topology::numa_nodes() const noexcept { return state_->numa_nodes; }
double topology::cpu_quota() const noexcept { return state_->quota; }

unsigned topology::usable_processors() const noexcept {
  const auto all = static_cast<double>(processors().size());
  return static_cast<unsigned>(std::max(1.0, std::min(all, std::ceil(cpu_quota()))));
}

std::string topology::affinity() const {
  std::set<unsigned> pus;
  for (const processor& one : processors()) pus.insert(one.pu);
  std::string text;
  for (auto at = pus.begin(); at != pus.end();) {
    const unsigned first = *at;
    unsigned last = first;
    for (++at; at != pus.end() && *at == last + 1; ++at) last = *at;
    text += fmt::format("{}{}", text.empty() ? "" : ",", first);
    if (last != first) text += fmt::format("-{}", last);
  }
  return text;
}

std::string topology::model() const {
  const hwloc_obj_t package = hwloc_get_obj_by_type(state_->tree, HWLOC_OBJ_PACKAGE, 0);
  const hwloc_obj_t holder = package != nullptr ? package : hwloc_get_root_obj(state_->tree);
  const char* const name = hwloc_obj_get_info_by_name(holder, "CPUModel");
  return name == nullptr ? "" : name;
}

std::string topology::caches() const {
  std::string text;
  for (const hwloc_obj_type_t type : {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE}) {
    const hwloc_obj_t cache = hwloc_get_obj_by_type(state_->tree, type, 0);
    if (cache == nullptr) continue;
    text += fmt::format("{}L{} {}", text.empty() ? "" : ", ", cache->attr->cache.depth,
                        describe_bytes(cache->attr->cache.size));
    const int sharers = hwloc_bitmap_weight(cache->cpuset);
    if (sharers > 1) text += fmt::format(" shared by {}", sharers);
  }
  return text;
}

placement topology::choose(unsigned nodes_on_machine, unsigned my_index, unsigned workers) const {
  SHOAL_ASSERT(my_index < nodes_on_machine && workers > 0, "a node of this machine with at least one worker");
  const std::vector<processor>& all = state_->processors;
  const std::size_t wanted = std::size_t{nodes_on_machine} * workers;
  placement result;
  result.where.reserve(workers);
  std::size_t first_threads = 0;
  if (wanted <= state_->cores) {
    // A core for each worker; each node has a block of neighbouring cores, so that its workers share caches and its
    // memory is near, and spreads over that block.
    const std::vector<processor> ordered = first_threads_first(all, first_threads);
    const share mine(first_threads, nodes_on_machine, my_index);
    take_spread(std::span(ordered).subspan(mine.begin, mine.size), workers, result.where);
  } else if (wanted <= all.size()) {
    // Hardware threads of one core work for one node, as far as the numbers allow.
    const share mine(all.size(), nodes_on_machine, my_index);
    const std::vector<processor> ordered =
        first_threads_first(std::span(all).subspan(mine.begin, mine.size), first_threads);
    const std::span block(ordered);
    const std::size_t on_first = std::min<std::size_t>(workers, first_threads);
    take_spread(block.first(first_threads), on_first, result.where);
    take_spread(block.subspan(first_threads), workers - on_first, result.where);
  } else {
    result.oversubscribed = true;
    const std::vector<processor> ordered = first_threads_first(all, first_threads);
    for (std::size_t i = 0; i < workers; ++i) {
      result.where.push_back(ordered[(std::size_t{my_index} * workers + i) % ordered.size()]);
    }
  }
  for (const processor& one : result.where) result.pus.push_back(one.pu);
  // Several workers on one processor: when one of them sleeps, the others cannot move to where it is idle; the kernel
  // balances better. A quota without a cpuset: other groups on this machine make the same choice as we do and take the
  // same processors, and a thread whose processor is taken waits although the quota would let it run elsewhere.
  if (result.oversubscribed) {
    result.note = fmt::format("{} share {}; they are not pinned", base::counted(wanted, "worker"),
                              base::counted(all.size(), "processor"));
  } else if (cpu_quota() < static_cast<double>(all.size())) {
    result.note = fmt::format("the control group gives {:.2f} of {}; workers are not pinned", cpu_quota(),
                              base::counted(all.size(), "processor"));
  } else {
    result.pin = true;
  }
  return result;
}

bool pin_this_thread(unsigned pu) noexcept {
  if (pu >= CPU_SETSIZE) return false;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(pu, &set);
  return ::sched_setaffinity(0, sizeof set, &set) == 0;
}

bool pin_thread(std::uint32_t thread, std::span<const unsigned> pus) noexcept {
  constexpr unsigned k_bits = 64;
  static_assert(sizeof(unsigned long) * 8 == k_bits);
  std::array<unsigned long, 128> mask{};  // as affinity_scope
  for (const unsigned pu : pus) {
    if (pu >= mask.size() * k_bits) return false;
    mask[pu / k_bits] |= 1UL << (pu % k_bits);
  }
  return ::syscall(SYS_sched_setaffinity, thread, sizeof mask, mask.data()) == 0;
}

std::string architecture() {
  utsname all{};
  return ::uname(&all) == 0 ? all.machine : "";
}

affinity_scope::affinity_scope() noexcept
    : bytes_(::syscall(SYS_sched_getaffinity, 0, mask_.size() * sizeof(mask_[0]), mask_.data())) {}

std::string affinity_scope::text() const {
  std::size_t words = mask_.size();
  while (words > 1 && mask_[words - 1] == 0) --words;
  std::string digits;
  while (words > 0) digits += fmt::format("{:016x}", mask_[--words]);
  return digits;
}

affinity_scope::~affinity_scope() {
  if (bytes_ > 0) ::syscall(SYS_sched_setaffinity, 0, bytes_, mask_.data());
}

}  // namespace shoal::machine
