// SPDX-License-Identifier: Apache-2.0
#include "remote/request_threads.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace shoal::remote {
namespace {

constexpr int k_looks_before_sleep = 200;
constexpr int k_most_rounds = 64;  // of a tick, before others may run
constexpr std::int64_t k_shortest_sleep_ns = 20'000;

}  // namespace

class request_threads::helper final : machine::activity {
public:
  helper(net::transport& transport, node_ports& ports, unsigned workers, unsigned number, machine::executor& by)
      : transport_(transport),
        ports_(ports),
        workers_(workers),
        number_(number),
        runner_(by.make_runner(fmt::format("shoal-helper{}", number), *this)) {
    runner_->start();
  }
  helper(const helper&) = delete;
  helper& operator=(const helper&) = delete;
  ~helper() { runner_->stop(); }

private:
  std::int64_t tick() noexcept override {
    int rounds = 0;
    while (rounds < k_most_rounds && serve_all()) ++rounds;
    if (rounds != 0) {
      looks_ = 0;
      sleep_ns_ = k_shortest_sleep_ns;
      return 0;
    }
    if (++looks_ < k_looks_before_sleep) return 0;
    const std::int64_t now = sleep_ns_;
    sleep_ns_ = std::min(2 * sleep_ns_, k_longest_sleep_ns);
    return now;
  }

  bool serve_all() noexcept {
    bool any = false;
    for (unsigned i = 0; i < workers_; ++i) {
      const unsigned worker = (number_ + i) % workers_;
      transport_.at(worker).progress();
      server& s = ports_.server_at(worker);
      if (!s.try_hold()) continue;
      any |= s.serve(nullptr);
      s.let_go();
    }
    return any;
  }

  net::transport& transport_;
  node_ports& ports_;
  const unsigned workers_;
  const unsigned number_;
  int looks_ = 0;  // in vain, since the last one that found something
  std::int64_t sleep_ns_ = k_shortest_sleep_ns;
  const std::unique_ptr<machine::activity_runner> runner_;
};

request_threads::request_threads(net::transport& transport, node_ports& ports, unsigned workers, unsigned threads,
                                 machine::executor& by) {
  for (unsigned t = 0; t < threads; ++t) helpers_.push_back(std::make_unique<helper>(transport, ports, workers, t, by));
}

request_threads::~request_threads() = default;

}  // namespace shoal::remote
