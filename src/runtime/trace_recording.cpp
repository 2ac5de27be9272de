// SPDX-License-Identifier: Apache-2.0
#include "runtime/trace_recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "machine/process.hpp"
#include "machine/socket.hpp"
#include "machine/tracepoints.hpp"
#include "runtime/mpi_job.hpp"
#include "runtime/trace_names.hpp"
#include "sched/pool.hpp"
#include "shoal/detail/worker.hpp"
#include "shoal/error.hpp"

namespace shoal::runtime {
namespace {

using base::setting;
using base::setting_type;

constexpr setting k_trace_table[] = {
    {.name = "trace",
     .type = setting_type::text,
     .default_value = "",
     .help =
         "what workers do is written into this folder, a file for each node: `shoal trace` shows it; empty: nothing"},
    {.name = "trace_events",
     .type = setting_type::size,
     .default_value = "256K",
     .help = "how many events of each worker are kept, of 24 bytes each; rounded up to a power of 2",
     .min = "1K",
     .max = "1G"},
    {.name = "trace_full",
     .type = setting_type::choice,
     .default_value = "overwrite",
     .help = "when there are more events: overwrite keeps the newest, stop the oldest",
     .choices = "overwrite|stop"},
    {.name = "trace_samples",
     .type = setting_type::choice,
     .default_value = "off",
     .help =
         "on: a trace also samples the workers' stacks, once in 1 ms of processor time or as often as the kernel can",
     .choices = "on|off"},
};

// By detail::wait_kind.
constexpr std::array<std::string_view, static_cast<std::size_t>(detail::wait_kind::other) + 1> k_wait_names = {
    "yields",     "mutex",      "condition variable",
    "semaphore",  "latch",      "children",
    "graph",      "operations", "future",
    "loop",       "reply",      "settling",
    "room",       "credit",     "transfer",
    "collective", "stack",      "message",
    "end of job", "promise",    "lock",
    "file",       "thread",     "other"};

trace::trace_clock clock_now() { return {base::ticks(), machine::kernel_clock_ns(), machine::world_clock_ns()}; }

// Files of pools of one process, and of pools that follow each other, have numbers.
std::string file_of(const std::string& folder, std::uint32_t node) {
  static std::atomic<std::uint32_t> made = 0;
  const std::uint32_t number = made.fetch_add(1, std::memory_order_relaxed);
  return fmt::format("{}/node-{}-{}-{}.trace", folder, node, machine::own_pid(), number);
}

std::string program_name() {
  std::string all;
  for (const std::string& word : shown_command()) all += (all.empty() ? "" : " ") + word;
  return all;
}

}  // namespace

const base::setting_table k_trace_settings{"runtime", k_trace_table};

trace_wish read_trace_wish(const base::settings& s) {
  return {s.get_text("trace"), std::bit_ceil(s.get_size("trace_events")), s.get_text("trace_full") == "overwrite",
          s.get_text("trace_samples") == "on"};
}

trace_recording::trace_recording(const trace_wish& wish, std::uint32_t node, std::uint32_t nodes, sched::pool& workers)
    : workers_(workers) {
  std::error_code failed;
  std::filesystem::create_directories(wish.folder, failed);  // what is wrong is said when the file is made
  trace::trace_form form;
  form.node = node;
  form.nodes = nodes;
  form.workers = workers.size();
  form.events = wish.events;
  form.overwrite = wish.overwrite;
  constexpr std::uint64_t k_stacks = 4096;  // of 512 bytes
  if (wish.samples) form.stacks = k_stacks;
  form.ticks_per_us = base::ticks_per_us();
  form.machine = machine::host_name();
  form.program = program_name();
  try {
    file_ = machine::mapped_file::make(file_of(wish.folder, node), trace::trace_bytes(form));
  } catch (const error& e) {
    throw error(e.code(), fmt::format("there is no trace: {}, or set fewer trace_events", e.what()));
  }
  writer_ = std::make_unique<trace::trace_writer>(file_.bytes(), form, clock_now());
  for (std::size_t i = 0; i < k_wait_names.size(); ++i)
    writer_->name_wait(static_cast<std::uint16_t>(i), k_wait_names[i]);
  for (const trace::code_image& i : traced_images()) writer_->add_image(i);  // for names after a crash
  // Only samples find code that is unloaded: tasks are the library's own.
  workers_.profiling().trace_into(writer_.get(), [this] { name_samples(); });
}

trace_recording::~trace_recording() { workers_.profiling().trace_into(nullptr, {}); }

void trace_recording::finish() {
  writer_->finish(clock_now());
  {
    const std::lock_guard hold(naming_);
    for (const std::uint64_t address : writer_->code_addresses()) name(address, task_code_name);
  }
  name_samples();
}

void trace_recording::name_samples() {
  const std::lock_guard hold(naming_);
  for (const std::uint64_t address : writer_->new_sampled_addresses()) name(address, sampled_code_name);
}

// With the lock held.
template <class Describe>
void trace_recording::name(std::uint64_t address, const Describe& describe) {
  if (!named_.insert(address).second) return;
  const auto* const code = reinterpret_cast<const void*>(address);
  const bool has_room = writer_->name_code(address, describe(symbols_.name_of(code), machine::symbols::place_of(code)));
  if (!has_room && !std::exchange(is_full_, true))
    base::warn("the trace has no room for more names: some functions are shown as addresses");
}

}  // namespace shoal::runtime
