// SPDX-License-Identifier: Apache-2.0
// A worker's channels over a wire, each made when it is first used. Internal to message_transport.hpp.
// Threads: an out side: its poster; an in side: the thread that serves; functions marked so: under the domain's lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/rough_time.hpp"
#include "lockfree/announcements.hpp"
#include "lockfree/slot_ring.hpp"
#include "machine/rough_clock.hpp"
#include "machine/zero_array.hpp"
#include "net/message_transport.hpp"

namespace shoal::net {

/// Room for a message that is larger than the slots of a channel.
struct large_slot {
  std::uint64_t* words = nullptr;
  std::atomic<bool> free{true};  // partners: who takes it, and the wire, which sets it when the message is sent
};

class message_out final : public out_channel {
public:
  message_out(message_lane& lane, std::size_t place, std::uint64_t* slots, const message_shape& shape);

  std::uint64_t* acquire() noexcept override;
  std::span<std::uint64_t> acquire_for(std::size_t words) noexcept override;
  void post(std::size_t words) noexcept override;
  std::size_t capacity_words() const noexcept override { return most_words_; }
  std::size_t own_words() const noexcept override { return slot_words_ - k_label_words; }
  std::uint64_t posted() const noexcept override { return ring_.published(); }
  std::uint64_t done() const noexcept override { return ring_.consumed(); }
  deputy wake_deputy() noexcept override;

  /// Under the lock: sends posted messages; true if there were any.
  bool send_posted() noexcept;
  /// Under the lock: the number of messages that the receiver has executed, low 32 bits. True if it is news.
  bool acknowledged(std::uint32_t executed) noexcept;
  /// For other threads; may be out of date.
  std::uint64_t outstanding() const noexcept;

private:
  std::size_t slot_of(std::uint64_t message) const noexcept { return message & (counts_.size() - 1); }
  std::uint64_t* slot(std::size_t i) const noexcept { return slots_ + i * slot_stride_ + k_label_words; }

  message_lane& lane_;
  const std::size_t place_;  // on the lane's boards
  std::uint64_t* const slots_;
  const std::size_t slot_words_, slot_stride_, most_words_;  // words; from slot to slot of this channel
  large_slot* large_ = nullptr;                              // the acquired one
  std::vector<std::size_t> counts_;                          // by slot: words; of what send_posted() has to send
  std::uint64_t sending_ = 0;                                // under the lock: messages sent
  std::unique_ptr<std::atomic<bool>[]> sent_;                // by slot. Partner: the wire, which sets it
  lockfree::slot_ring_control<> control_;
  lockfree::slot_ring_producer<> ring_;
};

class message_in final : public in_channel {
public:
  message_in(message_lane& lane, std::size_t place, const message_shape& shape);

  std::span<const std::uint64_t> front() noexcept override;
  void release() noexcept override;
  bool seems_available() const noexcept override { return ring_.seems_available(); }
  void watch() noexcept override { mark_.begin(); }
  bool unwatch() noexcept override {
    return mark_.end([this] { return ring_.seems_available(); });
  }

  std::uint64_t executed() const noexcept { return control_.consumed.load(std::memory_order_acquire); }
  /// Under the lock. True: nobody watches the channel.
  bool arrived(const arrival& a, wire& over) noexcept;
  void give_back_executed(wire& to) noexcept;

private:
  struct entry {
    const std::uint64_t* words = nullptr;
    std::size_t count = 0;
    void* token = nullptr;
  };
  // Where there may be many messages there are mostly few: the entries are made by parts, at first use.
  static constexpr std::size_t k_part = 8;
  entry& at(std::size_t slot) const noexcept { return parts_[slot / k_part][slot % k_part]; }

  message_lane& lane_;
  const std::size_t place_;  // on the lane's boards
  const std::size_t slots_;
  // By slot. Made under the lock, before the message is published that is the first there.
  std::unique_ptr<std::unique_ptr<entry[]>[]> parts_;
  lockfree::watch_mark<> mark_;
  lockfree::slot_ring_control<> control_;
  lockfree::slot_ring_producer<> filling_;  // under the lock
  lockfree::slot_ring_consumer<> ring_;
  std::uint64_t given_back_ = 0;  // under the lock
};

class message_lane final : public domain {
public:
  /// Messages go through one domain, what needs no help there through another; mostly they are the same.
  message_lane(message_domain& through, message_domain& aside, unsigned worker, const message_shape& shape);
  ~message_lane() override;

  /// A node and a class of traffic as one number.
  static constexpr std::size_t index(std::size_t node, traffic t) noexcept {
    return node * k_traffic_classes + static_cast<unsigned>(t);
  }
  static constexpr std::uint32_t node_of(std::size_t index) noexcept {
    return static_cast<std::uint32_t>(index / k_traffic_classes);
  }
  static constexpr traffic traffic_of(std::size_t index) noexcept {
    return static_cast<traffic>(index % k_traffic_classes);
  }

