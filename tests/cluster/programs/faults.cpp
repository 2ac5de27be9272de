// SPDX-License-Identifier: Apache-2.0
// Jobs that go wrong, or right under difficult conditions: faults WHAT [NUMBER].
#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

#include "shoal/shoal.hpp"

extern "C" std::uint64_t square_on(std::uint32_t node, std::uint64_t x);
extern "C" std::uint64_t count_everywhere(std::uint64_t n);

namespace {

using clock_type = std::chrono::steady_clock;

std::uint32_t last() { return shoal::node_count() - 1; }

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

void compute(double seconds) {  // without any call into the runtime
  for (const auto end = clock_type::now() + std::chrono::duration<double>(seconds); clock_type::now() < end;) {
  }
}

// Enough traffic that whatever dies does so in the middle of it.
int endless() {
  introduce();
  shoal::global_array<std::uint64_t> a(1 << 16);
  for (;;)
    shoal::parallel_for(shoal::everywhere, 1 << 14, [r = a.ref()](std::uint64_t i) {
      r.async_add(shoal::mix64(i) % r.size(), 1);
      if (i % 64 == 0) r.fetch_add(shoal::mix64(i) % r.size(), 1);
    });
}

[[gnu::noinline]] std::uint64_t deep(std::uint64_t left) {
  volatile char room[512];
  room[left % sizeof room] = static_cast<char>(left);
  if (left == 0) return 1;
  const std::uint64_t below = deep(left - 1);
  return below + static_cast<std::uint64_t>(room[left % sizeof room] != 0);
}

// As a task that has begun on a stack of the pool, since the one before it waits.
void overflow(std::uint64_t frames) {
  shoal::semaphore done(0);
  shoal::task_group group;
  group.run([&done, frames] {
    deep(frames);
    done.release(4);
  });
  for (int i = 0; i < 4; ++i) group.run([&done] { done.acquire(); });
  group.wait();
}

int waiting(std::uint64_t tasks) {
  shoal::semaphore go(0);
  shoal::task_group group;
  for (std::uint64_t i = 0; i < tasks; ++i) group.run([&go] { go.acquire(); });
  shoal::yield();
  go.release(static_cast<std::ptrdiff_t>(tasks));
  group.wait();
  say("all went on");
  return 0;
}

const char* own_program = "";
const char* text = "";

int load_late(const char* path, bool everywhere) {
  void* library = ::dlopen(path, RTLD_NOW);
  if (library == nullptr) throw std::runtime_error(::dlerror());
  if (everywhere)  // the path is the program's second argument on every node
    shoal::spmd([](shoal::team&) {
      if (::dlopen(text, RTLD_NOW) == nullptr) throw std::runtime_error(::dlerror());
    });
  const auto square = reinterpret_cast<std::uint64_t (*)(std::uint32_t, std::uint64_t)>(::dlsym(library, "square_on"));
  return square(last(), 3) == 9 ? 0 : 1;
}

std::uint64_t number() { return std::strtoull(text, nullptr, 10); }

const std::map<std::string, std::function<int()>> k_jobs = {
    {"many_main_tasks", [] { return 0; }},
    {"status", [] { return std::atoi(text); }},
    {"works",
     [] {
       shoal::global_array<std::uint64_t> a(1000, shoal::distribution::cyclic);
       shoal::parallel_for(shoal::everywhere, 1000, [r = a.ref()](std::uint64_t i) { r.async_put(999 - i, i); });
       for (std::uint64_t i = 0; i < 1000; ++i)
         if (a->get(999 - i) != i) return 1;
       say("works on " + std::to_string(shoal::node_count()));
       return 0;
     }},
    {"start_another",
     [] {  // a program of its own, started by each node: no node of this job
       shoal::spmd([](shoal::team&) { static_cast<void>(std::system((std::string(own_program) + " works").c_str())); });
       say("started");
       return 0;
     }},
    {"throw", []() -> int { throw std::runtime_error("the main task gives up"); }},
    {"throw_odd", []() -> int { throw 42; }},
    {"throw_there",
     [] {
       shoal::on(last(), [] { throw std::out_of_range("too far out"); });
       return 0;
     }},
    {"twice",
     [] {
       say("once on " + std::to_string(shoal::node_count()));
       return 0;
     }},
    {"exit_there",
     [] {
       shoal::on(last(), [] { std::_Exit(9); });
       return 0;
     }},
    {"abort_there",
     [] {
       shoal::on(last(), [] { std::abort(); });
       return 0;
     }},
    {"exit_here", []() -> int { std::_Exit(7); }},
    {"endless", endless},
    {"idle",
     [] {
       introduce();
       shoal::semaphore never(0);
       never.acquire();
       return 0;
     }},
    {"compute",
     [] {
       introduce();
       auto there = shoal::async_on(last(), [] {
         compute(1.5);
         return shoal::node_id();
       });
       compute(1.5);
       return there.get() == last() ? 0 : 1;
     }},
    {"wild_pointer",
     [] {  // as a pointer captured on another node would be
       shoal::on(last(), [] {
         volatile auto address = std::uintptr_t{0x123456789000};
         *reinterpret_cast<volatile int*>(address) = 1;
       });
       return 0;
     }},
    {"overflow",
     [] {
       overflow(1 << 20);
       return 0;
     }},
    {"deep",
     [] {
       overflow(number());
       return 0;
     }},
    {"overflow_main", [] { return static_cast<int>(deep(1U << 20)); }},
    {"overflow_there",
     [] {
       shoal::on(last(), [] { overflow(1 << 20); });
       return 0;
     }},
    {"allocate",
     [] {
       shoal::global_array<std::uint64_t> a(number());
       a->put(a.size() - 1, 1);
       say("allocated");
       return 0;
     }},
    {"allocate_twice",
     [] {  // a refusal is an exception like others: the job goes on
       try {
         const shoal::global_array<std::uint64_t> a(number());
       } catch (const shoal::error& e) {
         if (e.code() != shoal::errc::out_of_memory) throw;
         say(e.what());
       }
       shoal::global_array<std::uint64_t> b(1000);
       b->put(999, 4);
       return b->get(999) == 4 ? 0 : 1;
     }},
    {"stacks", [] { return waiting(number()); }},
    {"library",
     [] {
       const bool right = square_on(last(), 7) == 49 && count_everywhere(1000) == 1000;
       say(right ? "the library works" : "the library is wrong");
       return right ? 0 : 1;
     }},
    {"library_late", [] { return load_late(text, false); }},
    {"library_late_everywhere", [] { return load_late(text, true); }},
};

}  // namespace

