// SPDX-License-Identifier: Apache-2.0
#include "net/plugin.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <shoal/error.hpp>
#include <string>

#include "base/clock.hpp"
#include "machine/process.hpp"
#include "net/message_transport.hpp"
#include "tests/unit/net/wires.hpp"

namespace shoal::net {
namespace {

// MPI libraries have the same functions, so each is loaded by a process of its own: this program once more.
constexpr const char* k_inside = "SHOAL_TEST_INSIDE";

class plugins : public testing::TestWithParam<const char*> {
protected:
  void SetUp() override {
    folders_ = plugin_folders("");
    if (!has_plugin(GetParam(), folders_)) GTEST_SKIP() << GetParam() << " was not built: its library is not installed";
    const bool inside = std::getenv(k_inside) != nullptr;
    if (std::string_view(GetParam()).starts_with("mpi") && !inside)
      run_inside();
    else
      plugin_ = &load_plugin(GetParam(), folders_);
  }

  void run_inside() {
    const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
    machine::spawn_request request{
        .arguments = {machine::own_executable(),
                      std::string("--gtest_filter=") + test->test_suite_name() + "." + test->name()},
        .environment = {std::string(k_inside) + "=1", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"},
        .inherited = {}};
    machine::child_process child = machine::spawn(request);
    const machine::exit_status status = child.reap();
    EXPECT_TRUE(status.clean()) << machine::describe(status);
  }

  std::vector<std::string> folders_;
  const net_plugin* plugin_ = nullptr;  // null: the test ran in another process
};

#define INSIDE_ONLY() \
  if (plugin_ == nullptr) return

TEST_P(plugins, says_what_it_is) {
  INSIDE_ONLY();
  EXPECT_TRUE(std::string_view(GetParam()).starts_with(plugin_->name));
  cluster c(*plugin_, 2, 1);
  const std::string text = c.nodes[0]->describe();
  EXPECT_TRUE(text.starts_with(plugin_->made_for)) << text;
  std::printf("%s\n", text.c_str());
}

TEST_P(plugins, messages_arrive_whole_and_in_order_between_two_nodes) {
  INSIDE_ONLY();
  cluster c(*plugin_, 2, 1);
  run_traffic(c, 1, 3000);
}

TEST_P(plugins, messages_of_three_nodes_through_two_domains_each) {
  INSIDE_ONLY();
  cluster c(*plugin_, 3, 2);
  run_traffic(c, 2, 500);
}

TEST_P(plugins, domains_that_share_a_context_or_have_communicators_of_their_own) {
  INSIDE_ONLY();
  cluster c(*plugin_, 2, 3, 1 << 16, [](network_request& request) {
    request.shared_context = true;
    request.own_communicators = true;
  });
  run_traffic(c, 3, 500);
  if (c.nodes[0]->at(0).one_sided()) {
    EXPECT_EQ(c.nodes[0]->registrations(), 1U);
    EXPECT_EQ(c.nodes[0]->registered_bytes(), 1U << 16);
  }
}

class deaf : public wire_user {
public:
  virtual ~deaf() = default;
  bool arrived(const arrival&) noexcept override { return false; }
  void unreachable(std::uint32_t, const char*) noexcept override {}
};

TEST_P(plugins, memory_is_written_and_read_without_the_others_help) {
  INSIDE_ONLY();
  constexpr std::size_t k_bytes = 1 << 20;
  cluster c(*plugin_, 2, 2, k_bytes);
  if (!c.nodes[0]->at(0).one_sided()) {
    std::atomic<bool> done = false;
    EXPECT_FALSE(c.nodes[0]->at(0).put({1, 0}, c.segments[0].data(), 8, &done));
    EXPECT_EQ(c.nodes[0]->registrations(), 0U);
    return;
  }
  EXPECT_EQ(c.nodes[0]->registrations(), 2U);
  EXPECT_EQ(c.nodes[0]->registered_bytes(), 2 * k_bytes);
  std::atomic<bool> over = false;
  std::atomic<unsigned> turns = 0;
  // Some libraries send messages instead, which the other side must take.
  std::thread other([&] {
    deaf user;
    while (!over.load(std::memory_order_acquire)) {
      for (unsigned domain = 0; domain < 2; ++domain)
        if (!c.nodes[1]->at(domain).progress(user)) std::this_thread::yield();
      turns.fetch_add(1, std::memory_order_release);
    }
  });
  deaf user;
  const auto wait_for = [&](wire& w, const std::atomic<bool>& done) {
    const auto end = base::now_ns() + 20'000'000'000U;
    while (!done.load(std::memory_order_acquire) && base::now_ns() < end)
      if (!w.progress(user)) std::this_thread::yield();
    // A sanitizer sees nothing of what the library does between the threads: a turn of the other makes it plain.
    const unsigned before = turns.load(std::memory_order_acquire);
    while (turns.load(std::memory_order_acquire) == before && base::now_ns() < end) std::this_thread::yield();
    return done.load(std::memory_order_acquire);
  };
  std::size_t offset = 24;
  for (const std::size_t bytes : {8U, 8U, 100U, 4096U, 300'000U}) {
    for (unsigned domain = 0; domain < 2; ++domain) {
      wire& w = c.nodes[0]->at(domain);
      std::vector<std::byte> from(bytes), back(bytes);
      for (std::size_t i = 0; i < bytes; ++i) from[i] = static_cast<std::byte>(i * 7 + offset);
      std::atomic<bool> written = false, read = false;
      ASSERT_TRUE(w.put({1, offset}, from.data(), bytes, &written));
      ASSERT_TRUE(wait_for(w, written));
      EXPECT_TRUE(std::equal(from.begin(), from.end(), c.segments[1].begin() + static_cast<std::ptrdiff_t>(offset)));
      ASSERT_TRUE(w.get({1, offset}, back.data(), bytes, &read));
      ASSERT_TRUE(wait_for(w, read));
      EXPECT_EQ(back, from);
      offset += bytes;
    }
  }
  // Many at once, from memory that is registered, to where nobody has read.
  constexpr std::size_t k_fresh = 900'000;
  std::vector<std::atomic<bool>> done(1000);
  wire& w = c.nodes[0]->at(0);
  for (std::size_t i = 0; i < done.size(); ++i) {
    std::memcpy(&c.segments[0][i * 8], &i, 8);
    ASSERT_TRUE(w.put({1, k_fresh + i * 8}, &c.segments[0][i * 8], 8, &done[i]));
  }
  for (const std::atomic<bool>& d : done) ASSERT_TRUE(wait_for(w, d));
  for (std::size_t i = 0; i < done.size(); ++i) {
    EXPECT_EQ(std::memcmp(&c.segments[1][k_fresh + i * 8], &i, 8), 0);
  }
  over.store(true, std::memory_order_release);
  other.join();
}

// With puts and gets UCX copies to the address that a packet names, whoever has sent the packet.
TEST_P(plugins, nothing_is_written_without_help_where_others_may_send_packets_by_tcp) {
  INSIDE_ONLY();
  if (std::string_view(GetParam()) != "ucx") return;
  constexpr std::size_t k_bytes = 1 << 16;
  const auto one_sided = [&](bool one_machine, bool asked) {
    cluster c(*plugin_, 2, 1, k_bytes, [&](network_request& request) {
      request.one_machine = one_machine;
      request.tcp_transfers = asked;
    });
    const bool says = c.nodes[0]->describe().find("copies by messages since it may use TCP") != std::string::npos;
    EXPECT_NE(says, c.nodes[0]->at(0).one_sided());
    EXPECT_EQ(c.nodes[0]->registrations(), says ? 0U : 1U);
    std::atomic<bool> done = false;
    if (says) {
      EXPECT_FALSE(c.nodes[0]->at(0).put({1, 0}, c.segments[0].data(), 8, &done));
    }
    return c.nodes[0]->at(0).one_sided();
  };
  EXPECT_TRUE(one_sided(true, false));
  EXPECT_FALSE(one_sided(false, false));
  EXPECT_TRUE(one_sided(false, true));
  ASSERT_EQ(::setenv("UCX_TLS", "tcp,self", 1), 0);
  EXPECT_FALSE(one_sided(true, false));
  EXPECT_TRUE(one_sided(true, true));
  ASSERT_EQ(::setenv("UCX_TLS", "sysv,self", 1), 0);
  EXPECT_TRUE(one_sided(false, false));
  ::unsetenv("UCX_TLS");
}

TEST_P(plugins, an_end_with_messages_under_way_takes_a_bounded_time) {
  INSIDE_ONLY();
  std::vector<std::uint64_t> words(k_most_words + k_label_words, 5);
  std::deque<std::atomic<bool>> sent;
  std::deque<std::vector<std::uint64_t>> buffers;
  for (const bool first_ends_first : {true, false}) {
    const auto began = base::now_ns();
    cluster c(*plugin_, 2, 1);
    deaf user;
    for (unsigned i = 0; i < 200; ++i)
      c.nodes[0]->at(0).send(1, {.from = 0}, buffers.emplace_back(words).data() + k_label_words, k_most_words,
                             &sent.emplace_back(false));
    for (unsigned i = 0; i < 50; ++i) {
      c.nodes[0]->at(0).progress(user);
      c.nodes[1]->at(0).progress(user);
    }
    c.nodes[first_ends_first ? 0 : 1].reset();
    c.nodes[first_ends_first ? 1 : 0].reset();
    EXPECT_LT(base::now_ns() - began, 20'000'000'000U);
  }
}

TEST_P(plugins, a_sleeper_is_woken_by_a_message) {
  INSIDE_ONLY();
  cluster c(*plugin_, 2, 1);
  wire& mine = c.nodes[0]->at(0);
  wire& other = c.nodes[1]->at(0);
  if (mine.event() < 0) {
    EXPECT_TRUE(mine.arm());
    return;
  }
  struct counter : deaf {
    std::atomic<unsigned> messages = 0;
    bool arrived(const arrival&) noexcept override {
      messages.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
  } user;
  const auto answer_after_a_while = [&other, silent = deaf()]() mutable {
    for (unsigned i = 0; i < 20; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (i == 10) other.send(0, {.from = 1}, nullptr, 0, nullptr);
      other.progress(silent);
    }
  };
  for (unsigned round = 1; round <= 20; ++round) {
    std::thread thread(answer_after_a_while);
    const auto end = base::now_ns() + 20'000'000'000U;
    while (user.messages < round && base::now_ns() < end) {
      if (!mine.arm()) {
        mine.progress(user);
        continue;
      }
      const std::array<int, 1> descriptors = {mine.event()};
      EXPECT_EQ(machine::wait_any(descriptors, 10'000'000'000), 0) << "slept on";
      mine.progress(user);
    }
    thread.join();
    ASSERT_EQ(user.messages, round);
  }
}

// Two workers of two nodes through one domain each, or one for both: all talk at once, with both classes.
void run_channels(const net_plugin& plugin, unsigned domains) {
  constexpr std::uint64_t k_buffers = 400;
  message_shape shape{.node = 0, .nodes = 2, .workers = 2, .domains = domains, .slots = 4};
  std::vector<std::unique_ptr<network>> networks;
  std::vector<std::vector<std::byte>> addresses;
  for (std::uint32_t node = 0; node < 2; ++node) {
    networks.push_back(plugin.open({.node = node,
                                    .nodes = 2,
                                    .domains = domains,
                                    .most_words = shape.most_words(),
                                    .messages = shape.slots,
                                    .lanes = shape.workers / domains}));
    addresses.push_back(networks.back()->address());
  }
  std::vector<std::unique_ptr<message_transport>> nodes;
  for (auto& network : networks) {
    network->connect(addresses);
    nodes.push_back(std::make_unique<message_transport>(plugin.name, std::move(network), shape,
                                                        [](std::uint32_t, const char* why) { ADD_FAILURE() << why; }));
    ++shape.node;
  }
  const auto work = [&nodes](std::uint32_t node, unsigned worker) {
    domain& mine = nodes[node]->at(worker);
    std::uint64_t posted[2] = {0, 0}, came[2] = {0, 0};
    const auto end = base::now_ns() + 60'000'000'000U;
    const auto all = [](const std::uint64_t(&counts)[2]) { return counts[0] == k_buffers && counts[1] == k_buffers; };
    const auto executed = [&](unsigned c) { return mine.out(1 - node, static_cast<traffic>(c)).done(); };
    while ((!all(posted) || !all(came) || executed(0) < k_buffers) && base::now_ns() < end) {
      bool any = mine.progress();
      for (unsigned c = 0; c < 2; ++c) {
        out_channel& out = mine.out(1 - node, static_cast<traffic>(c));
        if (std::uint64_t* const buffer = posted[c] < k_buffers ? out.acquire() : nullptr) {
          const content sent{node, 1 - node, worker * 2 + c, static_cast<std::uint32_t>(posted[c]++)};
          const std::size_t words = 1 + sent.word(0) % out.capacity_words();
          for (std::size_t i = 0; i < words; ++i) buffer[i] = sent.word(i);
          out.post(words);
          any = true;
        }
        in_channel& in = mine.in(1 - node, static_cast<traffic>(c));
        if (const auto words = in.front(); !words.empty()) {
          const content expected{1 - node, node, worker * 2 + c, static_cast<std::uint32_t>(came[c]++)};
          EXPECT_EQ(words.size(), 1 + expected.word(0) % out.capacity_words());
          EXPECT_EQ(words.front(), expected.word(0));
          EXPECT_EQ(words.back(), expected.word(words.size() - 1));
          in.release();
          any = true;
        }
      }
      if (!any) std::this_thread::yield();
    }
    EXPECT_TRUE(all(posted) && all(came)) << posted[0] << ' ' << posted[1] << ' ' << came[0] << ' ' << came[1];
  };
  std::vector<std::thread> threads;
  std::atomic<unsigned> left = 4;
  for (std::uint32_t node = 0; node < 2; ++node)
    for (unsigned worker = 0; worker < 2; ++worker)
      threads.emplace_back([&, node, worker] {
        work(node, worker);
        // The others may still wait for acknowledgements.
        left.fetch_sub(1, std::memory_order_acq_rel);
        while (left.load(std::memory_order_acquire) != 0)
          if (!nodes[node]->at(worker).progress()) std::this_thread::yield();
      });
  for (std::thread& t : threads) t.join();
  for (auto& node : nodes) node->finish(true);
}

TEST_P(plugins, channels_stand_on_it) {
  INSIDE_ONLY();
  run_channels(*plugin_, 2);
  run_channels(*plugin_, 1);
}

// Counts what is handed over.
struct counting final : wire_user {
  unsigned arrivals = 0;
  bool arrived(const arrival&) noexcept override { return ++arrivals == 0; }
  void unreachable(std::uint32_t, const char* why) noexcept override { ADD_FAILURE() << why; }
};

TEST_P(plugins, messages_of_strangers_are_dropped) {
  INSIDE_ONLY();
  if (std::string_view(GetParam()) != "ucx") return;  // an MPI knows its own processes
  for (const bool stranger : {false, true}) {
    cluster c(*plugin_, 2, 1, 0, [stranger](network_request& r) { r.token = stranger ? r.node + 1 : 1; });
    c.nodes[0]->at(0).send(
        1, {.lane = 0, .kind = static_cast<std::uint8_t>(message_kind::acknowledgement), .unused = 0, .from = 0},
        nullptr, 0, nullptr);
    counting sender, receiver;
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(stranger ? 200 : 20'000);
    while (receiver.arrivals == 0 && std::chrono::steady_clock::now() < end) {
      c.nodes[0]->at(0).progress(sender);
      c.nodes[1]->at(0).progress(receiver);
    }
    EXPECT_EQ(receiver.arrivals, stranger ? 0U : 1U);
  }
}

INSTANTIATE_TEST_SUITE_P(all, plugins, testing::Values("ucx", "mpi_openmpi", "mpi_mpich"),
                         [](const auto& plugin) { return std::string(plugin.param); });

}  // namespace
}  // namespace shoal::net
