// SPDX-License-Identifier: Apache-2.0
#include "gmt/loops.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "gmt/array.hpp"
#include "gmt/handles.hpp"
#include "gmt/node_state.hpp"
#include "gmt/spawn.hpp"
#include "gmt/task_state.hpp"
#include "remote/late_images.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/detail/loop_run.hpp"

namespace shoal::gmt {
namespace {

using detail::k_share_words;
using detail::loop_share;
using detail::packed;

// Behind the share in a message; the arguments follow.
struct loop_header {
  std::uint64_t code = 0;
  std::int64_t array = GMT_DATA_NULL;
  std::uint64_t iterations = 0;
  std::uint64_t per_task = 0;
  std::uint32_t argument_bytes = 0;
  gmt_handle_t handle = GMT_HANDLE_NULL;
  std::uint32_t in_tasks = 0;
  std::uint32_t unused = 0;  // all bytes that travel have a value
};
constexpr std::size_t k_loop_header_words = packed<loop_header>::k_words;
static_assert(k_share_words + k_loop_header_words + detail::words_for(k_most_argument_bytes) <=
              detail::k_most_call_words);

class share_tasks {
public:
  share_tasks(const loop_share& share, const loop_header& h, remote::plain_function code, const void* arguments,
              handle_account* account) noexcept
      : share_(share), header_(h), code_(code), arguments_(arguments), account_(account) {}

  void run() const {
    const detail::loop_plan plan;
    if (header_.in_tasks != 0) {
      const auto task = [this](std::uint64_t k) {
        const std::uint64_t first = share_.position(k) * header_.per_task;
        call(first, std::min(header_.per_task, header_.iterations - first));
      };
      return detail::run_for<false>(detail::number_range<std::uint64_t>(0, share_.count), task, plan);
    }
    if (header_.per_task == 0) {
      const auto part = [this](const range1d& r) { call(share_.first + r.begin(), r.size()); };
      return detail::run_for<false>(detail::number_range<std::uint64_t>(0, share_.count), part, plan);
    }
    const std::uint64_t per_task = header_.per_task;
    const std::uint64_t tasks = share_.count / per_task + (share_.count % per_task != 0 ? 1 : 0);
    const auto task = [this, per_task](std::uint64_t k) {
      const std::uint64_t done = k * per_task;
      call(share_.first + done, std::min(per_task, share_.count - done));
    };
    detail::run_for<false>(detail::number_range<std::uint64_t>(0, tasks), task, plan);
  }

private:
  void call(std::uint64_t first, std::uint64_t n) const {
    task_scope scope(account_, header_.handle);
    count(event::task);
    if (header_.array == GMT_DATA_NULL)
      reinterpret_cast<gmt_for_loop_func_t>(code_)(first, n, arguments_, header_.handle);
    else
      reinterpret_cast<gmt_for_each_func_t>(code_)(header_.array, first, n, arguments_, header_.handle);
    scope.end();
  }

