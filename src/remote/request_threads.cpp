// SPDX-License-Identifier: Apache-2.0
#include "remote/request_threads.hpp"

#include <algorithm>

#include "machine/futex.hpp"

namespace shoal::remote {
namespace {

constexpr int k_looks_before_sleep = 200;
constexpr std::int64_t k_shortest_sleep_ns = 20'000;

}  // namespace

request_threads::request_threads(net::transport& transport, node_ports& ports, unsigned workers, unsigned threads)
    : transport_(transport), ports_(ports), workers_(workers) {
  try {
    for (unsigned t = 0; t < threads; ++t) threads_.emplace_back([this, t] { serve(t); });
  } catch (...) {
    stop();
    throw;
  }
}

request_threads::~request_threads() { stop(); }

void request_threads::stop() noexcept {
  stopping_.store(1, std::memory_order_release);
  machine::futex_wake(stopping_, static_cast<int>(threads_.size()), false);
  for (std::thread& t : threads_) t.join();
}

void request_threads::serve(unsigned number) noexcept {
  int in_vain = 0;
  std::int64_t sleep_ns = k_shortest_sleep_ns;
  while (stopping_.load(std::memory_order_acquire) == 0) {
    if (serve_all(number)) {
      in_vain = 0;
      sleep_ns = k_shortest_sleep_ns;
    } else if (++in_vain < k_looks_before_sleep) {
      machine::yield_processor();
    } else {
      machine::futex_wait(stopping_, 0, sleep_ns, false);
      sleep_ns = std::min(2 * sleep_ns, k_longest_sleep_ns);
    }
  }
}

bool request_threads::serve_all(unsigned first) noexcept {
  bool any = false;
  for (unsigned i = 0; i < workers_; ++i) {
    const unsigned worker = (first + i) % workers_;
    transport_.at(worker).progress();
    server& s = ports_.server_at(worker);
    if (!s.try_hold()) continue;
    any |= s.serve(nullptr);
    s.let_go();
  }
  return any;
}

}  // namespace shoal::remote
