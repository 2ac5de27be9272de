// SPDX-License-Identifier: Apache-2.0
// Memory that the nodes of one machine map into each other: a memfd of a large capacity, sparse until parts are
// committed. Who may call: any thread; different parts may be committed at the same time. Never switches tasks.
// Guarantees: when commit() returns the pages are there, so no access to them gives SIGBUS or wakes the out-of-memory
// killer later; more than the machine or the control group has is errc::out_of_memory before anything is taken. Fresh
// pages are zero. Whole 2 MiB pieces are turned into 2 MiB pages where the kernel can, and the report says what was
// really given, counted from smaps. A peer that maps the same descriptor gets the same huge pages at its first access.
// A segment of the pool (hugetlb) has nothing but pages of one size, of which a commit takes whole ones, as many as are
// free there.
// A memfd lies in no file system: the size of /dev/shm does not matter and nothing is left behind when the processes
// end. Not guaranteed: that an access outside the committed parts fails; it may take a page. Shown by
// tests/unit/machine/segment_test.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>

#include "machine/mapping.hpp"

namespace shoal::machine {

struct commit_report {
  std::size_t asked_bytes = 0;
  std::size_t huge_bytes = 0;   // really on pages of 2 MiB or more in this process
  std::size_t page_bytes = 0;   // the page that most of it is on
  std::size_t whole_bytes = 0;  // the whole 2 MiB pieces in it
  std::string reason;           // why less than the whole pieces is on such pages; empty if it is not less
};

class segment {
public:
  segment() = default;

  /// `inherit`: the descriptor stays open over exec, for a child that adopts it. `pool_page_bytes`: of the pool of such
  /// pages, if it is not 0.
  static segment create(const std::string& name, std::size_t capacity_bytes, bool inherit = false,
                        std::size_t pool_page_bytes = 0);
  /// Memory of this process alone, without a descriptor.
  static segment create_private(std::size_t capacity_bytes);
  /// Takes over a descriptor made by create() in another process (inherited, or received over a socket); it does not
  /// stay open over exec.
  static segment adopt(int descriptor);

  segment(segment&& other) noexcept;
  segment& operator=(segment&& other) noexcept;
  ~segment();

  int descriptor() const noexcept { return descriptor_; }
  std::size_t capacity() const noexcept { return capacity_; }
  /// The size of its pages if they are the pool's; else 0.
  std::size_t pool_page_bytes() const noexcept { return pool_page_bytes_; }
  std::byte* data() const noexcept { return mapping_.data(); }  // null before map()

  /// Maps the capacity, or the first `bytes` of it, at a 2 MiB boundary, once; returns where.
  std::byte* map(std::size_t bytes = ~std::size_t{0} - k_huge_page_bytes);

  /// Another's memory lies where this was mapped, from now on and until that other takes it away (a network library's,
  /// for which it is easier to reach). The descriptor leads nowhere then.
  void yield_mapping() noexcept;

  /// Parts are rounded outwards to pages; map() comes first.
  commit_report commit(std::size_t offset, std::size_t bytes, page_kind pages = page_kind::huge);
  // The same in steps, for threads that share a large part: require() once, populate() of pieces that begin at multiples
  // of 2 MiB, describe() once with what one populate() returned, 0 or not.
  /// Throws errc::out_of_memory if there is not enough memory for what the part lacks.
  void require(std::size_t offset, std::size_t bytes) const;
  /// Takes the pages, which lie on the NUMA node of the calling thread where the system's policy does not say otherwise.
  /// Returns why the kernel refused 2 MiB pages, an errno. Throws errc::out_of_memory; some of the part may be there then.
  int populate(std::size_t offset, std::size_t bytes, page_kind pages);
  commit_report describe(std::size_t offset, std::size_t bytes, page_kind pages, int refused) const;
  /// Gives the memory of whole pages inside the part back; it reads zero afterwards, in every process.
  void release(std::size_t offset, std::size_t bytes);

  /// What this process has mapped there now.
  page_count count(std::size_t offset, std::size_t bytes) const;
  /// Bytes of the part for which memory has been taken, by any process.
  std::size_t committed_bytes(std::size_t offset, std::size_t bytes) const;

private:
  segment(int descriptor, std::size_t capacity, std::size_t pool_page_bytes) noexcept
      : descriptor_(descriptor), capacity_(capacity), pool_page_bytes_(pool_page_bytes) {}

  // What it takes and gives back at once.
  std::size_t granule() const noexcept { return pool_page_bytes_ != 0 ? pool_page_bytes_ : page_size(); }
  bool is_there(std::size_t offset) const noexcept;
  std::size_t resident_bytes(std::size_t offset, std::size_t bytes) const;
  int give_back(std::size_t offset, std::size_t bytes) const noexcept;
  void clear_ends(std::size_t offset, std::size_t bytes, std::size_t whole_begin, std::size_t whole_end) noexcept;

  // A part, outwards to pages, and the whole 2 MiB pieces in it.
  struct extent {
    std::size_t begin, size, whole_begin, whole;
  };
  extent extent_of(std::size_t offset, std::size_t bytes) const noexcept;
  int allocate(std::size_t offset, std::size_t bytes) const noexcept;
  int take_small(std::size_t offset, std::size_t bytes) noexcept;
  int take_huge(const extent& e, int& refused) noexcept;
  int collapse(std::size_t offset, std::size_t bytes) const noexcept;

  int descriptor_ = -1;
  bool yielded_ = false;
  std::atomic<bool> has_small_parts_{false};  // that must not become large pages; partners: other commits
  bool private_ = false;
  std::size_t capacity_ = 0;
  std::size_t pool_page_bytes_ = 0;
  mapping mapping_;
};

}  // namespace shoal::machine
