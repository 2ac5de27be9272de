// SPDX-License-Identifier: Apache-2.0
// A body that a thread of the program gives to workers, and the promise of its result.
// Who may call: pool.hpp and job.hpp. Shown by tests/unit/runtime/pool_test.cpp, job_test.cpp.
#pragma once

#include <exception>
#include <future>
#include <memory>
#include <type_traits>
#include <utility>

#include "shoal/detail/tsan_ignore.hpp"

namespace shoal::detail {

struct submission {
  submission() = default;
  submission(const submission&) = delete;
  submission& operator=(const submission&) = delete;
  virtual ~submission() = default;
  virtual void run() noexcept = 0;
  const void* code = nullptr;  // of the body, for messages
};

template <class F, class R>
struct promised final : submission {
  template <class G>
  promised(std::in_place_t, G&& f) : body(std::forward<G>(f)) {
    code = reinterpret_cast<const void*>(&promised::call);
  }
  static R call(F& f) { return f(); }
  void run() noexcept override {
    try {
      if constexpr (std::is_void_v<R>) {
        call(body);
        const tsan_ignore_scope ignore;  // the standard library keeps thread-local data, which TSan blames on the stack
        result.set_value();
      } else {
        R&& value = call(body);
        const tsan_ignore_scope ignore;
        result.set_value(std::forward<R>(value));
      }
    } catch (...) {
      const tsan_ignore_scope ignore;
      result.set_exception(std::current_exception());
    }
  }
  F body;
  std::promise<R> result;
};

/// A submission that runs a copy of `f`, and the future of its result.
template <class F>
auto make_submission(F&& f) {
  using body = std::decay_t<F>;
  using result = std::invoke_result_t<body&>;
  auto made = std::make_unique<promised<body, result>>(std::in_place, std::forward<F>(f));
  auto future = made->result.get_future();
  return std::pair<std::unique_ptr<submission>, std::future<result>>(std::move(made), std::move(future));
}

}  // namespace shoal::detail