// A job as an object: node 0 runs main tasks from two threads, the other processes serve.
static int many_main_tasks(int argc, char** argv) {
  shoal::job job(argc, argv);
  if (job.node() != 0) {
    try {
      job.run([] {});
      return 9;
    } catch (const shoal::error& e) {
      if (e.code() != shoal::errc::unsupported) throw;
    }
    job.end();
    return 0;
  }
  std::uint64_t sum[2] = {0, 0};
  std::thread other([&] {
    for (std::uint64_t i = 0; i < 20; ++i) sum[1] += job.run([i] { return shoal::on(last(), [i] { return i; }); });
  });
  for (std::uint64_t i = 0; i < 20; ++i)
    sum[0] += job.run([i] {
      return shoal::parallel_reduce(
          shoal::everywhere, 0, 10, std::uint64_t{0}, [i](std::uint64_t) { return i; },
          [](std::uint64_t a, std::uint64_t b) { return a + b; });
    });
  other.join();
  if (sum[0] != 1900 || sum[1] != 190) return 1;
  try {
    job.run([] { throw std::runtime_error("a main task gives up"); });
    return 2;
  } catch (const std::runtime_error&) {
  }
  job.end();
  std::puts("forty main tasks");
  return 0;
}

int main(int argc, char** argv) {
  const auto job = argc > 1 ? k_jobs.find(argv[1]) : k_jobs.end();
  if (job == k_jobs.end()) {
    std::fprintf(stderr, "faults: there is no job of this name\n");
    return 64;
  }
  own_program = argv[0];
  if (argc > 2) text = argv[2];
  if (std::string(argv[1]) == "many_main_tasks") return many_main_tasks(argc, argv);
  const int status = shoal::run(argc, argv, job->second);
  return std::string(argv[1]) == "twice" ? shoal::run(argc, argv, job->second) : status;
}