  const loop_share& share_;
  const loop_header& header_;
  const remote::plain_function code_;
  const void* const arguments_;
  handle_account* const account_;
};

std::size_t run_loop_share(std::uint32_t, std::span<const std::uint64_t> words, std::uint64_t*) {
  SHOAL_ASSERT(words.size() >= detail::k_rule_words + k_loop_header_words, k_misshapen);
  const loop_share share = detail::arrived_share(words);
  const auto header = packed<loop_header>::read(words.data() + detail::k_rule_words);
  const auto arguments = words.subspan(detail::k_rule_words + k_loop_header_words);
  const remote::plain_function code = remote::decode_plain(header.code);
  SHOAL_ASSERT(code != nullptr, "a loop names no function: the nodes' programs differ");
  SHOAL_ASSERT(detail::words_for(header.argument_bytes) == arguments.size(), k_misshapen);
  const detail::outermost_scope scope(share.outermost);
  const handle_member member(header.handle);
  share_tasks(share, header, code, arguments.data(), member.account()).run();
  return 0;
}

std::vector<std::uint64_t> pack(const loop_request& r, gmt_handle_t handle) {
  if (r.argument_bytes > k_most_argument_bytes) refuse(r.name, "the arguments are longer than gmt_max_args_per_task()");
  if (r.code == nullptr) refuse(r.name, "the function is NULL");
  if (r.argument_bytes != 0 && r.arguments == nullptr) refuse(r.name, "the arguments are NULL, but have a size");
  std::vector<std::uint64_t> words(k_share_words + k_loop_header_words + detail::words_for(r.argument_bytes));
  const loop_header h{remote::encode_plain_of_task(r.code),         r.array, r.iterations,        r.per_task,
                      static_cast<std::uint32_t>(r.argument_bytes), handle,  r.in_tasks ? 1U : 0U};
  packed<loop_header>::write(h, words.data() + k_share_words);
  if (r.argument_bytes != 0)
    std::memcpy(words.data() + k_share_words + k_loop_header_words, r.arguments, r.argument_bytes);
  return words;
}

// Returns this node's share, if there is one and it is left to the caller.
std::optional<loop_share> begin_calls(detail::completion& calls, loop_request& r, std::vector<std::uint64_t>& words,
                                      detail::call_tree::own_part own) {
  count(event::loop);
  r.shares.set({});
  return detail::begin_loop_calls(calls, r.shares, detail::callee_of<run_loop_share>(), words, own);
}

void begin_all(detail::completion& calls, loop_request& r, gmt_handle_t handle) {
  auto words = pack(r, handle);
  begin_calls(calls, r, words, detail::call_tree::own_part::called);
}

}  // namespace

void run(loop_request& r) {
  auto words = pack(r, GMT_HANDLE_NULL);
  detail::completion calls;
  const auto mine = begin_calls(calls, r, words, detail::call_tree::own_part::left_out);
  if (mine) {
    const auto header = packed<loop_header>::read(words.data() + k_share_words);
    share_tasks(*mine, header, r.code, words.data() + k_share_words + k_loop_header_words, nullptr).run();
  }
  calls.wait_and_rethrow();
}

void begin(loop_request& r) {
  task_state* const s = task_state::here();
  if (s == nullptr) return run(r);  // nobody would wait for it
  begun_operations& b = s->operations();
  hold_back(b.loops);
  begin_all(b.loops, r, GMT_HANDLE_NULL);
}

void begin_with_handle(loop_request& r, gmt_handle_t handle) {
  if (handle == GMT_HANDLE_NULL) return begin(r);
  spawn_under(r.name, handle, [&](handle_spawn& spawn) { begin_all(spawn.calls, r, handle); });
}

}  // namespace shoal::gmt

namespace {

using namespace shoal::gmt;
using shoal::detail::loop_shares;

loop_request request(const char* name, std::uint64_t num_it, std::uint64_t per_task, const void* args,
                     std::uint64_t args_bytes) {
  loop_request r;
  r.name = name;
  r.iterations = num_it;
  r.per_task = per_task;
  r.arguments = args;
  r.argument_bytes = args_bytes;
  return r;
}

loop_request loop(const char* name, std::uint64_t num_it, std::uint32_t per_task, gmt_for_loop_func_t func,
                  const void* args, std::uint32_t args_bytes, spawn_policy_t policy) {
  loop_request r = request(name, num_it, per_task, args, args_bytes);
  r.code = reinterpret_cast<shoal::remote::plain_function>(func);
  const shoal::detail::port& p = shoal::detail::port_here();
  switch (policy) {
    case GMT_SPAWN_LOCAL: r.shares = loop_shares::on(p.node, 0, num_it); return r;
    case GMT_SPAWN_REMOTE:
      r.shares = p.nodes == 1 ? loop_shares::on(p.node, 0, num_it) : loop_shares::elsewhere(0, num_it);
      return r;
    case GMT_SPAWN_PARTITION_FROM_ZERO: r.shares = loop_shares::everywhere(0, num_it); return r;
    case GMT_SPAWN_PARTITION_FROM_RANDOM:
      r.shares = loop_shares::everywhere(0, num_it, static_cast<std::uint32_t>(gmt_rand() % p.nodes));
      return r;
    case GMT_SPAWN_PARTITION_FROM_HERE: r.shares = loop_shares::everywhere(0, num_it, p.node); return r;
    case GMT_SPAWN_SPREAD: {
      if (per_task == 0) r.per_task = std::max<std::uint64_t>(num_it / p.nodes, 1);
      r.in_tasks = true;
      r.shares = loop_shares::dealt(num_it / r.per_task + (num_it % r.per_task != 0 ? 1 : 0));
      return r;
    }
  }
  refuse(name, "there is no such spawn policy");
}

loop_request loop_on(const char* name, std::uint32_t node, std::uint64_t num_it, std::uint32_t per_task,
                     gmt_for_loop_func_t func, const void* args, std::uint32_t args_bytes) {
  if (node >= gmt_num_nodes()) refuse(name, "there is no such node; nodes are numbered from 0 to gmt_num_nodes() - 1");
  loop_request r = request(name, num_it, per_task, args, args_bytes);
  r.code = reinterpret_cast<shoal::remote::plain_function>(func);
  r.shares = loop_shares::on(node, 0, num_it);
  return r;
}

loop_request for_each(const char* name, gmt_data_t array, std::uint64_t per_task, std::uint64_t first,
                      std::uint64_t count, gmt_for_each_func_t func, const void* args, std::uint64_t args_bytes) {
  std::uint64_t in_copy = first;
  const shoal::detail::array_layout& layout = checked(name, array, in_copy, count);
  loop_request r = request(name, count, per_task, args, args_bytes);
  r.code = reinterpret_cast<shoal::remote::plain_function>(func);
  r.array = array;
  r.shares = is_replicated(array) ? loop_shares::everywhere(first, first + count)
                                  : loop_shares::owners(layout, first, first + count);
  return r;
}

}  // namespace

