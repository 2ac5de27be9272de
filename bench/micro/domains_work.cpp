// SPDX-License-Identifier: Apache-2.0
// The work inside a job of `shoal bench domains`: one task per worker of the initiating nodes. All tasks begin at the
// same time of the machine's clock.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "bench/micro/domains.hpp"
#include "machine/futex.hpp"
#include "machine/topology.hpp"
#include "remote/worker_port.hpp"
#include "sched/pool.hpp"
#include "sched/worker.hpp"
#include "shoal/array.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/on.hpp"
#include "shoal/sync.hpp"

namespace shoal::bench {
namespace {

constexpr std::uint64_t k_area_bytes = std::uint64_t{8}
                                       << 20;          // area of an initiator, on its own node and on the target
constexpr std::uint64_t k_begin_after_ns = 3'000'000;  // time until all nodes know the begin
constexpr unsigned k_patience = 256;  // unsuccessful polls before the thread yields to another thread or the target
constexpr std::uint64_t k_added_elements = 1024;

constexpr std::uint64_t value_of(std::uint64_t seed, std::uint64_t i) noexcept {
  return (i + 1) * 0x9e3779b97f4a7c15 ^ seed * 0xbf58476d1ce4e5b9;
}

// One measurement; sent to the nodes.
struct domain_task {
  array_ref<std::uint64_t> words;
  std::uint64_t begin_ns = 0;
  std::uint64_t lasts_ns = 0;
  std::uint64_t seed = 0;
  std::uint32_t target = 0;
  std::uint32_t bytes = 8;
  std::uint32_t window = 1;
  domains_op op = domains_op::put;

  bool is_one_sided() const noexcept { return op == domains_op::put || op == domains_op::get; }
  std::uint64_t words_used() const noexcept {
    if (op == domains_op::send) return bytes / sizeof(std::uint64_t);
    return is_one_sided() ? std::uint64_t{window} * bytes / sizeof(std::uint64_t) : k_added_elements;
  }
  std::uint64_t first_word(std::uint64_t initiator) const noexcept {
    return initiator * (k_area_bytes / sizeof(std::uint64_t));
  }
};

struct tally {
  std::uint64_t operations = 0;
  std::uint64_t busy_ns = 0;  // sum over all initiators
  std::uint64_t first_ns = ~std::uint64_t{0};
  std::uint64_t last_ns = 0;
  std::uint64_t wrong = 0;
  bool refused = false;

