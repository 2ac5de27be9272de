// SPDX-License-Identifier: Apache-2.0
// The functions of gmt.h about calls.
#include "gmt/array.hpp"
#include "gmt/calls.hpp"

namespace {

using namespace shoal::gmt;

call_request on_node(const char* name, std::uint32_t node, gmt_execute_func_t func, const void* args,
                     std::uint32_t args_bytes, void* ret_buf, std::uint32_t* ret_size, preempt_policy_t policy) {
  return {name, node, func, args, args_bytes, {ret_buf, ret_size}, policy};
}

call_request on_data(const char* name, gmt_data_t array, std::uint64_t elem, gmt_execute_func_t func, const void* args,
                     std::uint32_t args_bytes, void* ret_buf, std::uint32_t* ret_size, preempt_policy_t policy) {
  const shoal::detail::array_layout& layout = checked(name, array, elem, 1);
  return on_node(name, layout.locate(elem).node, func, args, args_bytes, ret_buf, ret_size, policy);
}

call_request on_all(const char* name, gmt_execute_func_t func, const void* args, std::uint32_t args_bytes,
                    preempt_policy_t policy) {
  return on_node(name, 0, func, args, args_bytes, nullptr, nullptr, policy);
}

}  // namespace

void gmt_execute_on_node(uint32_t node, gmt_execute_func_t func, const void* args, uint32_t args_bytes, void* ret_buf,
                         uint32_t* ret_size, preempt_policy_t policy) {
  run(on_node("gmt_execute_on_node", node, func, args, args_bytes, ret_buf, ret_size, policy));
}
void gmt_execute_on_node_nb(uint32_t node, gmt_execute_func_t func, const void* args, uint32_t args_bytes,
                            void* ret_buf, uint32_t* ret_size, preempt_policy_t policy) {
  begin(on_node("gmt_execute_on_node_nb", node, func, args, args_bytes, ret_buf, ret_size, policy));
}
void gmt_execute_on_node_with_handle(uint32_t node, gmt_execute_func_t func, const void* args, uint32_t args_bytes,
                                     void* ret_buf, uint32_t* ret_size, preempt_policy_t policy, gmt_handle_t handle) {
  begin_with_handle(on_node("gmt_execute_on_node_with_handle", node, func, args, args_bytes, ret_buf, ret_size, policy),
                    handle);
}
bool gmt_try_execute_on_node(uint32_t node, gmt_execute_func_t func, const void* args, uint32_t args_bytes,
                             void* ret_buf, uint32_t* ret_size, preempt_policy_t policy) {
  const auto r = on_node("gmt_try_execute_on_node", node, func, args, args_bytes, ret_buf, ret_size, policy);
  return has_room(r) && (run(r), true);
}
bool gmt_try_execute_on_node_nb(uint32_t node, gmt_execute_func_t func, const void* args, uint32_t args_bytes,
                                void* ret_buf, uint32_t* ret_size, preempt_policy_t policy) {
  const auto r = on_node("gmt_try_execute_on_node_nb", node, func, args, args_bytes, ret_buf, ret_size, policy);
  return has_room(r) && (begin(r), true);
}
bool gmt_try_execute_on_node_with_handle(uint32_t node, gmt_execute_func_t func, const void* args, uint32_t args_bytes,
                                         void* ret_buf, uint32_t* ret_size, preempt_policy_t policy,
                                         gmt_handle_t handle) {
  const auto r =
      on_node("gmt_try_execute_on_node_with_handle", node, func, args, args_bytes, ret_buf, ret_size, policy);
  return has_room(r) && (begin_with_handle(r, handle), true);
}

void gmt_execute_on_data(gmt_data_t array, uint64_t elem, gmt_execute_func_t func, const void* args,
                         uint32_t args_bytes, void* ret_buf, uint32_t* ret_size, preempt_policy_t policy) {
  run(on_data("gmt_execute_on_data", array, elem, func, args, args_bytes, ret_buf, ret_size, policy));
}
void gmt_execute_on_data_nb(gmt_data_t array, uint64_t elem, gmt_execute_func_t func, const void* args,
                            uint32_t args_bytes, void* ret_buf, uint32_t* ret_size, preempt_policy_t policy) {
  begin(on_data("gmt_execute_on_data_nb", array, elem, func, args, args_bytes, ret_buf, ret_size, policy));
}
void gmt_execute_on_data_with_handle(gmt_data_t array, uint64_t elem, gmt_execute_func_t func, const void* args,
                                     uint32_t args_bytes, void* ret_buf, uint32_t* ret_size, preempt_policy_t policy,
                                     gmt_handle_t handle) {
  begin_with_handle(
      on_data("gmt_execute_on_data_with_handle", array, elem, func, args, args_bytes, ret_buf, ret_size, policy),
      handle);
}
bool gmt_try_execute_on_data(gmt_data_t array, uint64_t elem, gmt_execute_func_t func, const void* args,
                             uint32_t args_bytes, void* ret_buf, uint32_t* ret_size, preempt_policy_t policy) {
  const auto r = on_data("gmt_try_execute_on_data", array, elem, func, args, args_bytes, ret_buf, ret_size, policy);
  return has_room(r) && (run(r), true);
}
bool gmt_try_execute_on_data_nb(gmt_data_t array, uint64_t elem, gmt_execute_func_t func, const void* args,
                                uint32_t args_bytes, void* ret_buf, uint32_t* ret_size, preempt_policy_t policy) {
  const auto r = on_data("gmt_try_execute_on_data_nb", array, elem, func, args, args_bytes, ret_buf, ret_size, policy);
  return has_room(r) && (begin(r), true);
}
bool gmt_try_execute_on_data_with_handle(gmt_data_t array, uint64_t elem, gmt_execute_func_t func, const void* args,
                                         uint32_t args_bytes, void* ret_buf, uint32_t* ret_size,
                                         preempt_policy_t policy, gmt_handle_t handle) {
  const auto r =
      on_data("gmt_try_execute_on_data_with_handle", array, elem, func, args, args_bytes, ret_buf, ret_size, policy);
  return has_room(r) && (begin_with_handle(r, handle), true);
}

void gmt_execute_on_all(gmt_execute_func_t func, const void* args, uint32_t args_bytes, preempt_policy_t policy) {
  run_on_all(on_all("gmt_execute_on_all", func, args, args_bytes, policy));
}
void gmt_execute_on_all_nb(gmt_execute_func_t func, const void* args, uint32_t args_bytes, preempt_policy_t policy) {
  begin_on_all(on_all("gmt_execute_on_all_nb", func, args, args_bytes, policy));
}
void gmt_execute_on_all_with_handle(gmt_execute_func_t func, const void* args, uint32_t args_bytes,
                                    preempt_policy_t policy, gmt_handle_t handle) {
  begin_on_all_with_handle(on_all("gmt_execute_on_all_with_handle", func, args, args_bytes, policy), handle);
}
