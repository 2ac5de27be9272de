// SPDX-License-Identifier: Apache-2.0
#include "shoal/sync.hpp"

#include "machine/futex.hpp"

namespace shoal::detail {

void wait_list::wait_for_guard() noexcept { machine::yield_processor(); }

void wait_list::wait() noexcept {
  waiter me;
  me.task = this_task();
  push(me);
  unlock();
  leave();
}

void wait_list::wake_all(waiter* w) noexcept {
  while (w != nullptr) {
    waiter* next = w->next;  // before its task may go on and take the node with it
    wake(w->task);
    w = next;
  }
}

}  // namespace shoal::detail