  bool one_sided() const noexcept override;
  bool put(unsigned node, std::uint64_t offset, const void* from, std::size_t bytes,
           std::atomic<bool>& done) noexcept override;
  bool get(unsigned node, std::uint64_t offset, void* to, std::size_t bytes, std::atomic<bool>& done) noexcept override;
  out_channel& out(unsigned node, traffic t) noexcept override { return out_at(index(node, t)); }
  in_channel& in(unsigned node, traffic t) noexcept override { return in_at(index(node, t)); }
  bool announced() const noexcept override { return arrivals_.any(); }
  void take_announced(announced_to& to) noexcept override {
    arrivals_.take([&to](std::size_t i) { to.announced(node_of(i), traffic_of(i)); });
  }
  bool progress() noexcept override;
  bool pending() noexcept override;
  lockfree::doorbell<>* bell() noexcept override { return &bell_; }
  bool bell_is_shared() const noexcept override { return bell_is_shared_; }
  mail_port* mail() noexcept override { return inner_ != nullptr ? inner_->mail() : nullptr; }
  std::int64_t longest_sleep_ns() noexcept override;

  message_domain& through() noexcept { return through_; }
  /// All lanes of the node, by worker.
  void meet(const std::vector<std::unique_ptr<message_lane>>& lanes) noexcept { lanes_ = &lanes; }
  /// Asks the worker of another lane of that node, one after the other, to serve in place of this lane's.
  deputy wake_deputy(std::uint32_t node) noexcept;
  /// Whether its worker has announced that it parks; may be out of date. Partner of the load: its bell's ring().
  bool asleep() noexcept { return bell_.may_sleep(); }
  void wake() noexcept;
  /// A buffer slot is free although the library has not reported yet that its message was sent.
  void waits_for_library() noexcept { waits_.store(true, std::memory_order_relaxed); }
  void executed(std::size_t place) noexcept;
  /// Null: none is free.
  large_slot* take_large(traffic t) noexcept;
  /// Where a server sends: a message waits for it.
  void posted(std::size_t place) noexcept { postings_.announce(place); }
  /// Under the lock.
  message_label label(std::uint32_t to, message_kind kind) noexcept;
  void arrived(const arrival& a, wire& over) noexcept;
  void look_back(wire& wire) noexcept;
  void acknowledge_late(wire& wire) noexcept;
  bool acknowledges_later() const noexcept { return !acknowledged_later_.empty(); }
  bool send_posted() noexcept;
  std::uint64_t outstanding(std::uint32_t node) const noexcept;
  buffer_memory buffers() const {
    return {memory_.size(), machine::count_pages(memory_.data(), memory_.size()).resident_bytes};
  }

private:
  struct told {
    std::uint32_t executed[k_traffic_classes] = {};
  };
  // Null: not made.
  message_out* known_out(std::size_t i) const noexcept { return out_[i].load(std::memory_order_acquire); }
  message_in* known_in(std::size_t i) const noexcept { return in_[i].load(std::memory_order_acquire); }
  message_out& out_at(std::size_t i) noexcept;
  message_in& in_at(std::size_t i) noexcept;
  bool nudge(std::uint32_t node) noexcept;
  std::uint32_t owed_for(std::size_t place) noexcept;
  void send_acknowledgement(wire& wire, std::size_t place) noexcept;

  static constexpr std::uint64_t k_late_ticks = 200'000 * base::rough_time::k_per_ns;

  message_domain& through_;
  message_domain& aside_;
  const std::vector<std::unique_ptr<message_lane>>* lanes_ = nullptr;
  unsigned next_deputy_ = 0;  // the worker's
  machine::executor& executor_;
  const machine::rough_clock clock_;
  const message_shape shape_;
  const std::uint32_t node_;
  const std::uint16_t worker_;
  const std::uint32_t half_room_;
  const std::uint32_t poll_mask_;
  machine::reserved_range memory_;
  std::unique_ptr<large_slot[]> large_;
  // By index(), from the first use on, which several threads may begin. Partners: out_at(), in_at().
  machine::zero_array<std::atomic<message_out*>> out_;
  machine::zero_array<std::atomic<message_in*>> in_;
  const std::uint32_t few_;  // so many executed requests are acknowledged at once; fewer may wait for the next look
  machine::zero_array<told> told_;  // by node; under the lock
  // Under the lock: places whose executed requests are to be acknowledged later, also as a list.
  machine::zero_array<bool> is_late_;
  std::vector<std::size_t> acknowledged_later_;
  std::uint64_t acknowledged_at_ = 0;  // when they were last acknowledged although there was something to do
  machine::zero_array<std::atomic<bool>> nudging_;  // by node: one is under way. Partners: nudge(), arrived()
  machine::zero_array<lockfree::announcement_board<>::word> boards_;
  lockfree::announcement_board<> arrivals_;    // of requests that nobody watches
  lockfree::announcement_board<> executions_;  // since look_back(), under the lock, has looked
  lockfree::announcement_board<> postings_;    // since send_posted(), under the lock
  std::atomic<bool> waits_{false};             // partners: waits_for_library() and look_back()
  domain* const inner_;                        // of the wire; null: the bell is its own
  lockfree::doorbell<> own_bell_;
  lockfree::doorbell<>& bell_;
  const bool bell_is_shared_;
  std::atomic<std::uint32_t> polls_{0};  // of all polling threads; one may be lost
  std::atomic<bool> moved_{true};        // something has arrived since the last sleep. Partner: longest_sleep_ns()
  std::int64_t sleep_ns_ = 0;            // the worker's
};

}  // namespace shoal::net
