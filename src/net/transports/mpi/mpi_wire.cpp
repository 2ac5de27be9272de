// SPDX-License-Identifier: Apache-2.0
#include "net/transports/mpi/mpi_wire.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

namespace shoal::net {
namespace {

using namespace std::chrono_literals;
constexpr auto k_time_to_leave = 500ms;
constexpr auto k_time_to_cancel = 500ms;
constexpr std::size_t k_least_receives = 4;
constexpr std::size_t k_most_receives = 32;

int bytes_of(std::size_t words) noexcept { return static_cast<int>(words * sizeof(std::uint64_t)); }

}  // namespace

mpi_wire::mpi_wire(mpi_library& library, MPI_Comm communicator, int tag, const network_request& request)
    : library_(library),
      communicator_(communicator),
      tag_(tag),
      node_(request.node),
      most_words_(request.most_words + k_label_words),
      peers_(request.nodes) {
  ring_.resize(std::clamp(request.messages * request.nodes, k_least_receives, k_most_receives));
  taken_.reserve(ring_.size());
  const std::lock_guard guard(library_.lock());
  for (receiving& r : ring_) post_receive(r);
}

mpi_wire::~mpi_wire() {
  const auto end = std::chrono::steady_clock::now() + k_time_to_leave;
  while (!end_sends() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  end_receives();
}

// ---- to others

void mpi_wire::send(std::uint32_t node, const message_label& label, std::uint64_t* words, std::size_t count,
                    std::atomic<bool>* sent) noexcept {
  sending s{node, nullptr, count + k_label_words, sent, nullptr};
  if (count == 0) {
    if (free_labels_.empty()) free_labels_.push_back(&labels_.emplace_back());
    s.alone = free_labels_.back();
    free_labels_.pop_back();
    s.words = s.alone->data();
  } else {
    s.words = words - k_label_words;
  }
  std::memcpy(s.words, &label, sizeof label);
  unsent_.push_back(s);
  if (const std::unique_lock guard(library_.lock(), std::try_to_lock); guard) post_unsent();
}

void mpi_wire::post_unsent() noexcept {
  for (const sending& s : unsent_) {
    const peer& to = peers_[s.node];
    MPI_Request request = MPI_REQUEST_NULL;
    const int status = to.lost
                           ? MPI_SUCCESS
                           : MPI_Isend(s.words, bytes_of(s.count), MPI_BYTE, to.rank, to.tag, communicator_, &request);
    if (status != MPI_SUCCESS) lose(s.node, status);
    if (to.lost) {
      finish(s);
      continue;
    }
    sent_.push_back(s);
    requests_.push_back(request);
  }
  unsent_.clear();
}

void mpi_wire::test_sends() noexcept {
  if (requests_.empty()) return;
  complete_.resize(requests_.size());
  int count = 0;
  const int status =
      MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, complete_.data(), MPI_STATUSES_IGNORE);
  if (status != MPI_SUCCESS) return lose_all(status);
  if (count <= 0) return;
  for (int i = 0; i < count; ++i) finish(sent_[static_cast<std::size_t>(complete_[static_cast<std::size_t>(i)])]);
  // What is complete has become MPI_REQUEST_NULL; the others move up.
  std::size_t kept = 0;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    requests_[kept] = requests_[i];
    sent_[kept++] = sent_[i];
  }
  requests_.resize(kept);
  sent_.resize(kept);
}

void mpi_wire::finish(const sending& s) noexcept {
  if (s.alone != nullptr) free_labels_.push_back(s.alone);
  if (s.sent != nullptr) s.sent->store(true, std::memory_order_release);
}

// ---- from others

std::uint64_t* mpi_wire::take_buffer() {
  if (free_buffers_.empty())
    free_buffers_.push_back(buffers_.emplace_back(std::make_unique<std::uint64_t[]>(most_words_)).get());
  std::uint64_t* const buffer = free_buffers_.back();
  free_buffers_.pop_back();
  return buffer;
}

