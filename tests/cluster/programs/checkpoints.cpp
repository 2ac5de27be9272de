// SPDX-License-Identifier: Apache-2.0
// Writes checkpoints until it is ended, or in round ROUNDS: checkpoints FOLDER ROUNDS [MOST BYTES OF A FILE]. As a restart it checks first what
// it goes on from. Says "restored 7" (the round, 0: none), and "whole 8" when the checkpoint of round 8 must be whole.
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "shoal/shoal.hpp"

namespace {

void say(const std::string& text) {
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

// "node 1 pid 4711", by each node.
void introduce() {
  shoal::spmd([](shoal::team&) {
    char line[64];
    const int length = std::snprintf(line, sizeof line, "node %u pid %d\n", shoal::node_id(), ::getpid());
    [[maybe_unused]] const auto written = ::write(STDOUT_FILENO, line, static_cast<std::size_t>(length));
  });
}

using array = shoal::array_ref<std::uint64_t>;

std::uint64_t value_of(std::uint64_t i, std::uint64_t round) { return shoal::mix64(i + (round << 32)); }

void set_all(const array& a, std::uint64_t round) {
  shoal::parallel_for(shoal::owners_of(a), a.size(),
                      [a, round](std::uint64_t i) { a.async_put(i, value_of(i, round)); });
}
std::uint64_t wrong_in(const array& a, std::uint64_t round) {
  return shoal::parallel_reduce(
      shoal::owners_of(a), a.size(), std::uint64_t{0},
      [a, round](std::uint64_t i) { return a.get(i) == value_of(i, round) ? 0U : 1U; }, std::plus<>());
}

// Of this process, since a job's shared memory are files too.
void limit_files(std::uint64_t bytes) {
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = bytes;
  ::setrlimit(RLIMIT_FSIZE, &limit);
}

int work(const std::string& folder, std::uint64_t rounds) {
  shoal::global_array<std::uint64_t> large(700'000), small(1000, shoal::distribution::cyclic);
  std::uint64_t round = 0;
  shoal::checkpoint saved(folder);
  saved.add("large", large);
  saved.add("small", small);
  saved.add("round", round);
  const bool found = saved.restore().has_value();
  if (found && (wrong_in(large, round) != 0 || wrong_in(small, round) != 0)) {
    say("wrong " + std::to_string(round));
    return 1;
  }
  say("restored " + std::to_string(round));
  introduce();
  std::uint64_t apart = 0;  // the round whose checkpoint may not be whole yet
  while (round < rounds) {
    ++round;
    set_all(large, round);
    set_all(small, round);
    round % 2 != 0 ? saved.save() : saved.async_save();
    if (apart != 0) say("whole " + std::to_string(apart));
    apart = 0;
    if (round % 2 != 0 || !saved.copied())
      say("whole " + std::to_string(round));
    else
      apart = round;
  }
  saved.wait();
  say("whole " + std::to_string(round));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return shoal::run(argc, argv, [&] {
    if (argc < 3) return 2;
    if (argc == 4) limit_files(std::strtoull(argv[3], nullptr, 10));
    return work(argv[1], std::strtoull(argv[2], nullptr, 10));
  });
}
