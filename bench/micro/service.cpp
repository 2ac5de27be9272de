// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/service.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "bench/job.hpp"
#include "bench/progress.hpp"
#include "bench/real_range.hpp"
#include "bench/report.hpp"
#include "sched/pool.hpp"
#include "shoal/array.hpp"
#include "shoal/future.hpp"
#include "shoal/loop.hpp"
#include "shoal/on.hpp"
#include "shoal/sync.hpp"
#include "shoal/task_flow.hpp"
#include "shoal/task_graph.hpp"

namespace shoal::bench {
namespace {

constexpr std::array<std::string_view, 7> k_kinds{"group", "invoke", "future", "loop", "flow", "graph", "yield"};
constexpr std::uint64_t k_batch = 1024;  // bodies between two looks at the time
constexpr std::uint64_t k_value = 42;

wait_times summary_of(std::vector<double>& us) {
  if (us.empty()) return {};
  std::ranges::sort(us);
  const auto at = [&](double part) {
    return us[static_cast<std::size_t>(std::ceil(part * static_cast<double>(us.size()))) - 1];
  };
  return {at(0.5), at(0.99), us.size()};
}

double us_since(std::uint64_t start_ns) { return static_cast<double>(base::now_ns() - start_ns) / 1e3; }

// The bodies of the busy node.
struct work {
  std::int64_t body_ns;
  std::atomic<std::uint64_t> ran{0};  // partners: the workers of the node
  task_graph graph{};                 // a chain of k_batch bodies, built when it is needed first

  void body() {
    const std::uint64_t end_ns = base::now_ns() + static_cast<std::uint64_t>(body_ns);
    while (base::now_ns() < end_ns)
      ;
    ran.fetch_add(1, std::memory_order_relaxed);
  }
  void tree(std::uint64_t bodies) {
    if (bodies == 1) return body();
    parallel_invoke([&] { tree(bodies / 2); }, [&] { tree(bodies - bodies / 2); });
  }
};

void run_batch(std::string_view kind, work& w) {
  if (kind == "group") {
    task_group group;
    for (std::uint64_t i = 0; i < k_batch; ++i) group.run([&w] { w.body(); });
    group.wait();
  } else if (kind == "invoke") {
    w.tree(k_batch);
  } else if (kind == "future") {
    std::vector<future<void>> all;
    for (std::uint64_t i = 0; i < k_batch; ++i) all.push_back(async([&w] { w.body(); }));
    for (auto it = all.rbegin(); it != all.rend(); ++it) it->get();
  } else if (kind == "loop") {
    parallel_for(0, k_batch, [&w](std::uint64_t) { w.body(); });
  } else if (kind == "flow") {
    task_flow flow;
    int data = 0;
    for (std::uint64_t i = 0; i < k_batch; ++i) flow.run(inout(data), [&w] { w.body(); });
    flow.wait();
  } else if (kind == "graph") {
    task_graph::handle last;
    for (std::uint64_t i = w.graph.size(); i < k_batch; ++i) {
      const task_graph::handle next = w.graph.add([&w] { w.body(); });
      if (i != 0) last.precedes(next);
      last = next;
    }
    w.graph.run();
  } else {
    constexpr std::uint64_t k_tasks = 8;
    task_group group;
    for (std::uint64_t t = 0; t < k_tasks; ++t)
      group.run([&w] {
        for (std::uint64_t i = 0; i < k_batch / k_tasks; ++i) {
          w.body();
          yield();
        }
      });
    group.wait();
  }
}

// A task that the requesting thread submits.
struct submitted_task final : sched::errand {
  std::uint64_t start_ns = 0;
  double us = 0;
  std::atomic<bool> done{false};  // partner: the requesting thread
};

// Requests from two threads that are no workers to the pool of the busy worker: one wakes a task, one submits tasks.
class outside_requests {
public:
  explicit outside_requests(sched::pool& pool)
      : pool_(pool), waking_([this] { keep_waking(); }), submitting_([this] { keep_submitting(); }) {}
  ~outside_requests() { finish(); }

