// SPDX-License-Identifier: Apache-2.0
// A network in memory, for tests: as lazy as a library may be. What is sent leaves at the sender's next progress(),
// what has arrived is handed over at the receiver's, a few at a time. It tells that something came, if asked to.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "net/wire.hpp"

namespace shoal::net {

class loop_world {
public:
  loop_world(std::uint32_t nodes, unsigned domains, bool tells = false)
      : domains_(domains), boxes_(std::size_t{nodes} * domains) {
    for (box& b : boxes_)
      if (tells) b.event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  }
  ~loop_world() {
    for (const box& b : boxes_)
      if (b.event >= 0) ::close(b.event);
  }
  loop_world(const loop_world&) = delete;
  loop_world& operator=(const loop_world&) = delete;

  struct parcel {
    message_label label;
    std::vector<std::uint64_t> words;
  };
  struct box {
    std::mutex mutex;
    std::deque<std::unique_ptr<parcel>> parcels;
    int event = -1;
    bool armed = false;
  };
  box& at(std::uint32_t node, unsigned domain) { return boxes_[node * domains_ + domain]; }

private:
  unsigned domains_;
  std::deque<box> boxes_;
};

class loop_wire final : public wire {
public:
  loop_wire(loop_world& world, std::uint32_t node, unsigned domain) : world_(world), node_(node), domain_(domain) {}
  ~loop_wire() override {
    for (parcel* p : kept_) delete p;
  }

  void send(std::uint32_t node, const message_label& label, std::uint64_t* words, std::size_t count,
            std::atomic<bool>* sent) noexcept override {
    waiting_.push_back({node, label, words, count, sent});
    if (words != nullptr) std::memset(words - k_label_words, 0xee, sizeof label);  // it may
  }

  bool progress(wire_user& user) noexcept override {
    for (const outgoing& o : waiting_) {
      auto p = std::make_unique<parcel>(parcel{o.label, {o.words, o.words + o.count}});
      loop_world::box& to = world_.at(o.node, domain_);
      {
        const std::lock_guard guard(to.mutex);
        to.parcels.push_back(std::move(p));
        const std::uint64_t one = 1;
        if (std::exchange(to.armed, false)) {
          EXPECT_EQ(::write(to.event, &one, sizeof one), ssize_t{sizeof one});
        }
      }
      if (o.sent != nullptr) o.sent->store(true, std::memory_order_release);
    }
    waiting_.clear();
    if (broken_) user.unreachable(*broken_, "cut");
    bool any = false;
    for (int i = 0; i < k_at_once; ++i) {
      std::unique_ptr<parcel> p;
      {
        loop_world::box& mine = world_.at(node_, domain_);
        const std::lock_guard guard(mine.mutex);
        if (mine.parcels.empty()) break;
        p = std::move(mine.parcels.front());
        mine.parcels.pop_front();
      }
      any = true;
      if (user.arrived({p->label, p->words.data(), p->words.size(), p.get()})) kept_.push_back(p.release());
    }
    return any;
  }

  void give_back(void* token) noexcept override {
    auto* p = static_cast<parcel*>(token);
    std::erase(kept_, p);
    delete p;
  }
  bool all_sent() const noexcept override { return waiting_.empty(); }
  int event() const noexcept override { return world_.at(node_, domain_).event; }
  bool arm() noexcept override {
    loop_world::box& mine = world_.at(node_, domain_);
    const std::lock_guard guard(mine.mutex);
    if (!waiting_.empty() || !mine.parcels.empty()) return false;
    std::uint64_t told = 0;
    static_cast<void>(::read(mine.event, &told, sizeof told));  // nothing to read is no error
    return mine.armed = true;
  }
  /// From now on it says that it cannot reach this node.
  void break_with(std::uint32_t node) { broken_ = node; }
  std::size_t kept() const noexcept { return kept_.size(); }

private:
  static constexpr int k_at_once = 3;
  using parcel = loop_world::parcel;
  struct outgoing {
    std::uint32_t node;
    message_label label;
    const std::uint64_t* words;
    std::size_t count;
    std::atomic<bool>* sent;
  };
  loop_world& world_;
  const std::uint32_t node_;
  const unsigned domain_;
  std::optional<std::uint32_t> broken_;
  std::vector<outgoing> waiting_;
  std::vector<parcel*> kept_;
};

class loop_network final : public network {
public:
  loop_network(loop_world& world, std::uint32_t node, unsigned domains) {
    for (unsigned d = 0; d < domains; ++d) wires_.push_back(std::make_unique<loop_wire>(world, node, d));
  }
  std::vector<std::byte> address() override { return {}; }
  void connect(std::span<const std::vector<std::byte>>) override {}
  wire& at(unsigned domain) noexcept override { return *wires_[domain]; }
  std::string describe() const override { return "memory"; }

private:
  std::vector<std::unique_ptr<loop_wire>> wires_;
};

}  // namespace shoal::net
