// SPDX-License-Identifier: Apache-2.0
#include "net/ring_world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "machine/memory_info.hpp"
#include "net/transports/inproc.hpp"

namespace shoal::net {
namespace {

const ring_shape k_shape{.nodes = 3, .workers = 2, .slot_bytes = 1024, .slots = 4};

constexpr traffic k_classes[] = {traffic::request, traffic::reply, traffic::handler_request, traffic::handler_reply};

TEST(ring_layout, nothing_overlaps_and_everything_fits) {
  std::vector<std::byte> memory(ring_layout::bytes(k_shape));
  const ring_layout layout(memory.data(), k_shape);
  std::vector<std::pair<const void*, std::size_t>> parts;
  for (unsigned from = 0; from < 3; ++from)
    for (unsigned w = 0; w < 2; ++w) {
      parts.emplace_back(&layout.bell(from, w), sizeof(lockfree::doorbell<>));
      parts.emplace_back(&layout.mail(from, w), sizeof(mail_ring));
      parts.emplace_back(layout.board_words(from, w), lockfree::announcement_board<>::words(6) * sizeof(std::uint64_t));
      for (unsigned to = 0; to < 3; ++to)
        for (const traffic t : k_classes) {
          parts.emplace_back(&layout.control(from, to, w, t), sizeof(ring_control));
          parts.emplace_back(layout.slots(from, to, w, t), k_shape.slots * k_shape.slot_bytes);
        }
    }
  std::sort(parts.begin(), parts.end());
  const std::byte* reached = memory.data();
  for (const auto& [at, bytes] : parts) {
    ASSERT_GE(static_cast<const std::byte*>(at), reached);
    reached = static_cast<const std::byte*>(at) + bytes;
  }
  EXPECT_LE(reached, memory.data() + memory.size());
}

// What a domain has announced; as a server, it watches it from then on.
class announcements final : announced_to {
public:
  using pairs = std::vector<std::pair<std::uint32_t, traffic>>;
  static pairs of(domain& d) {
    announcements all(d);
    d.take_announced(all);
    return all.found_;
  }

private:
  explicit announcements(domain& d) : domain_(d) {}
  void announced(std::uint32_t node, traffic t) noexcept override {
    found_.emplace_back(node, t);
    domain_.in(node, t).watch();
  }
  domain& domain_;
  pairs found_;
};

class worlds : public testing::Test {
protected:
  inproc_world world_{k_shape};
  std::unique_ptr<transport> nodes_[3] = {world_.connect(0), world_.connect(1), world_.connect(2)};
};

TEST_F(worlds, buffers_arrive_whole_and_in_order_and_only_where_they_were_sent) {
  out_channel& out = nodes_[0]->at(1).out(2, traffic::request);
  in_channel& in = nodes_[2]->at(1).in(0, traffic::request);
  EXPECT_EQ(out.capacity_words(), 127U);
  EXPECT_TRUE(in.front().empty());
  for (std::uint64_t round = 0; round < 20; ++round) {
    std::uint64_t* buffer = out.acquire();
    ASSERT_NE(buffer, nullptr);
    EXPECT_EQ(out.acquire(), buffer);
    const std::size_t words = 1 + round * 6;
    for (std::size_t i = 0; i < words; ++i) buffer[i] = round * 1000 + i;
    out.post(words);
    EXPECT_EQ(out.posted(), round + 1);
    EXPECT_EQ(out.done(), round);
    const auto got = in.front();
    ASSERT_EQ(got.size(), words);
    for (std::size_t i = 0; i < words; ++i) ASSERT_EQ(got[i], round * 1000 + i);
    EXPECT_EQ(in.front().data(), got.data());
    in.release();
    EXPECT_EQ(out.done(), round + 1);
    EXPECT_TRUE(in.front().empty());
  }
  for (unsigned node = 0; node < 3; ++node)
    for (unsigned w = 0; w < 2; ++w) EXPECT_EQ(nodes_[node]->at(w).pending(), node == 2 && w == 1);
}

TEST_F(worlds, who_sends_requests_is_announced_until_it_is_watched_and_again_after_that) {
  domain& receiver = nodes_[1]->at(1);
  const auto post = [this](unsigned from, traffic t) {
    out_channel& out = nodes_[from]->at(1).out(1, t);
    *out.acquire() = 1;
    out.post(1);
  };
  for (const traffic t : {traffic::reply, traffic::handler_reply}) post(0, t);  // who has asked looks for these
  EXPECT_FALSE(receiver.announced());
  EXPECT_TRUE(receiver.in(0, traffic::reply).seems_available());
  post(2, traffic::request);
  post(0, traffic::handler_request);
  EXPECT_TRUE(receiver.announced());
  EXPECT_TRUE(receiver.pending());
  EXPECT_EQ(announcements::of(receiver), (announcements::pairs{{0, traffic::handler_request}, {2, traffic::request}}));
  EXPECT_FALSE(receiver.announced());
  post(2, traffic::request);
  EXPECT_FALSE(receiver.announced());
  in_channel& in = receiver.in(2, traffic::request);
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(in.unwatch());  // something is there
    in.release();
  }
  EXPECT_TRUE(in.unwatch());
  EXPECT_FALSE(receiver.announced());
  post(2, traffic::request);
  EXPECT_EQ(announcements::of(receiver), (announcements::pairs{{2, traffic::request}}));
  for (unsigned node = 0; node < 3; ++node) EXPECT_FALSE(nodes_[node]->at(0).announced());
}

// Memory of a world of many nodes: what two of them use.
TEST(ring_world, nodes_that_are_not_used_take_no_memory) {
  const ring_shape many{.nodes = 128, .workers = 2};
  const inproc_world world(many);
  const std::unique_ptr<transport> first = world.connect(0), last = world.connect(127);
  const auto use = [&] {
    for (const traffic t : k_classes) {
      *first->at(0).out(127, t).acquire() = 1;
      first->at(0).out(127, t).post(1);
      EXPECT_EQ(last->at(0).in(0, t).front().size(), 1U);
      last->at(0).in(0, t).release();
    }
  };
  EXPECT_EQ(first->buffers().resident_bytes, 0U);
  use();
  EXPECT_LE(first->buffers().resident_bytes, 4 * machine::page_size());
  EXPECT_EQ(last->buffers().resident_bytes, 0U);
}

TEST_F(worlds, the_number_of_buffers_under_way_is_bounded_and_classes_do_not_share_room) {
  domain& sender = nodes_[0]->at(0);
  out_channel& requests = sender.out(1, traffic::request);
  for (std::size_t i = 0; i < k_shape.slots; ++i) {
    std::uint64_t* buffer = requests.acquire();
    ASSERT_NE(buffer, nullptr);
    *buffer = i;
    requests.post(1);
  }
  EXPECT_EQ(requests.acquire(), nullptr);
  EXPECT_NE(sender.out(1, traffic::reply).acquire(), nullptr);
  EXPECT_NE(sender.out(2, traffic::request).acquire(), nullptr);
  in_channel& in = nodes_[1]->at(0).in(0, traffic::request);
  EXPECT_TRUE(in.seems_available());
  EXPECT_EQ(in.front()[0], 0U);
  in.release();
  EXPECT_NE(requests.acquire(), nullptr);
}

TEST_F(worlds, post_and_release_ring_a_sleeper) {
  domain& sender = nodes_[0]->at(0);
  domain& receiver = nodes_[1]->at(0);
  receiver.bell()->prepare();
  *sender.out(1, traffic::request).acquire() = 1;
  sender.out(1, traffic::request).post(1);
  EXPECT_FALSE(receiver.bell()->may_sleep());
  sender.bell()->prepare();
  receiver.in(0, traffic::request).release();
  EXPECT_FALSE(sender.bell()->may_sleep());
  EXPECT_FALSE(sender.bell_is_shared());
}

TEST_F(worlds, a_sleeping_sibling_of_the_receiver_is_woken_as_its_deputy) {
  out_channel& requests = nodes_[0]->at(0).out(1, traffic::request);
  EXPECT_EQ(requests.wake_deputy(), deputy::none_sleeps);
  nodes_[1]->at(0).bell()->prepare();  // the receiver itself
  EXPECT_EQ(requests.wake_deputy(), deputy::none_sleeps);
  EXPECT_TRUE(nodes_[1]->at(0).bell()->may_sleep());
  nodes_[1]->at(1).bell()->prepare();
  EXPECT_EQ(requests.wake_deputy(), deputy::woken);
  EXPECT_FALSE(nodes_[1]->at(1).bell()->may_sleep());
  EXPECT_EQ(requests.wake_deputy(), deputy::none_sleeps);
}

// A worker that is about to sleep asks while a sibling serves its domain.
TEST_F(worlds, asking_whether_something_has_arrived_disturbs_nobody_who_serves) {
  constexpr std::uint64_t k_buffers = 20'000;
  std::atomic<bool> done{false};
  domain& receiver = nodes_[1]->at(0);
  in_channel& in = receiver.in(0, traffic::request);
  std::thread asking([&] {
    for (std::uint64_t i = 0; !done.load(); ++i) {
      receiver.pending();
      receiver.in(0, traffic::request).seems_available();
      if (i % 64 == 0) std::this_thread::yield();
    }
  });
  std::thread sender([&] {
    out_channel& out = nodes_[0]->at(0).out(1, traffic::request);
    for (std::uint64_t sent = 0; sent < k_buffers;) {
      if (std::uint64_t* b = out.acquire(); b != nullptr) {
        *b = sent++;
        out.post(1);
      } else {
        std::this_thread::yield();
      }
    }
  });
  std::uint64_t wrong = 0;
  for (std::uint64_t got = 0; got < k_buffers;) {
    if (receiver.announced()) announcements::of(receiver);
    const auto buffer = in.front();
    if (buffer.empty()) {
      std::this_thread::yield();
      continue;
    }
    wrong += buffer[0] == got++ ? 0 : 1;
    in.release();
  }
  sender.join();
  done.store(true);
  asking.join();
  EXPECT_EQ(wrong, 0U);
  EXPECT_FALSE(in.seems_available());
}

TEST_F(worlds, two_threads_exchange_many_buffers) {
  constexpr std::uint64_t k_buffers = 20'000;
  std::thread other([&] {
    domain& me = nodes_[1]->at(0);
    in_channel& in = me.in(0, traffic::request);
    out_channel& out = me.out(0, traffic::reply);
    for (std::uint64_t i = 0; i < k_buffers;) {
      const auto got = in.front();
      std::uint64_t* reply = got.empty() ? nullptr : out.acquire();
      if (reply == nullptr) {
        std::this_thread::yield();
        continue;
      }
      *reply = got[0] + got[got.size() - 1];
      out.post(1);
      in.release();
      ++i;
    }
  });
  domain& me = nodes_[0]->at(0);
  std::uint64_t sent = 0;
  std::uint64_t wrong = 0;
  for (std::uint64_t answered = 0; answered < k_buffers;) {
    bool idle = true;
    if (std::uint64_t* b = sent < k_buffers ? me.out(1, traffic::request).acquire() : nullptr; b != nullptr) {
      const std::size_t words = 1 + sent % 100;
      b[0] = 1;
      b[words - 1] = sent;
      me.out(1, traffic::request).post(words);
      ++sent;
      idle = false;
    }
    if (const auto got = me.in(1, traffic::reply).front(); !got.empty()) {
      wrong += got[0] == (answered % 100 == 0 ? 2 * answered : answered + 1) ? 0 : 1;
      me.in(1, traffic::reply).release();
      ++answered;
      idle = false;
    }
    if (idle) std::this_thread::yield();
  }
  other.join();
  EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace shoal::net
