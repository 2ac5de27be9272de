// SPDX-License-Identifier: Apache-2.0
// Boost.Fiber on several threads, set up as in its documentation: every thread, including the caller, uses the
// scheduling algorithm work_stealing. One per process: the algorithm keeps its threads in static variables.
// Who may call: main(), which then runs as a fiber on the first of the threads.
#pragma once

#include <boost/fiber/algo/work_stealing.hpp>
#include <boost/fiber/condition_variable.hpp>
#include <boost/fiber/mutex.hpp>
#include <boost/fiber/operations.hpp>
#include <mutex>
#include <thread>
#include <vector>

namespace problems {

class fiber_pool {
public:
  explicit fiber_pool(unsigned workers) : workers_(workers) {
    for (unsigned i = 1; i < workers; ++i) threads_.emplace_back([this] { serve(); });
    boost::fibers::use_scheduling_algorithm<boost::fibers::algo::work_stealing>(workers_);
  }
  fiber_pool(const fiber_pool&) = delete;
  fiber_pool& operator=(const fiber_pool&) = delete;

  ~fiber_pool() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
    for (std::thread& t : threads_) t.join();
  }

private:
  void serve() {
    boost::fibers::use_scheduling_algorithm<boost::fibers::algo::work_stealing>(workers_);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return done_; });
  }

  unsigned workers_;
  boost::fibers::mutex mutex_;
  boost::fibers::condition_variable changed_;
  bool done_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace problems
