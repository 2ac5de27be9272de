// SPDX-License-Identifier: Apache-2.0
// Common code of all programs in bench/problems: options, repetitions, and the JSON object that bench/compare reads. It
// does not depend on a runtime: a program starts its own runtime and calls run() inside it.
//   int main(int argc, char** argv) {
//     problems::measurement<problems::fib::problem> m(argc, argv);
//     ... start the runtime with m.workers() workers, and inside it:
//     m.run([](const problems::fib::problem& p) { return fib(p.n); });
//     return m.finish();
//   }
// One warm-up, then timed repetitions; every result is verified outside the timed part. `problem_kernel` lists the
// members of a problem. Who may call: one thread or task. finish() returns 0, or 1 if a result was wrong or missing.
#pragma once

#include <charconv>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <type_traits>
#include <vector>

#ifndef SHOAL_PROBLEM_RUNTIME
#error "bench/problems/CMakeLists.txt names the runtime: SHOAL_PROBLEM_RUNTIME"
#endif

namespace problems {

/// A problem with tasks of adjustable length declares a default grain: P(size, grain), --grain.
template <class P>
concept grained = requires {
  { P::k_grain } -> std::convertible_to<std::uint64_t>;
  P(std::uint64_t{}, std::uint64_t{});
};

/// A problem with variants lists their names, the default first: P(size, which), --variant NAME.
template <class P>
concept varied = requires {
  { P::k_variants[0] } -> std::convertible_to<std::string_view>;
  P(std::uint64_t{}, std::size_t{});
};

/// A problem: constructed from a size (throws std::exception for an invalid one), verifies its result, counts its work.
template <class P>
concept problem_kernel = requires(P& p, const typename P::result& r) {
  { P::k_name } -> std::convertible_to<std::string_view>;
  { P::k_work_unit } -> std::convertible_to<std::string_view>;  // the unit of work(), in the singular
  { P::k_size } -> std::convertible_to<std::uint64_t>;          // the default
  { P::k_test_size } -> std::convertible_to<std::uint64_t>;     // for tests: much less than a second, serially
  requires grained<P> || varied<P> || std::constructible_from<P, std::uint64_t>;
  { p.valid(r) } -> std::same_as<bool>;
  { p.work(r) } -> std::convertible_to<std::uint64_t>;
};

/// Optional: runs before each repetition, outside the timed part.
template <class P>
concept prepared = requires(P& p) {
  p.prepare();
};

struct options {
  unsigned workers = std::thread::hardware_concurrency();
  std::uint64_t size = 0;
  std::uint64_t grain = 0;
  std::size_t variant = 0;
  unsigned repeat = 5;
  double seconds = 0;  // no further repetition begins after this time; 0: no limit
  bool json = false;
};

[[noreturn]] inline void refuse(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(2);
}

template <class T>
T number(std::string_view option, const char* text) {
  T value{};
  const char* const end = text == nullptr ? nullptr : text + std::strlen(text);
  if (text == nullptr || *text == '\0') refuse(std::string(option) + " needs a number");
  const auto [stop, error] = std::from_chars(text, end, value);
  if (error != std::errc{} || stop != end) refuse(std::string(option) + " needs a number, not '" + text + "'");
  return value;
}

template <varied P>
std::size_t variant_called(const char* name) {
  std::string known;
  for (std::size_t i = 0; i < std::size(P::k_variants); ++i) {
    if (name != nullptr && P::k_variants[i] == name) return i;
    known.append(i == 0 ? "" : ", ").append(P::k_variants[i]);
  }
  refuse("--variant needs one of " + known);
}

template <problem_kernel P>
options parse(int argc, char** argv) {
  options o;
  o.size = P::k_size;
  if constexpr (grained<P>) o.grain = P::k_grain;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if constexpr (varied<P>) {
      if (option == "--variant") {
        o.variant = variant_called<P>(argv[++i]);
        continue;
      }
    }
    if (option == "--json") {
      o.json = true;
    } else if (option == "--test") {
      o.size = P::k_test_size;
      o.repeat = 1;
    } else if (option == "--workers") {
      o.workers = number<unsigned>(option, argv[++i]);
    } else if (option == "--size") {
      o.size = number<std::uint64_t>(option, argv[++i]);
    } else if (grained<P> && option == "--grain") {
      o.grain = number<std::uint64_t>(option, argv[++i]);
    } else if (option == "--repeat") {
      o.repeat = number<unsigned>(option, argv[++i]);
    } else if (option == "--seconds") {
      o.seconds = number<double>(option, argv[++i]);
    } else {
      refuse(
          "usage: " + std::string(argv[0]) +
          " [--workers W] [--size N] [--grain G] [--variant V] [--repeat R] [--seconds S] [--json] [--test]\n" +
          "  --grain, --variant: for problems that have them; --seconds: begin no further repetition after this time; "
          "--test: a "
          "small size, once");
    }
  }
  if (o.workers == 0 || o.workers > 1024) refuse("--workers needs 1 to 1024");
  if (o.repeat == 0) refuse("--repeat needs at least 1");
  if (std::string_view(SHOAL_PROBLEM_RUNTIME) == "serial") o.workers = 1;
  return o;
}

