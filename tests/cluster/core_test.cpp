// SPDX-License-Identifier: Apache-2.0
#include "shoal/core.h"

#include <array>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "shoal/core_run.h"
#include "tests/cluster/cluster.hpp"

namespace {

class core : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(core);

// Of a loop: adds one to each element of its part of the range.
struct target {
  shoal_array array;
};

void add_one(std::uint64_t first, std::uint64_t count, const void* arguments, std::size_t bytes) {
  target t{};
  if (bytes != sizeof t) throw std::runtime_error("the arguments have another size");
  std::memcpy(&t, arguments, sizeof t);
  const std::uint64_t one = 1;
  for (std::uint64_t i = first; i < first + count; ++i)
    if (shoal_async_access(SHOAL_ADD, SHOAL_U64, t.array, i, &one, nullptr, nullptr, nullptr) != SHOAL_OK)
      throw std::runtime_error("refused");
}

// The same, but only for elements that this node holds.
void add_one_to_own(std::uint64_t first, std::uint64_t count, const void* arguments, std::size_t bytes) {
  const shoal_array array = static_cast<const target*>(arguments)->array;
  for (std::uint64_t i = first; i < first + count; ++i) {
    std::uint32_t owner = ~0U;
    if (shoal_array_owner(array, i, &owner, nullptr) != SHOAL_OK || owner != shoal_node_id())
      throw std::runtime_error("not mine");
  }
  add_one(first, count, arguments, bytes);
}

void throw_there(std::uint64_t first, std::uint64_t, const void*, std::size_t) {
  if (first == 0) throw std::out_of_range("bad iteration");
}

// Waits in every iteration.
void add_and_wait(std::uint64_t first, std::uint64_t count, const void* arguments, std::size_t) {
  const shoal_array array = static_cast<const target*>(arguments)->array;
  const std::uint64_t one = 1;
  std::uint64_t before = 0;
  for (std::uint64_t i = first; i < first + count; ++i)
    if (shoal_access(SHOAL_FETCH_ADD, SHOAL_U64, array, i, &one, nullptr, &before, nullptr) != SHOAL_OK)
      throw std::runtime_error("refused");
}

std::size_t reverse(std::uint32_t from, const void* arguments, std::size_t bytes, void* answer, std::size_t room) {
  const auto* text = static_cast<const char*>(arguments);
  auto* to = static_cast<char*>(answer);
  if (room < bytes + 8) return room + 1;
  for (std::size_t i = 0; i < bytes; ++i) to[i] = text[bytes - 1 - i];
  const std::uint32_t where[2] = {from, shoal_node_id()};
  std::memcpy(to + bytes, where, sizeof where);
  return bytes + sizeof where;
}

std::size_t count_bytes(std::uint32_t, const void*, std::size_t bytes, void*, std::size_t) {
  if (bytes != 3) throw std::runtime_error("other arguments");
  return 0;
}

class completion {
public:
  completion() { EXPECT_EQ(shoal_completion_create(&made_, nullptr), SHOAL_OK); }
  completion(const completion&) = delete;
  completion& operator=(const completion&) = delete;
  ~completion() { shoal_completion_free(made_); }
  operator shoal_completion*() const { return made_; }

private:
  shoal_completion* made_ = nullptr;
};

shoal_array array_of(std::uint64_t size, int distribution = SHOAL_PARTITION) {
  shoal_array a = 0;
  shoal_error e{};
  EXPECT_EQ(shoal_array_create(SHOAL_U64, 0, size, distribution, &a, &e), SHOAL_OK) << e.message;
  return a;
}

void expect_all(shoal_array a, std::uint64_t size, std::uint64_t value) {
  std::vector<std::uint64_t> got(size);
  ASSERT_EQ(shoal_get_range(a, 0, size, got.data(), nullptr), SHOAL_OK);
  for (std::uint64_t i = 0; i < size; ++i) ASSERT_EQ(got[i], value) << i;
}

TEST_P(core, elements_of_lists_are_gathered_and_scattered) {
  run([] {
    const shoal_array a = array_of(1000, SHOAL_CYCLIC);
    std::vector<std::uint64_t> indices(500);
    std::vector<std::uint64_t> values(500);
    for (std::uint64_t k = 0; k < 500; ++k) indices[k] = k * 7 % 1000, values[k] = k << 20;
    shoal_error e{};
    ASSERT_EQ(shoal_scatter(a, indices.data(), 500, values.data(), &e), SHOAL_OK) << e.message;
    std::vector<std::uint64_t> got(500);
    ASSERT_EQ(shoal_gather(a, indices.data(), 500, got.data(), &e), SHOAL_OK) << e.message;
    EXPECT_EQ(got, values);
    indices[499] = 1000;
    EXPECT_EQ(shoal_scatter(a, indices.data(), 500, got.data(), &e), SHOAL_OUT_OF_RANGE);
    EXPECT_EQ(shoal_gather(a, nullptr, 1, got.data(), &e), SHOAL_NO_OPERAND);
    EXPECT_EQ(shoal_gather(a, indices.data(), 1, reinterpret_cast<char*>(got.data()) + 1, &e), SHOAL_UNALIGNED);
    EXPECT_EQ(shoal_gather(a + 1, indices.data(), 1, got.data(), &e), SHOAL_NO_ARRAY);
    EXPECT_EQ(shoal_gather(a, nullptr, 0, nullptr, &e), SHOAL_OK);
    ASSERT_EQ(shoal_array_free(a, &e), SHOAL_OK);

    shoal_array triples = 0;
    ASSERT_EQ(shoal_array_create(SHOAL_BYTES, 3, 100, SHOAL_PARTITION, &triples, &e), SHOAL_OK) << e.message;
    const std::uint64_t three[] = {99, 0, 50};
    const char text[] = "abcdefghi";
    char read[9];
    ASSERT_EQ(shoal_scatter(triples, three, 3, text, &e), SHOAL_OK) << e.message;
    ASSERT_EQ(shoal_gather(triples, three, 3, read, &e), SHOAL_OK) << e.message;
    EXPECT_EQ(std::string(read, 9), "abcdefghi");
    ASSERT_EQ(shoal_array_free(triples, &e), SHOAL_OK);
  });
}

TEST_P(core, loops_run_every_iteration_once_wherever_they_run) {
  run([this] {
    constexpr std::uint64_t k_size = 3001;
    for (const int distribution : {SHOAL_PARTITION, SHOAL_CYCLIC}) {
      const shoal_array a = array_of(k_size, distribution);
      const target t{a};
      const completion c;
      shoal_error e{};
      std::uint64_t loops = 0;
      const auto begin = [&](int place, shoal_loop_body body, std::uint64_t grain) {
        const shoal_loop l{body, &t, sizeof t, 0, k_size, grain, place, a};
        EXPECT_EQ(shoal_begin_loop(&l, c, &e), SHOAL_OK) << e.message;
        ++loops;
      };
      begin(SHOAL_EVERYWHERE, add_one, 0);  // all at once
      begin(SHOAL_HERE, add_one, 10);
      begin(SHOAL_OWNERS, add_one_to_own, 0);
      begin(SHOAL_EVERYWHERE, add_and_wait, 1);
      if (nodes() > 1) begin(SHOAL_ELSEWHERE, add_one, 0);
      EXPECT_EQ(shoal_completion_wait(c, &e), SHOAL_OK) << e.message;
      expect_all(a, k_size, loops);
      const shoal_loop none{add_one, &t, sizeof t, 5, 5, 0, SHOAL_EVERYWHERE, 0};
      EXPECT_EQ(shoal_begin_loop(&none, c, &e), SHOAL_OK);
      EXPECT_EQ(shoal_completion_wait(c, &e), SHOAL_OK);
      expect_all(a, k_size, loops);
      EXPECT_EQ(shoal_array_free(a, &e), SHOAL_OK);
    }
  });
}

TEST_P(core, calls_bring_their_answers) {
  run([this] {
    const completion c;
    shoal_error e{};
    const std::string text = "shoals";
    std::vector<std::array<char, 64>> answers(nodes());
    std::vector<std::size_t> answered(nodes());
    for (std::uint32_t n = 0; n < nodes(); ++n) {
      const shoal_call call{reverse, text.data(), text.size(), answers[n].data(), answers[n].size(), &answered[n]};
      ASSERT_EQ(shoal_begin_call(n, &call, c, &e), SHOAL_OK) << e.message;
    }
    ASSERT_EQ(shoal_completion_wait(c, &e), SHOAL_OK) << e.message;
    for (std::uint32_t n = 0; n < nodes(); ++n) {
      ASSERT_EQ(answered[n], text.size() + 8);
      EXPECT_EQ(std::string(answers[n].data(), text.size()), "slaohs");
      std::uint32_t where[2];
      std::memcpy(where, answers[n].data() + text.size(), sizeof where);
      EXPECT_EQ(where[0], 0U);
      EXPECT_EQ(where[1], n);
    }
    // No answer; the longest arguments and answers.
    const shoal_call silent{count_bytes, "abc", 3, nullptr, 0, nullptr};
    ASSERT_EQ(shoal_begin_call(nodes() - 1, &silent, c, &e), SHOAL_OK);
    ASSERT_EQ(shoal_completion_wait(c, &e), SHOAL_OK) << e.message;
    const std::string longest(SHOAL_MOST_ARGUMENT_BYTES - 8, 'x');
    std::vector<char> room(SHOAL_MOST_ARGUMENT_BYTES);
    const shoal_call large{reverse, longest.data(), longest.size(), room.data(), room.size(), nullptr};
    ASSERT_EQ(shoal_begin_call(nodes() - 1, &large, c, &e), SHOAL_OK);
    ASSERT_EQ(shoal_completion_wait(c, &e), SHOAL_OK) << e.message;
    EXPECT_EQ(std::string(room.data(), longest.size()), longest);
  });
}

TEST_P(core, failures_of_bodies_reach_who_waits) {
  run([this] {
    const completion c;
    shoal_error e{};
    const shoal_loop l{throw_there, nullptr, 0, 0, 1000, 0, SHOAL_EVERYWHERE, 0};
    ASSERT_EQ(shoal_begin_loop(&l, c, &e), SHOAL_OK);
    EXPECT_EQ(shoal_completion_wait(c, &e), SHOAL_REMOTE);
    EXPECT_EQ(e.status, SHOAL_REMOTE);
    EXPECT_NE(std::string(e.message).find("bad iteration"), std::string::npos) << e.message;
    char small[4];
    const shoal_call call{reverse, "abcdef", 6, small, sizeof small, nullptr};
    ASSERT_EQ(shoal_begin_call(nodes() - 1, &call, c, &e), SHOAL_OK);
    EXPECT_EQ(shoal_completion_wait(c, &e), SHOAL_INVALID_ARGUMENT);
    EXPECT_EQ(e.node, nodes() - 1);
    EXPECT_NE(std::string(e.message).find("room for 4"), std::string::npos) << e.message;
    EXPECT_EQ(shoal_completion_wait(c, &e), SHOAL_OK);  // used up, and usable again
  });
}

TEST_P(core, arrays_are_described) {
  run([this] {
    shoal_error e{};
    shoal_array a = 0;
    ASSERT_EQ(shoal_array_create(SHOAL_BYTES, 12, 10, SHOAL_CYCLIC, &a, &e), SHOAL_OK) << e.message;
    shoal_array_info info{};
    ASSERT_EQ(shoal_array_describe(a, &info, &e), SHOAL_OK);
    EXPECT_EQ(info.size, 10U);
    EXPECT_EQ(info.element_bytes, 12U);
    EXPECT_EQ(info.type, SHOAL_BYTES);
    EXPECT_EQ(info.distribution, SHOAL_CYCLIC);
    shoal_part part{};
    ASSERT_EQ(shoal_array_local(a, &part, &e), SHOAL_OK);
    EXPECT_EQ(part.first, 0U);
    EXPECT_EQ(part.stride, nodes());
    const std::array<char, 12> value{"hello world"};
    std::memcpy(part.elements, value.data(), value.size());
    std::array<char, 12> got{};
    ASSERT_EQ(shoal_get_range(a, 0, 1, got.data(), &e), SHOAL_OK);
    EXPECT_EQ(got, value);
    EXPECT_EQ(shoal_node_count(), nodes());
    EXPECT_EQ(shoal_worker_count(), GetParam().workers);
    EXPECT_EQ(shoal_yield(&e), SHOAL_OK);
    ASSERT_EQ(shoal_array_free(a, &e), SHOAL_OK);
  });
}

TEST_P(core, misuse_gives_a_status_and_a_sentence) {
  run([this] {
    shoal_error e{};
    shoal_array a = array_of(10);
    std::uint64_t value = 1;
    const auto put = [&](int verb, int type, shoal_array array, std::uint64_t i) {
      return shoal_access(verb, type, array, i, &value, &value, &value, &e);
    };
    EXPECT_EQ(put(SHOAL_PUT, SHOAL_U64, a + 1, 0), SHOAL_NO_ARRAY);
    EXPECT_NE(std::string(e.message).find("there is no array"), std::string::npos) << e.message;
    EXPECT_EQ(put(SHOAL_PUT, SHOAL_U64, a, 10), SHOAL_OUT_OF_RANGE);
    EXPECT_EQ(std::string(e.message), "1 elements from index 10 on are out of the range of an array of 10 elements");
    EXPECT_EQ(put(SHOAL_PUT, SHOAL_F64, a, 0), SHOAL_WRONG_TYPE);
    EXPECT_EQ(put(-1, SHOAL_U64, a, 0), SHOAL_NO_SUCH_VERB);
    EXPECT_EQ(put(SHOAL_FETCH_XOR + 1, SHOAL_U64, a, 0), SHOAL_NO_SUCH_VERB);
    EXPECT_EQ(put(SHOAL_PUT, SHOAL_BYTES + 1, a, 0), SHOAL_NO_SUCH_VERB);
    EXPECT_EQ(shoal_access(SHOAL_GET, SHOAL_U64, a, 0, nullptr, nullptr, nullptr, &e), SHOAL_NO_OPERAND);
    EXPECT_EQ(shoal_put_range(a, 5, 6, &value, &e), SHOAL_OUT_OF_RANGE);
    shoal_array b = 0;
    EXPECT_EQ(shoal_array_create(SHOAL_BYTES + 1, 0, 1, SHOAL_LOCAL, &b, &e), SHOAL_INVALID_ARGUMENT);
    EXPECT_EQ(shoal_array_create(SHOAL_U32, 8, 1, SHOAL_LOCAL, &b, &e), SHOAL_INVALID_ARGUMENT);
    EXPECT_EQ(shoal_array_create(SHOAL_BYTES, 0, 1, SHOAL_LOCAL, &b, &e), SHOAL_INVALID_ARGUMENT);
    EXPECT_EQ(shoal_array_create(SHOAL_U32, 0, 0, SHOAL_LOCAL, &b, &e), SHOAL_INVALID_ARGUMENT);
    EXPECT_EQ(shoal_array_create(SHOAL_U32, 0, 1, 4, &b, &e), SHOAL_INVALID_ARGUMENT);
    EXPECT_EQ(shoal_array_create(SHOAL_U64, 0, std::uint64_t{1} << 50, SHOAL_LOCAL, &b, &e), SHOAL_OUT_OF_MEMORY);
    EXPECT_EQ(b, 0U);
    const completion c;
    shoal_loop l{add_one, nullptr, 8, 0, 10, 0, SHOAL_EVERYWHERE, 0};
    EXPECT_EQ(shoal_begin_loop(&l, c, &e), SHOAL_NO_OPERAND);
    l = {nullptr, nullptr, 0, 0, 10, 0, SHOAL_EVERYWHERE, 0};
    EXPECT_EQ(shoal_begin_loop(&l, c, &e), SHOAL_INVALID_ARGUMENT);
    l = {add_one, &value, SHOAL_MOST_ARGUMENT_BYTES + 1, 0, 10, 0, SHOAL_EVERYWHERE, 0};
    EXPECT_EQ(shoal_begin_loop(&l, c, &e), SHOAL_INVALID_ARGUMENT);
    l = {add_one, &value, 8, 0, 11, 0, SHOAL_OWNERS, a};
    EXPECT_EQ(shoal_begin_loop(&l, c, &e), SHOAL_OUT_OF_RANGE);
    l = {add_one, &value, 8, 0, 10, 0, SHOAL_OWNERS, 0};
    EXPECT_EQ(shoal_begin_loop(&l, c, &e), SHOAL_NO_ARRAY);
    l = {add_one, &value, 8, 0, 10, 0, SHOAL_OWNERS + 1, 0};
    EXPECT_EQ(shoal_begin_loop(&l, c, &e), SHOAL_INVALID_ARGUMENT);
    if (nodes() == 1) {
      l.place = SHOAL_ELSEWHERE;
      EXPECT_EQ(shoal_begin_loop(&l, c, &e), SHOAL_INVALID_ARGUMENT);
    }
    const shoal_call call{reverse, nullptr, 0, nullptr, 0, nullptr};
    EXPECT_EQ(shoal_begin_call(nodes(), &call, c, &e), SHOAL_INVALID_ARGUMENT);
    EXPECT_EQ(shoal_completion_wait(nullptr, &e), SHOAL_NO_OPERAND);
    EXPECT_EQ(shoal_completion_wait(c, &e), SHOAL_OK);
    EXPECT_EQ(shoal_array_free(a, &e), SHOAL_OK);
    EXPECT_EQ(shoal_array_free(a, &e), SHOAL_NO_ARRAY);
    EXPECT_EQ(put(SHOAL_PUT, SHOAL_U64, a, 0), SHOAL_NO_ARRAY);
  });
}

TEST_P(core, arrays_are_spread_as_asked) {
  run([] {
    const std::uint32_t nodes = shoal_node_count();
    std::vector<std::uint64_t> bounds(nodes + 1, 1000);  // all on node 0 but for ten elements on the last one
    bounds.front() = 0;
    if (nodes > 1) bounds[nodes - 1] = 990;
    for (std::uint32_t n = 1; n + 1 < nodes; ++n) bounds[n] = 990;
    shoal_spread spreads[3] = {};
    spreads[0].distribution = SHOAL_PARTITION;
    spreads[0].start = nodes - 1;
    spreads[1].distribution = SHOAL_BLOCK_CYCLIC;
    spreads[1].block = 7;
    spreads[2].distribution = SHOAL_BLOCKS;
    spreads[2].bounds = bounds.data();
    spreads[2].parts = nodes;
    for (const shoal_spread& spread : spreads) {
      target t{};
      ASSERT_EQ(shoal_array_create_spread(SHOAL_U64, 0, 1000, &spread, &t.array, nullptr), SHOAL_OK);
      std::uint32_t owner = ~0U;
      ASSERT_EQ(shoal_array_owner(t.array, 995, &owner, nullptr), SHOAL_OK);
      EXPECT_EQ(owner, &spread == &spreads[1] ? 995 / 7 % nodes : &spread == &spreads[2] ? nodes - 1 : owner);
      shoal_completion* all = nullptr;
      ASSERT_EQ(shoal_completion_create(&all, nullptr), SHOAL_OK);
      shoal_loop loop{};
      loop.body = add_one_to_own;
      loop.arguments = &t;
      loop.argument_bytes = sizeof t;
      loop.end = 1000;
      loop.place = SHOAL_OWNERS;
      loop.owners = t.array;
      ASSERT_EQ(shoal_begin_loop(&loop, all, nullptr), SHOAL_OK);
      EXPECT_EQ(shoal_completion_wait(all, nullptr), SHOAL_OK);
      shoal_completion_free(all);
      std::vector<std::uint64_t> got(1000);
      ASSERT_EQ(shoal_get_range(t.array, 0, 1000, got.data(), nullptr), SHOAL_OK);
      EXPECT_EQ(got, std::vector<std::uint64_t>(1000, 1));
      shoal_part part{};
      ASSERT_EQ(shoal_array_local(t.array, &part, nullptr), SHOAL_OK);
      for (std::uint64_t k = 0; k < part.count; ++k) {
        ASSERT_EQ(shoal_array_owner(t.array, part.first + k / part.run * part.stride + k % part.run, &owner, nullptr),
                  SHOAL_OK);
        ASSERT_EQ(owner, shoal_node_id());
      }
      EXPECT_EQ(shoal_array_free(t.array, nullptr), SHOAL_OK);
    }
    shoal_array none = 0;
    spreads[1].block = 0;
    EXPECT_EQ(shoal_array_create_spread(SHOAL_U64, 0, 1000, &spreads[1], &none, nullptr), SHOAL_INVALID_ARGUMENT);
    EXPECT_EQ(shoal_array_create_spread(SHOAL_U64, 0, 999, &spreads[2], &none, nullptr), SHOAL_INVALID_ARGUMENT);
    spreads[2].bounds = nullptr;
    EXPECT_EQ(shoal_array_create_spread(SHOAL_U64, 0, 1000, &spreads[2], &none, nullptr), SHOAL_NO_OPERAND);
  });
}

TEST(core_outside, tasks_of_a_job_it_says_so) {
  shoal_error e{};
  shoal_array a = 0;
  EXPECT_EQ(shoal_array_create(SHOAL_U64, 0, 1, SHOAL_LOCAL, &a, &e), SHOAL_NO_JOB);
  EXPECT_EQ(shoal_access(SHOAL_PUT, SHOAL_U64, 1, 0, &a, nullptr, nullptr, nullptr), SHOAL_NO_JOB);
  EXPECT_EQ(shoal_wait(&e), SHOAL_NO_JOB);
  EXPECT_EQ(shoal_node_count(), 0U);
  EXPECT_STREQ(shoal_status_text(SHOAL_NO_JOB), "no_job");
  EXPECT_STREQ(shoal_status_text(SHOAL_OUT_OF_MEMORY), "out_of_memory");
  EXPECT_STREQ(shoal_status_text(1000), "unknown");
}

TEST(core_run, runs_the_main_task_and_gives_its_status) {
  char program[] = "core_test";
  char nodes[] = "--shoal-nodes=2";
  char workers[] = "--shoal-workers=1";
  char kept[] = "input.txt";
  char* argv[] = {program, nodes, workers, kept, nullptr};
  int argc = 4;
  std::uint32_t seen = 0;
  const auto main_task = [](void* argument) {
    *static_cast<std::uint32_t*>(argument) = shoal_node_count();
    return 17;
  };
  EXPECT_EQ(shoal_run(&argc, argv, main_task, &seen), 17);
  EXPECT_EQ(seen, 2U);
  EXPECT_EQ(argc, 2);
  EXPECT_STREQ(argv[1], "input.txt");
}

}  // namespace