void mpi_wire::post_receive(receiving& r) noexcept {
  r.buffer = take_buffer();
  const int status =
      MPI_Irecv(r.buffer, bytes_of(most_words_), MPI_BYTE, MPI_ANY_SOURCE, tag_, communicator_, &r.request);
  if (status == MPI_SUCCESS) return;
  r.request = MPI_REQUEST_NULL;
  lose_all(status);
}

void mpi_wire::take_arrivals() noexcept {
  while (taken_.size() < ring_.size() && ring_[oldest_].request != MPI_REQUEST_NULL) {
    receiving& r = ring_[oldest_];
    int done = 0, bytes = 0;
    MPI_Status status;
    if (const int code = MPI_Test(&r.request, &done, &status); code != MPI_SUCCESS) return lose_all(code);
    if (done == 0) return;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    taken_.push_back({r.buffer, static_cast<std::size_t>(bytes) / sizeof(std::uint64_t)});
    post_receive(r);
    oldest_ = (oldest_ + 1) % ring_.size();
  }
}

bool mpi_wire::progress(wire_user& user) noexcept {
  if (const std::unique_lock guard(library_.lock(), std::try_to_lock); guard) {
    post_unsent();
    take_arrivals();
    test_sends();
  }
  const bool any = !taken_.empty();
  for (const taken& t : taken_) {
    if (t.count < k_label_words) {  // no node of a job sends it
      free_buffers_.push_back(t.buffer);
      continue;
    }
    arrival a{{}, nullptr, t.count - k_label_words, t.buffer};
    std::memcpy(static_cast<void*>(&a.label), t.buffer, sizeof a.label);
    if (a.count != 0) a.words = t.buffer + k_label_words;
    if (!user.arrived(a) || a.count == 0) free_buffers_.push_back(t.buffer);
  }
  taken_.clear();
  if (news_) [[unlikely]]
    tell_losses(user);
  return any;
}

// ---- losses and the end

void mpi_wire::lose(std::uint32_t node, int code) noexcept {
  peer& p = peers_[node];
  if (p.lost) return;
  p.lost = true;
  p.why = mpi_reason(code);
  news_ = true;
}

// MPI does not report the node.
void mpi_wire::lose_all(int code) noexcept {
  for (std::uint32_t node = 0; node < peers_.size(); ++node)
    if (node != node_) lose(node, code);
}

void mpi_wire::tell_losses(wire_user& user) noexcept {
  news_ = false;
  for (std::uint32_t node = 0; node < peers_.size(); ++node) {
    peer& p = peers_[node];
    if (!p.lost || p.told) continue;
    p.told = true;
    user.unreachable(node, p.why.c_str());
  }
}

// False: there is still something to send.
bool mpi_wire::end_sends() noexcept {
  const std::lock_guard guard(library_.lock());
  post_unsent();
  test_sends();
  return requests_.empty();
}

bool mpi_wire::all_received() noexcept {
  const std::lock_guard guard(library_.lock());
  bool all = true;
  for (receiving& r : ring_) {
    int done = 1;
    if (r.request != MPI_REQUEST_NULL) MPI_Test(&r.request, &done, MPI_STATUS_IGNORE);
    all = all && done != 0;
  }
  return all;
}

void mpi_wire::end_receives() noexcept {
  {
    const std::lock_guard guard(library_.lock());
    for (receiving& r : ring_)
      if (r.request != MPI_REQUEST_NULL) MPI_Cancel(&r.request);
  }
  const auto end = std::chrono::steady_clock::now() + k_time_to_cancel;
  while (!all_received() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  // A receive in the midst of a message cannot be taken back: MPI may still write there.
  for (const receiving& r : ring_) {
    if (r.request == MPI_REQUEST_NULL) continue;
    for (auto& buffer : buffers_)
      if (buffer.get() == r.buffer) static_cast<void>(buffer.release());
  }
}

}  // namespace shoal::net
