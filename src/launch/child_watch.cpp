// SPDX-License-Identifier: Apache-2.0
#include "launch/child_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/exit_status.hpp"
#include "base/log.hpp"
#include "machine/signal_request.hpp"

namespace shoal::launch {
namespace {

constexpr std::uint64_t k_report_ns = 1'000'000'000;  // after the end of a limit, for what the tasks wait for

class child_watch {
public:
  child_watch(std::vector<machine::child_process>& processes, job_view& job, machine::interruption& stop,
              bool pass_signals, std::int64_t limit_ns)
      : processes_(processes),
        job_(job),
        stop_(stop),
        pass_signals_(pass_signals),
        limit_ns_(limit_ns),
        begin_ns_(base::now_ns()) {}

  job_end run() {
    while (std::ranges::any_of(processes_, [](const auto& p) { return p.running(); })) step();
    const int found = status_ != 0 ? status_ : follower_status_;
    return {found == 0 && failing_ ? 1 : found, job_.lost().has_value() && stop_.signal() == 0};
  }

private:
  void step() {
    std::vector<int> descriptors;
    for (auto& p : processes_) descriptors.push_back(p.running() ? p.descriptor() : -1);
    descriptors.push_back(failing_ ? -1 : stop_.descriptor());
    descriptors.push_back(failing_ ? -1 : job_.descriptor());
    descriptors.push_back(asked_.descriptor());
    std::int64_t wait_ns = -1;
    if (failing_ || limit_ns_ != 0) {
      const std::uint64_t now = base::now_ns();
      const std::uint64_t end = failing_     ? kill_at_ns_
                                : reporting_ ? report_until_ns_
                                             : begin_ns_ + static_cast<std::uint64_t>(limit_ns_);
      wait_ns = now < end ? static_cast<std::int64_t>(end - now) : 0;
    }
    const int ready = machine::wait_any(descriptors, wait_ns);
    if (ready < 0) return failing_ ? kill_all() : timed_out();
    const auto index = static_cast<std::size_t>(ready);
    if (index == processes_.size()) return interrupted();
    if (index == processes_.size() + 2) return pass_on_request();
    if (index > processes_.size()) {  // the process that is the cause may still run, or have no process here
      awaiting_cause_ = true;
      return begin_to_fail();
    }
    ended(static_cast<std::uint32_t>(index));
  }

  // Those that have a handler of SIGUSR1 (to others, which may not have begun, it would be the end) say what their tasks
  // wait for. False: there are none.
  bool ask_for_report() {
    bool told = false;
    for (std::uint32_t n = 0; n < processes_.size(); ++n) {
      const int process = processes_[n].running() ? job_.process_of(n, processes_[n].pid()) : 0;
      told |= process != 0 && machine::signal_request::send_to(process);
    }
    return told;
  }

  void pass_on_request() {
    if (asked_.take() && !ask_for_report())
      base::warn(
          "SIGUSR1 has come, and no process of this job on this machine has a handler for it yet; a job on other "
          "machines "
          "shows what its tasks wait for when one of its processes there gets the signal");
  }

  void begin_to_fail() {
    if (failing_) return;
    failing_ = true;
    kill_at_ns_ = base::now_ns() + static_cast<std::uint64_t>(k_grace_ns);
  }

  void signal_all(int number) {
    for (auto& p : processes_)
      if (p.running()) p.kill(number);
  }

  void kill_all() {
    if (awaiting_cause_ && !job_.why().empty()) base::say("{}; what is left of the job is ended", job_.why());
    if (!job_.end_elsewhere()) signal_all(SIGKILL);
    awaiting_cause_ = false;  // what ends now ends by our hand
    kill_at_ns_ = base::now_ns() + static_cast<std::uint64_t>(k_grace_ns);
  }

  void interrupted() {
    job_.interrupt(stop_.signal());
    status_ = 128 + stop_.signal();
    if (pass_signals_) signal_all(stop_.signal());
    begin_to_fail();
  }

  void timed_out() {
    if (!std::exchange(reporting_, true)) {
      base::say("the job has run for {:g} s, as long as it may; it is ended with status {}",
                static_cast<double>(limit_ns_) * 1e-9, base::k_timeout_status);
      report_until_ns_ = base::now_ns() + k_report_ns;
      if (ask_for_report()) return;
    }
    job_.interrupt(SIGTERM);
    status_ = base::k_timeout_status;
    if (pass_signals_) signal_all(SIGTERM);
    begin_to_fail();
  }

  void ended(std::uint32_t n) {
    const int pid = processes_[n].pid();
    const machine::exit_status how = processes_[n].reap();
    const bool left = job_.at(n) == presence::left;
    if ((failing_ && !awaiting_cause_) || (how.clean() && left)) return;
    if (stop_.signal() != 0 && how.signal == stop_.signal()) {  // Ctrl-C reaches the whole group of processes
      status_ = 128 + how.signal;
      return begin_to_fail();
    }
    if (left || how.clean()) {  // it reports the error itself
      if (status_ == 0) status_ = how.shell_code();
      if (left) return;
      if (status_ == 0) status_ = 1;
      // A program that never starts the runtime simply runs as many times as there are nodes.
      if (how.clean() && job_.at(n) == presence::absent) {
        status_ = 0;
        return;
      }
    }
    const std::string what = job_.describe(n, pid) + job_.ranks_of(n) + " " + job_.describe_end(how);
    // Others may have seen it die before it was reaped here, announced it, and left already: theirs is not the cause.
    job_.announce_lost(n, what);
    if (job_.lost() != n) {
      if (follower_status_ == 0) follower_status_ = how.shell_code();
      awaiting_cause_ = true;
      return begin_to_fail();  // the process may be a script that has outlived the node
    }
    base::say("{}; the others are told to leave", what);
    if (status_ == 0) status_ = std::max(how.shell_code(), 1);
    awaiting_cause_ = false;
    begin_to_fail();
  }

  std::vector<machine::child_process>& processes_;
  job_view& job_;
  machine::interruption& stop_;
  machine::signal_request asked_;
  const bool pass_signals_;
  const std::int64_t limit_ns_;
  const std::uint64_t begin_ns_;
  int status_ = 0;
  bool failing_ = false;
  bool reporting_ = false;  // the limit is over
  std::uint64_t report_until_ns_ = 0;
  int follower_status_ = 0;      // of a node that left because another was lost
  bool awaiting_cause_ = false;  // and the process of that one has not ended yet
  std::uint64_t kill_at_ns_ = 0;
};

}  // namespace

std::string job_view::ranks_of(std::uint32_t node) const {
  const std::uint64_t first = std::uint64_t{node} * ranks_per_node_;
  if (ranks_per_node_ == 0) return {};
  if (ranks_per_node_ == 1) return fmt::format(" of rank {}", first);
  return fmt::format(" of ranks {} to {}", first, first + ranks_per_node_ - 1);
}

job_end watch_children(std::vector<machine::child_process>& processes, job_view& job, machine::interruption& stop,
                       bool pass_signals, std::int64_t limit_ns) {
  return child_watch(processes, job, stop, pass_signals, limit_ns).run();
}

}  // namespace shoal::launch
