// SPDX-License-Identifier: Apache-2.0
// Accesses while there is no memory for a longer list of pending replies: they throw, and what came before and what comes
// after gets its own values. This program replaces new[], with which the list grows.
#include <cstdlib>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "shoal/array.hpp"
#include "shoal/core.h"
#include "tests/cluster/cluster.hpp"

namespace {
thread_local bool t_refuses = false;
}  // namespace

void* operator new[](std::size_t bytes) {
  if (t_refuses) throw std::bad_alloc();
  if (void* const p = std::malloc(bytes != 0 ? bytes : 1)) return p;
  throw std::bad_alloc();
}
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }

namespace {

using shoal::array_ref;
using shoal::distribution;
using shoal::global_array;

class memory : public shoal::test::cluster {};
INSTANTIATE_TEST_SUITE_P(shapes, memory,
                         testing::Values(shoal::test::job_shape{2, 1, false}, shoal::test::job_shape{3, 2, false}),
                         shoal::test::name_of);

struct refusals {
  array_ref<std::uint64_t> array;  // all on another node
  std::vector<std::uint64_t> got;
  std::uint64_t begun = 0;

  // Begins gets until the list of pending replies would have to grow.
  void fill_list() {
    const bool before = std::exchange(t_refuses, true);
    try {
      for (; begun < got.size() / 2; ++begun) array.async_get(begun % array.size(), &got[begun]);
    } catch (const std::bad_alloc&) {
    }
    t_refuses = before;
    ASSERT_LT(begun, got.size() / 2) << "no get was refused";
  }
  template <class F>
  void expect_refusal(const char* what, const F& access) {
    const bool before = std::exchange(t_refuses, true);
    bool refused = false;
    try {
      access();
    } catch (const std::bad_alloc&) {
      refused = true;
    }
    t_refuses = before;
    EXPECT_TRUE(refused) << what;
  }
  void check() {
    for (std::uint64_t i = 0; i < 100; ++i, ++begun) array.async_get(begun % array.size(), &got[begun]);
    EXPECT_EQ(array.get(7), 7U);
    shoal::wait();
    for (std::uint64_t i = 0; i < begun; ++i) ASSERT_EQ(got[i], i % array.size());
    EXPECT_EQ(array.fetch_add(8, 0), 8U);
  }
};

// Elements of other nodes only, so that no access looks at the messages, with which the list would become shorter.
TEST_P(memory, refused_for_pending_replies_loses_no_reply) {
  run([] {
    global_array<std::uint64_t> a(1000, distribution::remote);
    for (std::uint64_t i = 0; i < a.size(); ++i) a->async_put(i, i);
    shoal::wait();
    refusals r{a.ref(), std::vector<std::uint64_t>(1 << 16)};
    std::uint64_t unused[4] = {};
    r.fill_list();
    r.expect_refusal("get", [&] { a->get(1); });
    r.expect_refusal("async_fetch_add", [&] { a->async_fetch_add(1, 1, unused); });
    r.expect_refusal("bulk get", [&] { a->async_get(1, std::span(unused)); });
    r.expect_refusal("get by id", [&] {
      shoal_error error;
      if (shoal_async_access(SHOAL_GET, SHOAL_U64, a->id(), 1, nullptr, nullptr, unused, &error) == SHOAL_OUT_OF_MEMORY)
        throw std::bad_alloc();
    });
    r.check();
    EXPECT_EQ(a->get(1), 1U);  // nothing of the refused addition has happened
  });
}

}  // namespace
