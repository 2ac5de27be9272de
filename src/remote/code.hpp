// SPDX-License-Identifier: Apache-2.0
// Code in messages. A function is named by its image and a number there, so nodes with other load addresses (address
// randomization, libraries) find it. Images loaded when the first job starts are numbered in their order; nodes compare
// that list before they communicate. An image loaded later gets a number when its code is sent for the first time
// (late_images.hpp).
//   Bodies: the number is that among the registered functions of the image (shoal/detail/registered_body.hpp), in the order of
//   their addresses. Plain functions, of the C API: the number is the offset in the image.
// Who may call: any thread. Never switches tasks.
// Guarantees: what is decoded is a registered function of the kind asked for, or the beginning of a function of a
// numbered image, whatever has arrived; else nothing. decode(encode(f)) on a node that knows the image is the same
// function; numbered images stay loaded.
// Tests: tests/unit/remote/code_test.cpp, tests/cluster/launch_test.cpp, tests/fuzz/command_fuzz.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "machine/images.hpp"
#include "shoal/detail/call.hpp"
#include "shoal/detail/message.hpp"

namespace shoal::remote {

/// 44 bits: eight for the image, the rest for the number. Throws errc::unsupported if the body's image has no number
/// yet.
std::uint64_t encode_body(const detail::registered_body& b);
/// The same; nothing if the image has no number yet.
std::optional<std::uint64_t> find_body(const detail::registered_body& b);
/// nullptr: this names no receiver, or callee, that this process knows. Of `name`, 44 bits count.
detail::receiver_function decode_receiver(std::uint64_t name) noexcept;
detail::callee_function decode_callee(std::uint64_t name) noexcept;

/// Of any function of an image. Throws errc::unsupported if the image has no number yet, or no function begins there.
using plain_function = void (*)();
std::uint64_t encode_plain(plain_function function);
/// The same; nothing if the image has no number yet.
std::optional<std::uint64_t> find_plain(plain_function function);
/// nullptr: no function begins there.
plain_function decode_plain(std::uint64_t name) noexcept;

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
void allow_late_image(unsigned number, const machine::image& i);

/// Names and identities of the images, for the comparison at start; equal on nodes that may exchange code.
const std::string& code_fingerprint();

}  // namespace shoal::remote
