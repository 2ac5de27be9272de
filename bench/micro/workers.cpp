// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/workers.hpp"

#include <exception>
#include <optional>
#include <thread>

#include "machine/topology.hpp"
#include "runtime/config.hpp"
#include "runtime/trace_recording.hpp"
#include "sched/pool.hpp"
#include "sched/stack_overflow.hpp"
#include "sched/worker.hpp"
#include "shoal/profile.hpp"

namespace shoal::bench {

void check_settings() {
  auto s = runtime::all_settings();
  s.check();
  static_cast<void>(runtime::read_config(s));
}

unsigned default_workers() {
  const unsigned set = runtime::read_config(runtime::all_settings()).workers;
  return set != 0 ? set : machine::topology::discover().usable_processors();
}

std::string chosen_steal(const std::string& asked) {
  return asked.empty() ? runtime::all_settings().get_text("steal") : asked;
}

worker_counts run_on_workers(unsigned workers, const std::function<void()>& main_task, const std::string& steal,
                             profile_collector* profiling) {
  auto s = runtime::all_settings();
  if (!steal.empty()) s.set("steal", steal, base::setting_origin::command_line);
  const runtime::config c = runtime::read_config(s);
  sched::pool_options options = runtime::scheduler_options(c);
  options.workers = workers;
  const machine::placement place = machine::topology::discover().choose(1, 0, workers);
  if (place.pin && c.pin) options.processors.assign(place.pus.begin(), place.pus.end());
  if (place.pin) options.where = place.where;
  sched::explain_stack_overflows();
  sched::pool pool(options);
  std::optional<runtime::trace_recording> tracing;
  if (const runtime::trace_wish wish = runtime::read_trace_wish(s); !wish.folder.empty())
    tracing.emplace(wish, 0, 1, pool);
  // Uses a separate thread: the thread of worker 0 stays pinned. If the caller's thread were pinned, the next call
  // would find only one processor.
  std::exception_ptr thrown;
  std::thread([&] {
    try {
      pool.run([&] {
        std::optional<profile_span> traced;
        if (tracing) {
          traced.emplace(begin_profile());
          sched::this_worker()->runs_code(nullptr);  // the main task is in the trace from its start
        }
        if (profiling == nullptr || !profiling->on()) return main_task();
        profile_span span = begin_profile(profiling->options());
        main_task();
        profiling->add(span.end());
      });
    } catch (...) {
      thrown = std::current_exception();
    }
  }).join();
  if (tracing) tracing->finish();
  if (thrown) std::rethrow_exception(thrown);
  worker_counts counts;
  for (unsigned i = 0; i < pool.size(); ++i) {
    counts.spawned += pool.at(i).spawned();
    counts.stolen += pool.at(i).counts().stolen;
    counts.waits += pool.at(i).counts().left;
    const auto& idle = pool.at(i).counts();
    counts.parks += idle.parks;
    counts.heavy_fences += idle.heavy_fences;
    counts.system_calls += idle.sleeps + idle.wakes + idle.heavy_fences + idle.yields;
  }
  return counts;
}

}  // namespace shoal::bench