template <problem_kernel P>
class measurement {
public:
  measurement(int argc, char** argv) : options_(parse<P>(argc, argv)), problem_(make(options_)) {}

  unsigned workers() const { return options_.workers; }
  /// For programs that prepare something once for all runs.
  P& problem() { return problem_; }

  /// Calls `body` with the problem; it returns the result (void: the problem contains it). One warm-up call, then
  /// --repeat calls.
  template <class F>
  requires std::invocable<F&, P&>
  void run(F&& body) {
    using clock = std::chrono::steady_clock;
    const auto since = [](clock::time_point start) {
      return std::chrono::duration<double>(clock::now() - start).count();
    };
    const auto begin = clock::now();
    for (unsigned i = 0; i <= options_.repeat; ++i) {
      const bool late = options_.seconds > 0 && since(begin) > options_.seconds;
      if (late && !seconds_.empty()) return;
      if constexpr (prepared<P>) problem_.prepare();
      const std::clock_t cpu = std::clock();
      const auto start = clock::now();
      const typename P::result r = call(body);
      const double seconds = since(start);
      const double cpu_seconds = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
      const std::uint64_t work = problem_.work(r);
      if (!problem_.valid(r) || (i > 0 && work != work_)) wrong_ = true;
      work_ = work;
      // If the warm-up alone exceeds the time limit, it counts as the measurement.
      if (i == 0 && (options_.seconds <= 0 || seconds <= options_.seconds)) continue;
      seconds_.push_back(seconds);
      cpu_seconds_.push_back(cpu_seconds);
    }
  }

  /// Prints the JSON object, or a line of text. Returns the exit status.
  int finish() const {
    const bool valid = !wrong_ && !seconds_.empty();
    const auto size = static_cast<unsigned long long>(options_.size);
    const auto work = static_cast<unsigned long long>(work_);
    if (options_.json) {
      std::printf(R"({"problem": "%s", "runtime": "%s", "size": %llu, "workers": %u, )", P::k_name,
                  SHOAL_PROBLEM_RUNTIME, size, options_.workers);
      if constexpr (varied<P>)
        std::printf(R"("variant": "%s", )", std::string(P::k_variants[options_.variant]).c_str());
      if (grained<P>) std::printf(R"("grain": %llu, )", static_cast<unsigned long long>(options_.grain));
      std::printf(R"("work": %llu, "work_unit": "%s", "valid": %s, )", work, P::k_work_unit, valid ? "true" : "false");
      list("seconds", seconds_);
      std::printf(", ");
      list("cpu_seconds", cpu_seconds_);
      std::printf("}\n");
    } else {
      double least = seconds_.empty() ? 0 : seconds_.front();
      for (const double s : seconds_) least = s < least ? s : least;
      std::printf("%s by %s: size %llu, workers %u: %.6f s at best of %zu, %.2f ns per %s, %llu of them, %s\n",
                  P::k_name, SHOAL_PROBLEM_RUNTIME, size, options_.workers, least, seconds_.size(),
                  least * 1e9 / static_cast<double>(work_ == 0 ? 1 : work_), P::k_work_unit, work,
                  valid ? "verified" : "WRONG");
    }
    return valid && std::fflush(stdout) == 0 ? 0 : 1;
  }

private:
  template <class F>
  typename P::result call(F& body) {
    if constexpr (std::is_void_v<std::invoke_result_t<F&, P&>>)
      return body(problem_), typename P::result{};
    else
      return body(problem_);
  }

  static P make(const options& o) {
    try {
      if constexpr (grained<P>)
        return P(o.size, o.grain);
      else if constexpr (varied<P>)
        return P(o.size, o.variant);
      else
        return P(o.size);
    } catch (const std::exception& e) {
      refuse(std::string(P::k_name) + ": " + e.what());
    }
  }

  static void list(const char* name, const std::vector<double>& values) {
    std::printf(R"("%s": [)", name);
    for (std::size_t i = 0; i < values.size(); ++i) std::printf("%s%.9f", i == 0 ? "" : ", ", values[i]);
    std::printf("]");
  }

  options options_;
  P problem_;
  std::vector<double> seconds_;
  std::vector<double> cpu_seconds_;
  std::uint64_t work_ = 0;
  bool wrong_ = false;
};

}  // namespace problems
