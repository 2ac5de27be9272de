// SPDX-License-Identifier: Apache-2.0
// A communicator: one object per process, shared by the ranks of it that are members. What each rank has of it for
// itself (its name, attributes, error handler, collective calls) is in its member.
// Who may call: members, each on its worker. A member's part is its own; the rest is constant, but for the sites of
// collective calls, which have a lock. Nothing here switches tasks.
// Source: MPI 5.0, chapter 7.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mpi-abi/mpi.h"
#include "rank/attributes.hpp"
#include "rank/error_handlers.hpp"
#include "rank/group.hpp"
#include "rank/handle.hpp"
#include "rank/info.hpp"
#include "rank/topology.hpp"

namespace shoal::rank {

class rank_state;
class job_ranks;
class collective_sites;

/// Names a communicator in messages: even. The next number is for the library's own messages in it.
using context_id = std::uint64_t;
/// In the contexts of the library's messages for persistent collective operations; numbers of communicators leave it out.
inline constexpr context_id k_persistent_context = context_id{1} << 33;
/// A leader's communicators are numbered from here on; those below are the job's own.
inline constexpr std::uint32_t k_first_serial = 3;

/// What one rank has of a communicator.
struct alignas(64) member_state {
  rank_state* of = nullptr;
  int rank = 0;                   // in its group
  bool active = false;            // it has a handle
  std::uint32_t uses = 0;         // operations that have not ended; with the handle they keep the communicator
  std::uint64_t collectives = 0;  // that it has begun, without persistent ones
  std::uint64_t persistent_collectives = 0;  // that it has made
  std::string name;
  attribute_set attributes;
  error_handler_ref errors;  // none: that of the start
  std::shared_ptr<const topology> neighbours;
  info_pairs hints;
};

class communicator final : public handle_object {
public:
  static constexpr object_kind k_kind = object_kind::communicator;
  static constexpr int k_error = MPI_ERR_COMM;
  static constexpr const char* k_name = "communicator";

  /// `remote`: the other group of an intercommunicator.
  communicator(job_ranks& job, context_id context, group_ref local, group_ref remote,
               std::shared_ptr<collective_sites> sites = {});
  ~communicator();

  job_ranks& job() const noexcept { return job_; }
  context_id context() const noexcept { return context_; }
  bool is_inter() const noexcept { return remote_ != nullptr; }
  const group& local() const noexcept { return *local_; }
  /// The other group; of an ordinary communicator its only one: whom messages go to.
  const group& remote() const noexcept { return remote_ != nullptr ? *remote_ : *local_; }
  const group_ref& local_ref() const noexcept { return local_; }
  const group_ref& remote_ref() const noexcept { return remote_; }
  int size() const noexcept { return local_->size(); }

  /// The part of a rank of this process, which must be a member.
  member_state& member(const rank_state& r) const noexcept;
  int rank_of(const rank_state& r) const noexcept { return member(r).rank; }
  bool has(const rank_state& r) const noexcept;
  /// The members that are ranks of this process, in the order of the world.
  std::span<member_state> members_here() const noexcept { return {members_.get(), here_}; }

  /// What its first member here calls it, in quotes if the program has named it.
  std::string shown_name() const;
  /// For communicators that are there from the start: gives all members a handle, and the name.
  void name_all(const char* name);

  void add_reference() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void drop_reference() noexcept;
  /// For the table of communicators: the reference that may be the last is dropped under its lock.
  bool drop_if_last() noexcept;

  /// The two sides of an intercommunicator share them.
  collective_sites& sites() const noexcept { return *sites_; }
  const std::shared_ptr<collective_sites>& shared_sites() const noexcept { return sites_; }
  /// Of an intercommunicator: how many members of the other group are here, and which of the groups is the local one.
  std::size_t others_here() const noexcept { return others_here_; }
  bool is_upper() const noexcept { return is_upper_; }
  /// Whether all members are ranks of this process.
  bool is_here() const noexcept {
    return here_ == static_cast<std::size_t>(local_->size()) &&
           (remote_ == nullptr || others_here_ == static_cast<std::size_t>(remote_->size()));
  }

  /// The first member of each process, of both groups, as ranks of the world, in ascending order. Empty if is_here().
  std::span<const int> leaders() const noexcept { return leaders_; }
  /// The first rank of each process, in the order of leaders(), and behind the last one size(): if each process has
  /// consecutive ranks, and ranks ascend with the processes. Else, and of an intercommunicator: empty.
  std::span<const int> block_begins() const noexcept { return block_begins_; }

private:
  member_state* find_member(const rank_state& r) const noexcept;
  member_state* search_member(const rank_state& r) const noexcept;
  void find_leaders();

  job_ranks& job_;
  const context_id context_;
  const group_ref local_;
  const group_ref remote_;
  std::unique_ptr<member_state[]> members_;
  std::size_t here_ = 0;
  int first_ = 0;       // number in the process of the first one
  bool dense_ = false;  // those of the others follow it
  std::size_t others_here_ = 0;
  bool is_upper_ = false;
  std::vector<int> leaders_;
  std::vector<int> block_begins_;
  std::shared_ptr<collective_sites> sites_;
  std::atomic<std::uint32_t> references_{0};  // partners: the members, and requests
};

/// Keeps a communicator.
class communicator_ref {
public:
  communicator_ref() = default;
  explicit communicator_ref(communicator* of) noexcept : of_(of) {
    if (of_ != nullptr) of_->add_reference();
  }
  communicator_ref(const communicator_ref& other) noexcept : communicator_ref(other.of_) {}
  communicator_ref(communicator_ref&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
  communicator_ref& operator=(communicator_ref other) noexcept {
    std::swap(of_, other.of_);
    return *this;
  }
  ~communicator_ref() {
    if (of_ != nullptr) of_->drop_reference();
  }
  communicator* get() const noexcept { return of_; }
  communicator& operator*() const noexcept { return *of_; }
  communicator* operator->() const noexcept { return of_; }
  explicit operator bool() const noexcept { return of_ != nullptr; }

private:
  communicator* of_ = nullptr;
};

/// Keeps a communicator while an operation of a member lasts. Only on this member's worker, so nothing atomic.
class communicator_use {
public:
  communicator_use() = default;
  /// `by` is a member, and has a handle or another use.
  communicator_use(communicator& of, const rank_state& by) noexcept { begin(of, by); }
  communicator_use(communicator& of, member_state& by) noexcept : of_(&of), member_(&by) { ++member_->uses; }
  communicator_use(communicator_use&& other) noexcept
      : of_(std::exchange(other.of_, nullptr)), member_(other.member_) {}
  communicator_use& operator=(communicator_use&& other) noexcept {
    std::swap(of_, other.of_);
    std::swap(member_, other.member_);
    return *this;
  }
  ~communicator_use() { end(); }
  /// The same; what it kept before, it keeps no longer.
  void begin(communicator& of, const rank_state& by) noexcept;
  void end() noexcept {
    if (of_ == nullptr) return;
    communicator& of = *std::exchange(of_, nullptr);
    if (--member_->uses == 0 && !member_->active) [[unlikely]]
      of.drop_reference();
  }
  communicator* get() const noexcept { return of_; }
  communicator& operator*() const noexcept { return *of_; }
  communicator* operator->() const noexcept { return of_; }

private:
  communicator* of_ = nullptr;
  member_state* member_ = nullptr;
};

}  // namespace shoal::rank
