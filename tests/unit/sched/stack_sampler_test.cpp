// SPDX-License-Identifier: Apache-2.0
#include "sched/stack_sampler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "base/clock.hpp"
#include "fiber/sanitizer.hpp"
#include "machine/symbols.hpp"

namespace shoal::sched {
namespace {

std::uint64_t processor_ms() { return base::thread_processor_ns() / 1'000'000; }

// Computes for so many milliseconds of processor time.
[[gnu::noinline]] std::uint64_t sampled_work(std::uint64_t ms) {
  std::uint64_t x = 1;
  for (const std::uint64_t end = processor_ms() + ms; processor_ms() < end;)
    for (int i = 0; i < 100'000; ++i) x = x * 6364136223846793005U + 1442695040888963407U;
  return x;
}
[[gnu::noinline]] std::uint64_t caller_of_sampled_work(std::uint64_t ms) {
  const std::uint64_t x = sampled_work(ms);
  asm volatile("" ::"r"(x));  // the call is not the last thing
  return x + 1;
}

[[gnu::noinline]] std::uint64_t not_sampled(std::uint64_t ms) {
  const std::uint64_t x = sampled_work(ms);
  asm volatile("" ::"r"(x));
  return x + 1;
}

TEST(stack_sampler, finds_what_takes_the_time_and_who_has_called_it) {
#if SHOAL_TSAN
  GTEST_SKIP() << "the thread sanitizer calls handlers later, from code of its own";
#endif
  trace::trace_form form;
  form.events = 16;
  form.stacks = 1024;
  std::vector<std::uint64_t> memory(trace::trace_bytes(form) / 8 + 512);
  void* at = memory.data();
  std::size_t room = memory.size() * 8;
  at = std::align(4096, trace::trace_bytes(form), at, room);
  trace::trace_writer writer({static_cast<std::byte*>(at), trace::trace_bytes(form)}, form, {});
  const trace::sample_table& samples = writer.samples(0);
  constexpr std::uint64_t k_ms = 300;
  {
    const stack_sampler sampler(writer, 0);
    EXPECT_NE(caller_of_sampled_work(k_ms), 0U);
    writer.finish({});
    EXPECT_NE(not_sampled(50), 0U);
  }
  machine::symbols names;
  const auto has = [&](const trace::stack_sample& s, const char* name) {
    return std::any_of(s.frames, s.frames + s.depth, [&](std::uint64_t f) {
      return names.name_of(reinterpret_cast<const void*>(f)).find(name) != std::string::npos;
    });
  };
  std::uint64_t all_ns = 0;
  std::uint64_t in_work_ns = 0;
  for (const trace::stack_sample& s : samples.all()) {
    if (s.count == 0) continue;
    all_ns += s.ns;
    EXPECT_FALSE(has(s, "not_sampled"));
    if (has(s, "::sampled_work") && has(s, "caller_of_sampled_work")) in_work_ns += s.ns;
  }
  // All processor time but what came after the last sample is there.
  EXPECT_GT(all_ns, k_ms * 1'000'000 * 2 / 3);
  EXPECT_GT(in_work_ns, all_ns * 9 / 10);
}

}  // namespace
}  // namespace shoal::sched
