// SPDX-License-Identifier: Apache-2.0
// A stack that the explorer can suspend and resume, for a model thread. The explorer is a single thread of the
// operating system, so a switch is a jump and the order of all steps is known. A fiber runs a function that never
// returns. Sanitizers are notified of every switch.
#pragma once

#include <cstddef>
#include <memory>

#include <boost/context/detail/fcontext.hpp>

#if SHOAL_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#if SHOAL_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace shoal::model {

class fiber {
public:
  using body = void (*)(void* argument);

  // The stack that is already running.
  fiber() {
#if SHOAL_TSAN
    tsan_ = __tsan_get_current_fiber();
#endif
  }

  fiber(body run, void* argument)
      : run_(run), argument_(argument), stack_(std::make_unique<std::byte[]>(k_stack_bytes)) {
    context_ = boost::context::detail::make_fcontext(stack_.get() + k_stack_bytes, k_stack_bytes, &fiber::enter);
#if SHOAL_ASAN
    bottom_ = stack_.get();
    bytes_ = k_stack_bytes;
#endif
#if SHOAL_TSAN
    tsan_ = __tsan_create_fiber(0);
#endif
  }
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;
  ~fiber() {
#if SHOAL_TSAN
    if (stack_) __tsan_destroy_fiber(tsan_);
#endif
  }

  // Switches from the running fiber `from` to `to`; returns when another fiber switches back.
  static void go(fiber& from, fiber& to) {
    hop way{&from, &to};
#if SHOAL_ASAN
    __sanitizer_start_switch_fiber(&from.fake_stack_, to.bottom_, to.bytes_);
#endif
#if SHOAL_TSAN
    __tsan_switch_to_fiber(to.tsan_, 0);
#endif
    arrive(boost::context::detail::jump_fcontext(to.context_, &way));
  }

private:
  static constexpr std::size_t k_stack_bytes = 256 * 1024;

  struct hop {
    fiber* from;
    fiber* to;
  };

  static fiber& arrive(boost::context::detail::transfer_t arrival) {
    const hop way = *static_cast<hop*>(arrival.data);
    way.from->context_ = arrival.fctx;
#if SHOAL_ASAN
    __sanitizer_finish_switch_fiber(way.to->fake_stack_, &way.from->bottom_, &way.from->bytes_);
#endif
    return *way.to;
  }

  static void enter(boost::context::detail::transfer_t arrival) {
    const fiber& self = arrive(arrival);
    self.run_(self.argument_);
  }

  body run_ = nullptr;
  void* argument_ = nullptr;
  std::unique_ptr<std::byte[]> stack_;
  boost::context::detail::fcontext_t context_ = nullptr;
#if SHOAL_ASAN
  void* fake_stack_ = nullptr;
  const void* bottom_ = nullptr;
  std::size_t bytes_ = 0;
#endif
#if SHOAL_TSAN
  void* tsan_ = nullptr;
#endif
};

}  // namespace shoal::model
