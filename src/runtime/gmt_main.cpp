// SPDX-License-Identifier: Apache-2.0
// main() of programs of gmt.h, in libgmt only: starts a job whose main task is the program's gmt_main.
// exit() in a task of any node ends the job with that status: the other nodes are told, and end as that node does. What
// happens then is that of any C program: functions of atexit() run and streams are flushed (elsewhere only the latter),
// and other tasks go on until the process has ended. Arrays that are to be kept are not written.
// Shown by tests/cluster/gmt_test.cpp.
#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <utility>

#include "base/log.hpp"
#include "gmt/gmt.h"
#include "gmt/main_task.hpp"
#include "gmt/options.hpp"
#include "launch/launcher_signs.hpp"
#include "machine/descriptor.hpp"
#include "machine/process.hpp"
#include "runtime/gmt_storage.hpp"
#include "runtime/hosted_nodes.hpp"
#include "runtime/job.hpp"
#include "shoal/detail/message.hpp"
#include "shoal/task.hpp"

namespace shoal::runtime {
namespace {

// The job of this process. Partners: main(), the handler of exit(), a message that another node has called exit().
std::atomic<hosted_nodes*> running_job{nullptr};

void receive_exit(const detail::arrival& a) noexcept {
  hosted_nodes* const job = running_job.exchange(nullptr, std::memory_order_acq_rel);
  if (job == nullptr) return;  // it ends already
  job->abandon();
  std::fflush(nullptr);
  machine::exit_now(a.payload.empty() ? 1 : static_cast<int>(a.payload[0] & 0xff));
}

// On the thread that calls exit(), which may be in the middle of a task: it must not leave the task's stack.
void tell_others(int status) noexcept {
  detail::worker_base& w = *detail::t_worker;
  const detail::handler_scope never_waits(w, "exit");
  detail::port& p = *w.port;
  const auto word = static_cast<std::uint64_t>(static_cast<unsigned>(status) & 0xff);
  for (std::uint32_t n = 0; n < p.nodes; ++n)
    if (n != p.node) detail::send(w, n, detail::receiver_of<receive_exit>(), {&word, 1});
  detail::flush_all(p);
  constexpr int k_polls = 1000;  // networks send while they are polled
  for (int i = 0; i < k_polls; ++i) poll();
}

void at_exit(int status) noexcept {
  hosted_nodes* const job = running_job.exchange(nullptr, std::memory_order_acq_rel);
  if (job == nullptr) return;
  if (detail::t_port == nullptr) return;  // a thread that runs no task: the others notice the loss
  if (is_launched()) tell_others(status);
  job->abandon();
}

int run_gmt(int argc, char** argv) {
  const gmt::options given = gmt::take_options(argc, argv);
  if (given.help) {
    std::fputs(gmt::help_text().c_str(), stdout);
    return 0;
  }
  if (!launch::another_process_warns())
    for (const std::string& name : given.unknown) base::warn("GMT has no option {}; it is ignored (--gmt_help)", name);
  run_options options;
  options.settings = given.settings;
  const config c = read_config(&argc, argv, options);
  if (!given.state.empty()) keep_gmt_arrays_in(given.state);
  const auto job = host_job(c);
  running_job.store(job.get(), std::memory_order_release);
  machine::call_at_exit(at_exit);
  struct ending {
    ~ending() { running_job.store(nullptr, std::memory_order_release); }
  } const at_the_end;
  return run_here(*job,
                  [&] { return gmt::run_main_task([&] { return gmt_main(static_cast<std::uint64_t>(argc), argv); }); });
}

}  // namespace
}  // namespace shoal::runtime

int main(int argc, char** argv) {
  shoal::machine::open_standard_descriptors();
  return shoal::runtime::status_of([&] { return shoal::runtime::run_gmt(argc, argv); });
}