  void include(const tally& o) noexcept {
    operations += o.operations;
    busy_ns += o.busy_ns;
    first_ns = std::min(first_ns, o.first_ns);
    last_ns = std::max(last_ns, o.last_ns);
    wrong += o.wrong;
    refused |= o.refused;
  }
};

net::domain& domain_here() {
  sched::worker& w = *sched::this_worker();
  return static_cast<remote::node_ports&>(w.owner().hooks()).at(worker_id()).domain();
}

std::uint64_t* own_words(const domain_task& m) { return m.words.local().data(); }

// ---- one initiator

// Keeps `window` operations in flight; starts the next when the oldest is complete.
void copy_one_sided(const domain_task& m, std::uint64_t first_word, tally& t) {
  net::domain& through = domain_here();
  auto* const mine = reinterpret_cast<std::byte*>(own_words(m) + first_word);
  const std::uint64_t there = m.words.layout().offset + first_word * sizeof(std::uint64_t);
  const auto done = std::make_unique<std::atomic<bool>[]>(m.window);  // partner: the network, within progress()
  const auto begin = [&](std::uint32_t slot) {
    const std::uint64_t at = std::uint64_t{slot} * m.bytes;
    done[slot].store(false, std::memory_order_relaxed);
    const bool begun = m.op == domains_op::put ? through.put(m.target, there + at, mine + at, m.bytes, done[slot])
                                               : through.get(m.target, there + at, mine + at, m.bytes, done[slot]);
    if (!begun) done[slot].store(true, std::memory_order_relaxed);
    t.refused |= !begun;
    return begun;
  };
  std::uint64_t begun = 0, ended = 0;
  const std::uint64_t until_ns = t.first_ns + m.lasts_ns;
  bool more = true;
  unsigned in_vain = 0;
  while (more || ended < begun) {
    while (more && begun < ended + m.window) {
      more = begin(static_cast<std::uint32_t>(begun % m.window));
      begun += more ? 1 : 0;
    }
    through.progress();
    const std::uint64_t before = ended;
    while (ended < begun && done[ended % m.window].load(std::memory_order_acquire)) ++ended;
    if (ended != before) {
      in_vain = 0;
      more = more && (begun < m.window || base::now_ns() < until_ns);  // uses each position at least once
    } else if (++in_vain == k_patience) {
      machine::yield_processor();
      in_vain = 0;
    }
  }
  t.operations = ended;
}

void copy_by_messages(const domain_task& m, std::uint64_t first_word, tally& t) {
  const std::uint64_t first = m.target * (m.words.size() / node_count()) + first_word;
  const std::span<const std::uint64_t> mine(own_words(m) + first_word, m.words_used());
  const std::uint64_t until_ns = t.first_ns + m.lasts_ns;
  do {
    if (m.window == 1)
      m.words.put(first, mine);
    else
      m.words.async_put(first, mine);
  } while (++t.operations, base::now_ns() < until_ns);
  wait();
}

void add_by_messages(const domain_task& m, std::uint64_t first_word, tally& t) {
  const std::uint64_t first = m.target * (m.words.size() / node_count()) + first_word;
  const std::uint64_t until_ns = t.first_ns + m.lasts_ns;
  constexpr std::uint64_t k_between_looks = 256;
  std::uint64_t n = 0;
  switch (m.op) {
    case domains_op::add:
      do m.words.add(first + n % k_added_elements, 1);
      while (++n, base::now_ns() < until_ns);
      break;
    case domains_op::adds:
      do m.words.async_add(first + n % k_added_elements, 1);
      while (++n % k_between_looks != 0 || base::now_ns() < until_ns);
      break;
    default:
      do {
        m.words.async_add(first + n % k_added_elements, 1);
        flush();
      } while (++n, base::now_ns() < until_ns);
  }
  wait();
  t.operations = n;
}

tally initiate(const domain_task& m, std::uint64_t initiator) {
  const std::uint64_t first = m.first_word(initiator);
  tally t;
  while (base::now_ns() < m.begin_ns) machine::yield_processor();
  t.first_ns = base::now_ns();
  if (m.is_one_sided())
    copy_one_sided(m, first, t);
  else if (m.op == domains_op::send)
    copy_by_messages(m, first, t);
  else
    add_by_messages(m, first, t);
  t.last_ns = base::now_ns();
  t.busy_ns = t.last_ns - t.first_ns;
  if (m.op == domains_op::get)
    for (std::uint64_t i = 0; i < m.words_used(); ++i)
      t.wrong += own_words(m)[first + i] != value_of(m.seed, first + i) ? 1 : 0;
  return t;
}

// ---- all initiators

// Placed tasks are not stolen, so each worker runs one.
struct initiator_task final : sched::placed_task {
  const std::function<void(unsigned)>* body = nullptr;
  unsigned worker = 0;
  latch* ended = nullptr;
};

// Runs body(0), body(1), ... on the workers of this node and waits for them.
void on_all_workers(const std::function<void(unsigned)>& body) {
  sched::pool& pool = sched::this_worker()->owner();
  latch ended(static_cast<std::ptrdiff_t>(pool.size()));
  std::deque<initiator_task> tasks(pool.size());
  for (unsigned w = 0; w < pool.size(); ++w) {
    initiator_task& t = tasks[w];
    t.body = &body;
    t.worker = w;
    t.ended = &ended;
    t.run = [](detail::task& self) noexcept {
      auto& mine = static_cast<initiator_task&>(static_cast<sched::placed_task&>(self));
      (*mine.body)(mine.worker);
      mine.ended->count_down();
    };
    pool.at(w).place(t);
  }
  ended.wait();
}

std::uint64_t number_here(unsigned worker) noexcept { return std::uint64_t{node_id()} * worker_count() + worker; }

// Threads and processes alike: each initiator has its own processor while there are enough.
void pin_workers_here() {
  const auto processors = machine::topology::discover().processors();
  const std::vector<machine::processor> all(processors.begin(), processors.end());
  on_all_workers([&](unsigned worker) { machine::pin_this_thread(all[number_here(worker) % all.size()].pu); });
}

tally initiate_here(const domain_task& m) {
  std::vector<tally> each(worker_count());
  on_all_workers([&](unsigned worker) { each[worker] = initiate(m, number_here(worker)); });
  tally all;
  for (const tally& one : each) all.include(one);
  return all;
}

// The initial contents of an initiator's areas: equal words here and on the target, or zeros.
void prepare_here(const domain_task& m, std::uint64_t initiators, bool filled) {
  for (std::uint64_t k = 0; k < initiators; ++k)
    for (std::uint64_t i = 0; i < m.words_used(); ++i)
      own_words(m)[m.first_word(k) + i] = filled ? value_of(m.seed, m.first_word(k) + i) : 0;
}

// On the target: the sum of the additions, or the number of wrong words.
std::uint64_t read_target(const domain_task& m, std::uint64_t initiators) {
  std::uint64_t answer = 0;
  for (std::uint64_t k = 0; k < initiators; ++k)
    for (std::uint64_t i = 0; i < m.words_used(); ++i) {
      const std::uint64_t word = own_words(m)[m.first_word(k) + i];
      if (m.op == domains_op::put || m.op == domains_op::send)
        answer += word != value_of(m.seed, m.first_word(k) + i) ? 1 : 0;
      else
        answer += word;
    }
  return answer;
}

struct domain_sample {
  tally sum;
  std::string wrong;
};

domain_sample measure_once(domain_task m, unsigned initiating_nodes) {
  const std::uint64_t initiators = std::uint64_t{initiating_nodes} * worker_count();
  const bool put = m.op == domains_op::put || m.op == domains_op::send;
  const auto prepare = [m, initiators](bool filled) { prepare_here(m, initiators, filled); };
  on(m.target, [prepare, get = m.op == domains_op::get] { prepare(get); });
  for (std::uint32_t n = 0; n < initiating_nodes; ++n) on(n, [prepare, put] { prepare(put); });
  m.begin_ns = base::now_ns() + k_begin_after_ns;
  std::vector<future<tally>> others;
  for (std::uint32_t n = 1; n < initiating_nodes; ++n) others.push_back(async_on(n, [m] { return initiate_here(m); }));
  flush();
  domain_sample r;
  r.sum = initiate_here(m);
  for (auto& other : others) r.sum.include(other.get());
  const std::uint64_t found = on(m.target, [m, initiators] { return read_target(m, initiators); });
  if (r.sum.refused)
    r.wrong = "the network library refused an operation";
  else if (m.op == domains_op::get && r.sum.wrong != 0)
    r.wrong = fmt::format("{} words that were got differ from those on the target", r.sum.wrong);
  else if (put && found != 0)
    r.wrong = fmt::format("{} words on the target differ from those that were put", found);
  else if (!m.is_one_sided() && !put && found != r.sum.operations)
    r.wrong = fmt::format("{} additions of one resulted in a sum of {}", r.sum.operations, found);
  return r;
}

}  // namespace

std::vector<domains_value> measure_domains(const domains_plan& plan, bool& one_sided) {
  SHOAL_ASSERT(plan.initiators < node_count(), "the last node is the target");
  const auto target = node_count() - 1;
  if (plan.pinned)
    for (std::uint32_t n = 0; n < plan.initiators; ++n) on(n, [] { pin_workers_here(); });
  one_sided = domain_here().one_sided();
  const std::uint64_t areas = std::uint64_t{plan.initiators} * worker_count();
  const global_array<std::uint64_t> words(areas * (k_area_bytes / sizeof(std::uint64_t)) * node_count());
  domain_task m;
  m.words = words.ref();
  m.target = target;
  m.lasts_ns = static_cast<std::uint64_t>(plan.seconds * 1e9);
  std::vector<domains_value> values;
  for (const domains_op op : plan.ops) {
    m.op = op;
    if (m.is_one_sided() && !one_sided) continue;
    for (const std::uint32_t bytes : has_sizes(op) ? plan.bytes : std::vector<std::uint32_t>{8}) {
      domains_value v{
          .op = op, .bytes = bytes, .correct = true, .said = "memory contains the words that were put, got and added"};
      m.bytes = bytes;
      const auto once = [&](unsigned window) {
        m.window = window;
        ++m.seed;
        const domain_sample r = measure_once(m, plan.initiators);
        if (!r.wrong.empty()) {
          v.correct = false;
          v.said = fmt::format("{} of {} bytes: {}", domains_op_name(op), bytes, r.wrong);
        }
        return r.sum;
      };
      if (has_sizes(op) || op == domains_op::add) {
        const tally t = once(1);
        const auto operations = static_cast<double>(std::max<std::uint64_t>(t.operations, 1));
        v.latency_us = static_cast<double>(t.busy_ns) / operations * 1e-3;
      }
      if (op != domains_op::add) {
        const tally t = once(static_cast<unsigned>(std::min<std::uint64_t>(plan.window, k_area_bytes / bytes)));
        v.mops = static_cast<double>(t.operations) / static_cast<double>(t.last_ns - t.first_ns) * 1e3;
      }
      values.push_back(v);
    }
  }
  return values;
}

}  // namespace shoal::bench