  // A task of the pool: waits for the requests to wake it.
  void wait_in_turn() {
    waited_for_ = true;
    while (!over_) {
      wake_.acquire();
      if (!over_) woken_us.push_back(us_since(wake_ns_));
      awake_.store(true, std::memory_order_release);
    }
  }
  bool is_waited_for() const { return waited_for_; }
  // The task has ended afterwards.
  void finish() {
    if (!waking_.joinable()) return;
    stop_.store(true, std::memory_order_relaxed);
    while (ended_.load(std::memory_order_acquire) < 2) yield();
    waking_.join();
    submitting_.join();
  }

  std::vector<double> woken_us;
  std::vector<double> submitted_us;

private:
  bool pause() const {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return !stop_.load(std::memory_order_relaxed);
  }
  void keep_waking() {
    while (!waited_for_) pause();
    while (pause()) wake();
    over_ = true;
    wake();
    ended_.fetch_add(1, std::memory_order_release);
  }
  void keep_submitting() {
    while (pause()) submit();
    ended_.fetch_add(1, std::memory_order_release);
  }
  static void until(const std::atomic<bool>& done) {
    while (!done.load(std::memory_order_acquire)) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  void wake() {
    awake_.store(false, std::memory_order_relaxed);
    wake_ns_ = base::now_ns();
    wake_.release();
    until(awake_);
  }
  void submit() {
    submitted_task t;
    t.run = [](detail::task& self) noexcept {
      auto& mine = static_cast<submitted_task&>(static_cast<sched::errand&>(self));
      mine.us = us_since(mine.start_ns);
      mine.done.store(true, std::memory_order_release);
    };
    t.start_ns = base::now_ns();
    pool_.submit(t);
    until(t.done);
    submitted_us.push_back(t.us);
  }

  sched::pool& pool_;
  semaphore wake_{0};
  std::uint64_t wake_ns_ = 0;
  std::atomic<bool> waited_for_{false};  // partner of each: the other side
  std::atomic<bool> over_{false};
  std::atomic<bool> awake_{false};
  std::atomic<bool> stop_{false};
  std::atomic<int> ended_{0};
  std::thread waking_;  // last: they use all above
  std::thread submitting_;
};

// What node 1 reports.
struct busy_result {
  wait_times woken;
  wait_times submitted;
  std::uint64_t expected = 0;
  std::uint64_t ran = 0;
};

busy_result be_busy(std::size_t kind, std::int64_t body_ns, double seconds, const array_ref<std::uint64_t>& begun) {
  busy_result result;
  outside_requests requests(sched::this_worker()->owner());
  task_group waiting;
  waiting.run([&] { requests.wait_in_turn(); });
  work w{.body_ns = body_ns};
  while (!requests.is_waited_for()) yield();
  begun.put(0, k_value + 1);
  const std::uint64_t end_ns = base::now_ns() + static_cast<std::uint64_t>(seconds * 1e9);
  for (; base::now_ns() < end_ns; result.expected += k_batch) run_batch(k_kinds[kind], w);
  requests.finish();
  waiting.wait();
  result.ran = w.ran;
  result.woken = summary_of(requests.woken_us);
  result.submitted = summary_of(requests.submitted_us);
  return result;
}

struct service_options {
  measuring_options measuring;
  job_options job;
  double body_us = 20;
  std::vector<std::string> kinds;
};

int run_service(const service_options& options) {
  report result("shoal bench service: how long requests to a busy worker wait");
  result.parameter("body_us", options.body_us);
  result.parameter("load", options.job.load);
  const std::vector<int>& processors = sched::this_worker()->owner().options().processors;
  result.parameter("pinned", std::ranges::any_of(processors, [](int p) { return p >= 0; }));
  result.parameter("transport", options.job.transport);
  result.parameter("direct", options.job.direct);
  result.begin(options.measuring);
  std::vector<std::string_view> kinds(options.kinds.begin(), options.kinds.end());
  if (kinds.empty()) kinds.assign(k_kinds.begin(), k_kinds.end());
  const auto rounds = kinds.size() * static_cast<std::size_t>(options.measuring.repeat);
  progress line(rounds);
  for (std::size_t round = 0; round < rounds; ++round) {
    const std::string_view kind = kinds[round % kinds.size()];
    line.show(round, kind);
    const service_result r =
        measure_service(kind, std::llround(options.body_us * 1e3), std::max(options.measuring.seconds, 0.1));
    const auto record = [&](std::string_view what, const wait_times& t) {
      result.record(fmt::format("{}.{}_p50_us", kind, what), "us", t.p50_us);
      result.record(fmt::format("{}.{}_p99_us", kind, what), "us", t.p99_us);
      result.record(fmt::format("{}.{}_count", kind, what), "", static_cast<double>(t.count));
    };
    record("get", r.get);
    record("call", r.call);
    record("woken", r.woken);
    record("submitted", r.submitted);
    result.check("bodies_ran", r.correct, "each body ran once, and each request had the right result");
  }
  line.clear();
  return result.finish(options.measuring);
}

}  // namespace

std::span<const std::string_view> service_kinds() { return k_kinds; }

service_result measure_service(std::string_view kind, std::int64_t body_ns, double seconds) {
  service_result result;
  const auto number = static_cast<std::size_t>(std::ranges::find(k_kinds, kind) - k_kinds.begin());
  global_array<std::uint64_t> table(node_count());
  table->fill(k_value);
  std::vector<double> get_us;
  std::vector<double> call_us;
  bool correct = true;
  future<busy_result> busy = async_on(1, [=, begun = table.ref()] { return be_busy(number, body_ns, seconds, begun); });
  flush();
  while (table->get(0) == k_value) yield();
  // The busy node stops for itself at the end: requests that it answers idly do not count.
  const std::uint64_t end_ns = base::now_ns() + static_cast<std::uint64_t>(seconds * 0.9 * 1e9);
  bool called_right = true;
  task_group calling;  // beside the gets, which must not wait for the calls
  calling.run([&] {
    while (base::now_ns() < end_ns) {
      const std::uint64_t start_ns = base::now_ns();
      called_right = on(1, [] { return k_value; }) == k_value && called_right;
      call_us.push_back(us_since(start_ns));
    }
  });
  while (base::now_ns() < end_ns) {
    const std::uint64_t start_ns = base::now_ns();
    correct = table->get(1) == k_value && correct;
    get_us.push_back(us_since(start_ns));
    yield();  // a get of mapped memory does not
  }
  calling.wait();
  correct = correct && called_right;
  const busy_result there = busy.get();
  result.get = summary_of(get_us);
  result.call = summary_of(call_us);
  result.woken = there.woken;
  result.submitted = there.submitted;
  result.bodies = there.ran;
  result.correct = correct && there.ran == there.expected && there.ran != 0;
  return result;
}

subcommand_body declare_service(CLI::App& app) {
  auto options = std::make_shared<service_options>();
  options->measuring.repeat = 1;
  options->measuring.seconds = 2;
  add_measuring_options(app, options->measuring);
  add_job_options(app, options->job);
  app.get_option("--nodes")->default_str("2");
  app.get_option("--workers")->default_str("1")->description("worker threads per node");
  app.add_option("--body-us", options->body_us, "length of a body, in us")
      ->check(real_range(0.0, 1e6))
      ->capture_default_str();
  app.add_option("--load", options->job.load, "threads that compute beside the job, as other programs would")
      ->check(CLI::Range(0U, 1024U))
      ->capture_default_str();
  app.add_option("--kinds", options->kinds, "group, invoke, future, loop, flow, graph, yield; default: all")
      ->delimiter(',')
      ->check(CLI::IsMember(std::vector<std::string>(k_kinds.begin(), k_kinds.end())))
      ->type_name("KIND,...");
  return [options] {
    if (options->job.nodes == 0) options->job.nodes = 2;
    if (options->job.workers == 0) options->job.workers = 1;
    return run_as_job(options->job, [options] { return run_service(*options); });
  };
}

}  // namespace shoal::bench
