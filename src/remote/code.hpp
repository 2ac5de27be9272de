// SPDX-License-Identifier: Apache-2.0
// Code that travels: a function is named by the image it lies in and its offset there, so that nodes whose images lie
// at other addresses (address randomization, libraries) find it. Images are numbered in the order in which they were
// loaded when the program started; nodes compare the list before they talk.
// Who may call: any thread. Never switches tasks.
// Guarantees: decode(encode(f)) on a node with the same fingerprint is the same function. A function in an image that
// was loaded later is refused at the sender.
// Shown by tests/unit/remote/code_test.cpp, tests/cluster/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/images.hpp"

namespace shoal::remote {

/// 44 bits: eight for the image, the rest for the offset.
std::uint64_t encode_code(void (*function)());
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

/// Names and identities of the images, for the comparison at start; equal on nodes that may exchange code.
const std::string& code_fingerprint();

}  // namespace shoal::remote
