// SPDX-License-Identifier: Apache-2.0
// One domain's wire over UCX: a UCX worker, and an endpoint to the same domain of each other node, made at its first
// use. Messages are active messages of UCX, always eager; they are numbered, since UCX promises no order over several
// rails.
// Who may call: as in wire.hpp. Guarantees: words that UCX may keep where they arrived are not copied. A put is done
// when it is at the target: puts since the last progress() share one flush. Sent messages are flushed when there is
// nothing else to do, for all_sent(). At the end of the wire, sent messages get a short time to leave; it does not wait
// for lost peers.
// Tests: tests/unit/net/plugin_test.cpp.
#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "net/transports/ucx/ucx_address.hpp"
#include "net/transports/ucx/ucx_context.hpp"
#include "net/wire.hpp"

namespace shoal::net {

class ucx_wire final : public wire {
public:
  ucx_wire(const ucx_context& context, const network_request& request);
  ~ucx_wire() override;
  ucx_wire(const ucx_wire&) = delete;
  ucx_wire& operator=(const ucx_wire&) = delete;

  /// Of the worker, for the others.
  std::vector<std::byte> address() const;
  /// The address of the same domain of another node: its worker, its segment's key and the segment's address there.
  void introduce(std::uint32_t node, std::vector<std::byte> address, std::vector<std::byte> key, std::uint64_t base);
  /// Connects to it, if that has not been done; throws shoal::error.
  void meet(std::uint32_t node);
  /// UCX's names of the transports that it uses: "posix", "tcp".
  std::vector<std::string> transports() const;

  void send(std::uint32_t node, const message_label& label, std::uint64_t* words, std::size_t count,
            std::atomic<bool>* sent) noexcept override;
  bool progress(wire_user& user) noexcept override;
  void give_back(void* token) noexcept override;
  bool all_sent() const noexcept override {
    return unflushed_.empty() && flushes_ == 0 && free_operations_.size() == operations_.size();
  }
  bool one_sided() const noexcept override { return context_.registered(); }
  bool put(remote_piece to, const void* from, std::size_t bytes, std::atomic<bool>* done) noexcept override;
  bool get(remote_piece from, void* to, std::size_t bytes, std::atomic<bool>* done) noexcept override;
  int event() const noexcept override { return event_; }
  bool arm() noexcept override;

private:
  struct peer;
  // Under way. UCX reads the heading until the message has left.
  struct operation {
    ucx_heading head;
    std::atomic<bool>* done = nullptr;
    ucx_wire* owner = nullptr;
    peer* to = nullptr;
  };
  // Words that the receiver keeps: where UCX has put them, or a copy because they were not aligned.
  struct kept {
    void* data = nullptr;  // UCX's; null: not in use, or only a copy
    std::vector<std::uint64_t> copy;
  };
  struct early {
    message_label label;
    void* data;
    std::size_t bytes;
  };
  struct peer {
    std::uint32_t node = 0;
    ucx_wire* owner = nullptr;
    std::vector<std::byte> address, key;
    std::uint64_t base = 0;
    ucp_ep_h endpoint = nullptr;
    ucp_rkey_h rkey = nullptr;
    std::uint64_t sent = 0, taken = 0;             // messages
    std::map<std::uint64_t, early> waiting;        // arrived out of order
    std::vector<std::atomic<bool>*> put, flushed;  // to be flushed; in the current flush
    bool dirty = false, flushing = false;  // something has been sent since the last flush; a flush has not ended
    bool lost = false, told = false;
    ucs_status_t why = UCS_OK;
  };

  static ucs_status_t on_message(void* self, const void* header, std::size_t header_bytes, void* data,
                                 std::size_t bytes, const ucp_am_recv_param_t* parameters);
  static void on_sent(void* request, ucs_status_t status, void* operation_of_it);
  static void on_got(void* request, ucs_status_t status, void* operation_of_it);
  static void on_put(void* request, ucs_status_t status, void* peer_of_it);
  static void on_flushed(void* request, ucs_status_t status, void* peer_of_it);
  static void on_error(void* peer_of_it, ucp_ep_h endpoint, ucs_status_t status);

  ucs_status_t connect_to(peer& p) noexcept;
  bool can_reach(peer& p, bool memory) noexcept;
  void lose(peer& p, ucs_status_t why) noexcept;
  void tell_losses(wire_user& user) noexcept;
  ucp_request_param_t transfer(ucp_send_nbx_callback_t end, void* user_data, const void* memory,
                               std::size_t bytes) const noexcept;
  void soil(peer& p);
  void flush_some(bool idle) noexcept;
  void flush(peer& p) noexcept;
  void flushed(peer& p, ucs_status_t status) noexcept;
  void close_endpoints() noexcept;

  operation* take_operation(peer& to, std::atomic<bool>* done);
  void finish(operation* o) noexcept { free_operations_.push_back(o); }
  kept* take_kept();
  // Hands words over; true if UCX's data stay with us.
  bool hand_over(const message_label& label, void* data, std::size_t bytes) noexcept;
  void take_waiting(peer& p) noexcept;

  const ucx_context& context_;
  const std::uint64_t token_;
  const std::size_t most_bytes_;  // of a message
  ucp_worker_h worker_ = nullptr;
  int event_ = -1;
  wire_user* user_ = nullptr;  // within progress() only
  bool arrived_ = false;
  bool news_ = false;  // of losses
  std::vector<peer> peers_;
  std::vector<peer*> unflushed_, flushing_now_;  // those that are dirty; scratch
  unsigned flushes_ = 0;                         // in flight
  std::deque<operation> operations_;
  std::vector<operation*> free_operations_;
  std::deque<kept> kept_;
  std::vector<kept*> free_kept_;
};

}  // namespace shoal::net
