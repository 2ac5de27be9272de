// SPDX-License-Identifier: Apache-2.0
#include "gmt/main_task.hpp"

#include "gmt/node_state.hpp"
#include "gmt/task_state.hpp"
#include "shoal/array.hpp"

namespace shoal::gmt {

int run_main_task(const std::function<int()>& main_task) {
  task_scope scope(nullptr, GMT_HANDLE_NULL);
  const int status = main_task();
  shoal::wait();
  scope.end();
  node_state::here().names.save_all();
  return status;
}

}  // namespace shoal::gmt