void gmt_for_loop(uint64_t num_it, uint32_t it_per_task, gmt_for_loop_func_t func, const void* args,
                  uint32_t args_bytes, spawn_policy_t policy) {
  auto r = loop("gmt_for_loop", num_it, it_per_task, func, args, args_bytes, policy);
  run(r);
}
void gmt_for_loop_nb(uint64_t num_it, uint32_t it_per_task, gmt_for_loop_func_t func, const void* args,
                     uint32_t args_bytes, spawn_policy_t policy) {
  auto r = loop("gmt_for_loop_nb", num_it, it_per_task, func, args, args_bytes, policy);
  begin(r);
}
void gmt_for_loop_with_handle(uint64_t num_it, uint32_t it_per_task, gmt_for_loop_func_t func, const void* args,
                              uint32_t args_bytes, spawn_policy_t policy, gmt_handle_t handle) {
  auto r = loop("gmt_for_loop_with_handle", num_it, it_per_task, func, args, args_bytes, policy);
  begin_with_handle(r, handle);
}

void gmt_for_loop_on_node(uint32_t node, uint64_t num_it, uint32_t it_per_task, gmt_for_loop_func_t func,
                          const void* args, uint32_t args_bytes) {
  auto r = loop_on("gmt_for_loop_on_node", node, num_it, it_per_task, func, args, args_bytes);
  run(r);
}
void gmt_for_loop_on_node_nb(uint32_t node, uint64_t num_it, uint32_t it_per_task, gmt_for_loop_func_t func,
                             const void* args, uint32_t args_bytes) {
  auto r = loop_on("gmt_for_loop_on_node_nb", node, num_it, it_per_task, func, args, args_bytes);
  begin(r);
}
void gmt_for_loop_on_node_with_handle(uint32_t node, uint64_t num_it, uint32_t it_per_task, gmt_for_loop_func_t func,
                                      const void* args, uint32_t args_bytes, gmt_handle_t handle) {
  auto r = loop_on("gmt_for_loop_on_node_with_handle", node, num_it, it_per_task, func, args, args_bytes);
  begin_with_handle(r, handle);
}

void gmt_for_each(gmt_data_t array, uint64_t elems_per_task, uint64_t elems_offset, uint64_t num_elems,
                  gmt_for_each_func_t func, const void* args, uint64_t args_bytes) {
  auto r = for_each("gmt_for_each", array, elems_per_task, elems_offset, num_elems, func, args, args_bytes);
  run(r);
}
void gmt_for_each_nb(gmt_data_t array, uint64_t elems_per_task, uint64_t elems_offset, uint64_t num_elems,
                     gmt_for_each_func_t func, const void* args, uint64_t args_bytes) {
  auto r = for_each("gmt_for_each_nb", array, elems_per_task, elems_offset, num_elems, func, args, args_bytes);
  begin(r);
}
void gmt_for_each_with_handle(gmt_data_t array, uint64_t elems_per_task, uint64_t elems_offset, uint64_t num_elems,
                              gmt_for_each_func_t func, const void* args, uint64_t args_bytes, gmt_handle_t handle) {
  auto r = for_each("gmt_for_each_with_handle", array, elems_per_task, elems_offset, num_elems, func, args, args_bytes);
  begin_with_handle(r, handle);
}

void gmt_wait_for_nb() {
  task_state* const s = task_state::here();
  if (s != nullptr && s->begun != nullptr) s->begun->loops.wait_and_rethrow();
}
