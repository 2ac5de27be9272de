// SPDX-License-Identifier: Apache-2.0
// A plugin that keeps a job from plugin_open() to plugin_close(). Its host knows nothing of Shoal.
#include <shoal/shoal.hpp>

#include <cstdio>
#include <memory>

namespace {
std::unique_ptr<shoal::job> g_job;
}

extern "C" int plugin_open() {
  try {
    g_job = std::make_unique<shoal::job>(
        shoal::run_options{.settings = {{"nodes", "2"}, {"workers", "1"}, {"segment", "64M"}, {"direct", "off"}}});
    return 0;
  } catch (const shoal::error& e) {
    std::fprintf(stderr, "the plugin cannot start a job: %s\n", e.what());
    return 1;
  }
}

extern "C" std::uint64_t plugin_sum(std::uint64_t n) {
  return g_job->run([n] {
    return shoal::parallel_reduce(
        shoal::everywhere, 0, n, std::uint64_t{0}, [](std::uint64_t i) { return i; },
        [](std::uint64_t a, std::uint64_t b) { return a + b; });
  });
}

extern "C" void plugin_close() { g_job.reset(); }
