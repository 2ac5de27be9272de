// SPDX-License-Identifier: Apache-2.0
// Concurrent access to a hash map of strings, as in chapter 5 of Morari's thesis (2014): a task looks a string up; if it
// is there, it reverses it and stores that, else it takes a new string. The map is an array of slots with open
// addressing; a slot is claimed by compare-and-swap of its hash, and readable when its state says so.
// Checked: the map has the strings that a sequential std::set has.   hashmap [LOG2_SLOTS [ACCESSES_PER_TASK]]
#include <gmt/gmt.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

namespace {

struct text {
  char bytes[24];
};

struct map_args {
  gmt_data_t hashes, texts, ready;  // by slot; a hash of 0: nobody has claimed it
  std::uint64_t mask, accesses, strings;
};

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

text make(std::uint64_t number) {
  text t{};
  std::snprintf(t.bytes, sizeof t.bytes, "string-%llu", static_cast<unsigned long long>(mix(number) % 1000000));
  return t;
}

text reversed(text t) {
  std::reverse(t.bytes, t.bytes + std::strlen(t.bytes));
  return t;
}

std::uint64_t hash(const text& t) {
  std::uint64_t words[3];
  std::memcpy(words, t.bytes, sizeof words);
  return mix(words[0] ^ mix(words[1] ^ mix(words[2] + 1))) | 1;
}

// Whether the map has the string. `add`: stores it if it does not.
bool find(const map_args& m, const text& t, bool add) {
  const std::uint64_t wanted = hash(t);
  for (std::uint64_t slot = wanted >> 1;; ++slot) {
    slot &= m.mask;
    std::uint64_t there = 0;
    if (add)
      there = static_cast<std::uint64_t>(gmt_atomic_cas(m.hashes, slot, 0, static_cast<std::int64_t>(wanted)));
    else
      gmt_get(m.hashes, slot, &there, 1);
    if (there == 0) {  // free; claimed now if it is to be added
      if (add) {
        gmt_put(m.texts, slot, &t, 1);
        gmt_put_value(m.ready, slot, 1);
      }
      return false;
    }
    if (there != wanted) continue;
    for (std::uint8_t is_ready = 0; is_ready == 0;) {  // who has claimed it stores its string
      gmt_get(m.ready, slot, &is_ready, 1);
      if (is_ready == 0) gmt_yield();
    }
    text found;
    gmt_get(m.texts, slot, &found, 1);
    if (std::memcmp(&found, &t, sizeof t) == 0) return true;
  }
}

// The strings that a task works with depend on its number alone.
void access(std::uint64_t start_it, std::uint64_t num_it, const void* args, gmt_handle_t) {
  const map_args& m = *static_cast<const map_args*>(args);
  for (std::uint64_t task = start_it; task < start_it + num_it; ++task)
    for (std::uint64_t k = 0; k < m.accesses; ++k) {
      const text t = make(mix(task * m.accesses + k) % m.strings);
      if (find(m, t, false)) find(m, reversed(t), true);
    }
}

void fill(std::uint64_t start_it, std::uint64_t num_it, const void* args, gmt_handle_t) {
  const map_args& m = *static_cast<const map_args*>(args);
  for (std::uint64_t i = start_it; i < start_it + num_it; ++i) find(m, make(i), true);
}

void count(gmt_data_t ready, std::uint64_t start_el, std::uint64_t num_el, const void* args, gmt_handle_t) {
  const auto* const at = static_cast<const std::uint8_t*>(gmt_get_local_ptr(ready, start_el));
  gmt_atomic_add(*static_cast<const gmt_data_t*>(args), 0, std::count(at, at + num_el, std::uint8_t{1}));
}

bool is_right(const map_args& m, std::uint64_t tasks) {
  std::set<std::string> expected;
  for (std::uint64_t i = 0; i < m.strings / 2; ++i) expected.insert(make(i).bytes);
  std::set<std::string> reverse;
  for (std::uint64_t i = 0; i < tasks * m.accesses; ++i) {
    const text t = make(mix(i) % m.strings);
    if (expected.count(t.bytes) != 0) reverse.insert(reversed(t).bytes);
  }
  expected.insert(reverse.begin(), reverse.end());
  const gmt_data_t counter = gmt_alloc(1, 8, GMT_ALLOC_LOCAL, nullptr);
  gmt_for_each(m.ready, 1024, 0, m.mask + 1, count, &counter, sizeof counter);
  std::uint64_t found = 0;
  gmt_get(counter, 0, &found, 1);
  bool all = found == expected.size();
  for (const std::string& s : expected) {
    text t{};
    std::memcpy(t.bytes, s.data(), s.size());
    all = all && find(m, t, false);
  }
  return all;
}

}  // namespace

int gmt_main(std::uint64_t argc, char* argv[]) {
  const std::uint64_t slots = std::uint64_t{1} << (argc > 1 ? std::atoi(argv[1]) : 13);
  const std::uint64_t tasks = slots / 8;
  map_args m{gmt_alloc(slots, 8, GMT_ALLOC_PARTITION_FROM_ZERO, nullptr),
             gmt_alloc(slots, sizeof(text), GMT_ALLOC_PARTITION_FROM_ZERO, nullptr),
             gmt_alloc(slots, 1, GMT_ALLOC_PARTITION_FROM_ZERO, nullptr),
             slots - 1,
             argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 8,
             slots / 4};
  gmt_for_loop(m.strings / 2, 1, fill, &m, sizeof m, GMT_SPAWN_PARTITION_FROM_ZERO);
  const double start = gmt_timer();
  gmt_for_loop(tasks, 1, access, &m, sizeof m, GMT_SPAWN_PARTITION_FROM_ZERO);
  std::printf("%.2f M accesses/s\n", static_cast<double>(tasks * m.accesses) * 1e-6 / (gmt_timer() - start));
  return is_right(m, tasks) ? 0 : 1;
}
