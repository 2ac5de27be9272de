// SPDX-License-Identifier: Apache-2.0
// Runs a libFuzzer entry point without libFuzzer: a number of mutations of valid inputs. The number of a mutation
// determines it, so the number alone reproduces a failure.
//   PROGRAM COUNT [FIRST]   mutations FIRST (default 0) to FIRST + COUNT - 1
// If the process dies it prints the current number; with COUNT 1 it writes the input to standard output.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz/seeds.hpp"
#include "shoal/random.hpp"

namespace {

volatile std::sig_atomic_t under_way_high = 0;
volatile std::sig_atomic_t under_way_low = 0;
constexpr int k_shift = 24;

extern "C" void tell_number(int signal) {
  const unsigned long number =
      (static_cast<unsigned long>(under_way_high) << k_shift) | static_cast<unsigned long>(under_way_low);
  std::fprintf(stderr, "died with signal %d at mutation %lu; repeat with: 1 %lu\n", signal, number, number);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

const char* const k_words[] = {"0",
                               "-1",
                               "18446744073709551615",
                               "18446744073709551616",
                               "9999999999",
                               "1e400",
                               "nan",
                               " ",
                               "\n",
                               "\r\n",
                               "\t",
                               "#",
                               "%",
                               "# shoal names\n",
                               "# shoal graph directed vertices 2 edges 1\n",
                               "x"};

/// Applies one change of a kind that often finds faults in parsers.
void mutate(std::string& bytes, const std::vector<std::string>& seeds, shoal::xoshiro256ss& random) {
  const auto place = [&] { return static_cast<std::size_t>(random.below(bytes.size() + 1)); };
  const std::size_t at = place();
  switch (random.below(9)) {
    case 0: bytes.resize(at); break;
    case 1: bytes.insert(at, 1, static_cast<char>(random.below(256))); break;
    case 2: bytes.insert(at, k_words[random.below(std::size(k_words))]); break;
    case 3: bytes.erase(at, random.below(16)); break;
    case 4: bytes.insert(at, bytes.substr(place(), random.below(64))); break;
    case 5: {
      const std::string& other = seeds[random.below(seeds.size())];
      bytes = bytes.substr(0, at) + other.substr(random.below(other.size()));
      break;
    }
    case 6:
      if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
      break;
    case 7:
      if (at < bytes.size()) bytes[at] = static_cast<char>(random.below(256));
      break;
    default: {
      const std::uint64_t number = random() >> random.below(64);
      const std::size_t width = std::min<std::size_t>(bytes.size() - at, std::size_t{1} << random.below(4));
      std::memcpy(bytes.data() + at, &number, width);
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2 || count > 3) {
    std::fprintf(stderr, "usage: %s COUNT [FIRST]\n", arguments[0]);
    return 2;
  }
  const unsigned long long runs = std::strtoull(arguments[1], nullptr, 10);
  const unsigned long long first = count == 3 ? std::strtoull(arguments[2], nullptr, 10) : 0;
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, tell_number);

  const auto seeds = shoal::fuzz::seeds();
  for (const std::string& seed : seeds) {
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(seed.data()), seed.size());
  }
  for (unsigned long long number = first; number < first + runs; ++number) {
    under_way_high = static_cast<std::sig_atomic_t>(number >> k_shift);
    under_way_low = static_cast<std::sig_atomic_t>(number & ((1u << k_shift) - 1));
    shoal::xoshiro256ss random(number);
    std::string bytes = seeds[random.below(seeds.size())];
    for (std::uint64_t changes = 1 + random.below(4); changes > 0; --changes) mutate(bytes, seeds, random);
    if (runs == 1) std::fwrite(bytes.data(), 1, bytes.size(), stdout);
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  std::fprintf(stderr, "%llu mutations of %zu inputs from number %llu\n", runs, seeds.size(), first);
  return 0;
}
