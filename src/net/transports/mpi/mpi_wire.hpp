// SPDX-License-Identifier: Apache-2.0
// One domain's wire over MPI: its own tag in its process, some receives posted in advance, and sends of label and words
// as one message. A buffer that has arrived is replaced at once, so messages that are not executed yet never delay
// others; the credits of the layer above bound the number of buffers.
// Who may call: as in wire.hpp. Nothing waits for the library's lock: if another thread holds it, the next progress()
// does the work; only the end waits. MPI matches messages of one sender, tag and communicator in order.
// At the end of the wire, sent messages get a short time to leave; it does not wait for a peer that receives nothing.
// Tests: tests/unit/net/plugin_test.cpp.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "net/transports/mpi/mpi_library.hpp"
#include "net/wire.hpp"

namespace shoal::net {

class mpi_wire final : public wire {
public:
  mpi_wire(mpi_library& library, MPI_Comm communicator, int tag, const network_request& request);
  ~mpi_wire() override;
  mpi_wire(const mpi_wire&) = delete;
  mpi_wire& operator=(const mpi_wire&) = delete;

  int tag() const noexcept { return tag_; }
  void introduce(std::uint32_t node, int rank, int tag) { peers_[node] = {rank, tag, false, false, ""}; }

  void send(std::uint32_t node, const message_label& label, std::uint64_t* words, std::size_t count,
            std::atomic<bool>* sent) noexcept override;
  bool progress(wire_user& user) noexcept override;
  bool all_sent() const noexcept override { return unsent_.empty() && requests_.empty(); }
  void give_back(void* token) noexcept override { free_buffers_.push_back(static_cast<std::uint64_t*>(token)); }

private:
  using label_words = std::array<std::uint64_t, k_label_words>;
  struct peer {
    int rank = 0, tag = 0;
    bool lost = false, told = false;
    std::string why;
  };
  struct sending {
    std::uint32_t node = 0;
    std::uint64_t* words = nullptr;  // the label's first
    std::size_t count = 0;
    std::atomic<bool>* sent = nullptr;
    label_words* alone = nullptr;  // the words, if they are ours
  };
  struct receiving {
    std::uint64_t* buffer = nullptr;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  struct taken {
    std::uint64_t* buffer;
    std::size_t count;
  };

  // With the library's lock held:
  void post_receive(receiving& r) noexcept;
  void post_unsent() noexcept;
  void test_sends() noexcept;
  void take_arrivals() noexcept;

  void finish(const sending& s) noexcept;
  void lose(std::uint32_t node, int code) noexcept;
  void lose_all(int code) noexcept;
  void tell_losses(wire_user& user) noexcept;
  std::uint64_t* take_buffer();
  bool end_sends() noexcept;
  bool all_received() noexcept;
  void end_receives() noexcept;

  mpi_library& library_;
  MPI_Comm communicator_;
  int tag_;
  std::uint32_t node_;
  std::size_t most_words_;  // with the label
  bool news_ = false;       // of losses
  std::vector<peer> peers_;

  std::vector<sending> unsent_, sent_;  // not yet MPI's; MPI's
  std::vector<MPI_Request> requests_;   // of sent_, by the same index
  std::vector<int> complete_;           // scratch
  std::deque<label_words> labels_;
  std::vector<label_words*> free_labels_;

  std::vector<receiving> ring_;  // MPI matches them in the order of posting
  std::size_t oldest_ = 0;
  std::vector<taken> taken_;
  std::vector<std::unique_ptr<std::uint64_t[]>> buffers_;
  std::vector<std::uint64_t*> free_buffers_;
};

}  // namespace shoal::net
