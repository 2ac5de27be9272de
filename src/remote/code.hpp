// SPDX-License-Identifier: Apache-2.0
// Code in messages: a function is named by its image and its offset there, so nodes with other load addresses (address
// randomization, libraries) find it. Images loaded when the first job starts are numbered in their order; nodes compare
// that list before they communicate. An image loaded later gets a number when its code is sent for the first time
// (late_images.hpp).
// Who may call: any thread. Never switches tasks.
// Guarantees: decode(encode(f)) on a node that knows the image is the same function; numbered images stay loaded.
// Tests: tests/unit/remote/code_test.cpp, tests/cluster/launch_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "machine/images.hpp"

namespace shoal::remote {

/// 44 bits: eight for the image, the rest for the offset. Throws errc::unsupported if the function lies in no image
/// that has a number.
std::uint64_t encode_code(void (*function)());
/// The same; nothing if the image has no number yet.
std::optional<std::uint64_t> find_code(void (*function)());
void (*decode_code(std::uint64_t code) noexcept)();

template <class R, class... A>
std::uint64_t encode_function(R (*function)(A...) noexcept) {
  return encode_code(reinterpret_cast<void (*)()>(function));
}
template <class F>
F decode_function(std::uint64_t code) noexcept {
  return reinterpret_cast<F>(decode_code(code));
}

/// Those of the loaded images in which code that travels may lie; throws if they are more than a name has room for.
std::vector<machine::image> images_with_code(std::vector<machine::image> loaded);

/// What names an image in messages between nodes: two versions of a library differ in it, and two libraries do.
std::string name_and_identity(const machine::image& i);

/// The number of a late image with this name and identity; gives it the next one if it has none. Only node 0 chooses
/// numbers. Throws errc::unsupported if there are too many.
unsigned number_late_image(const std::string& identity);
/// Finds the loaded image with this name and identity here and gives it the number that node 0 chose; false if there is
/// none.
bool bind_late_image(unsigned number, const std::string& identity);
/// All nodes have bound it: its code may be sent from here.
void allow_late_image(unsigned number, std::size_t size_bytes);

/// Names and identities of the images, for the comparison at start; equal on nodes that may exchange code.
const std::string& code_fingerprint();

}  // namespace shoal::remote
