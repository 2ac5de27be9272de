// SPDX-License-Identifier: Apache-2.0
// The parts of a fuzzing program without libFuzzer: valid inputs, and the entry point that libFuzzer would call. Each
// NAME_fuzz.cpp has a NAME_seeds.cpp; driver.cpp is the main program of all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace shoal::fuzz {

std::vector<std::string> seeds();

}  // namespace shoal::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
