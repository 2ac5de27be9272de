// SPDX-License-Identifier: Apache-2.0
// The programs and libraries loaded into this process, so that code can travel between nodes as (image, offset), and
// what an address of this process points to, so that checked builds can refuse captured pointers. Who may call: any
// thread, at set-up and in checked builds (they read files or walk lists). Never switches tasks. Guarantees: an
// identity is the linker's build identifier, or where there is none a hash of the program headers and the first page of
// code: two nodes with equal identities run the same code. Offsets count from the image's first byte, so address
// randomization does not matter. Fiber stacks are ordinary mappings to the kernel: ask their owner first. Shown by
// tests/unit/machine/images_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace shoal::machine {

struct image {
  std::string path;
  std::uintptr_t base = 0;  // address of its first byte here
  std::size_t size_bytes = 0;
  std::string identity;  // "build:4f0c..." or "hash:91ab..."

  bool contains(const void* address) const noexcept {
    return reinterpret_cast<std::uintptr_t>(address) - base < size_bytes;
  }
};

/// The program itself first, then its libraries in the order they were loaded.
std::vector<image> loaded_images();
std::optional<image> find_image(const void* address);

enum class address_kind { none, image, heap, stack, mapping };

/// `heap`: private writable memory, wherever the allocator has it. `stack`: the main thread's, or the caller's own.
/// `mapping`: everything else that can be read: files, shared memory, reservations. `none`: nothing can be read there.
/// A number that is no address costs a system call at most; an address is looked up in /proc/self/maps every time, so
/// the answer is never older than the question.
address_kind classify(const void* address);

}  // namespace shoal::machine
