// SPDX-License-Identifier: Apache-2.0
// Of ucx_wire: endpoints from their making to their end.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "net/transports/ucx/ucx_wire.hpp"

namespace shoal::net {
namespace {

using namespace std::chrono_literals;
constexpr auto k_time_to_leave = 500ms;
constexpr auto k_time_to_close = 500ms;

// Until all are complete, or the time is over. Those that are not complete remain UCX's.
void wait_and_free(ucp_worker_h worker, const std::vector<void*>& requests, std::chrono::nanoseconds limit) noexcept {
  const auto end = std::chrono::steady_clock::now() + limit;
  const auto complete = [](void* request) { return ucp_request_check_status(request) != UCS_INPROGRESS; };
  while (!std::all_of(requests.begin(), requests.end(), complete) && std::chrono::steady_clock::now() < end)
    if (ucp_worker_progress(worker) == 0) std::this_thread::yield();
  for (void* request : requests) ucp_request_free(request);
}

}  // namespace

void ucx_wire::meet(std::uint32_t node) {
  check(connect_to(peers_[node]), fmt::format("connect to node {}", node).c_str());
}

ucs_status_t ucx_wire::connect_to(peer& p) noexcept {
  if (p.endpoint != nullptr) return UCS_OK;
  ucp_ep_params_t parameters{};
  parameters.field_mask =
      UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  parameters.address = reinterpret_cast<const ucp_address_t*>(p.address.data());
  parameters.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  parameters.err_handler = {on_error, &p};
  return ucp_ep_create(worker_, &parameters, &p.endpoint);
}

bool ucx_wire::can_reach(peer& p, bool memory) noexcept {
  if (p.lost) return false;
  if (p.endpoint == nullptr) [[unlikely]] {
    if (const ucs_status_t status = connect_to(p); status != UCS_OK) {
      lose(p, status);
      return false;
    }
  }
  if (memory && p.rkey == nullptr) [[unlikely]]
    return !p.key.empty() && ucp_ep_rkey_unpack(p.endpoint, p.key.data(), &p.rkey) == UCS_OK;
  return true;
}

void ucx_wire::on_error(void* peer_of_it, ucp_ep_h, ucs_status_t status) {
  auto* const p = static_cast<peer*>(peer_of_it);
  p->owner->lose(*p, status);
}

void ucx_wire::lose(peer& p, ucs_status_t why) noexcept {
  if (p.lost) return;
  p.lost = true;
  p.why = why;
  news_ = true;
}

void ucx_wire::tell_losses(wire_user& user) noexcept {
  news_ = false;
  for (peer& p : peers_) {
    if (!p.lost || p.told) continue;
    p.told = true;
    user.unreachable(p.node, ucs_status_string(p.why));
  }
}

void ucx_wire::close_endpoints() noexcept {
  ucp_request_param_t parameters{};
  std::vector<void*> requests;
  for (peer& p : peers_) {
    if (p.endpoint == nullptr || p.lost) continue;
    if (void* const request = ucp_ep_flush_nbx(p.endpoint, &parameters); UCS_PTR_IS_PTR(request))
      requests.push_back(request);
  }
  wait_and_free(worker_, requests, k_time_to_leave);
  requests.clear();
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  parameters.flags = UCP_EP_CLOSE_FLAG_FORCE;
  for (peer& p : peers_) {
    if (p.rkey != nullptr) ucp_rkey_destroy(p.rkey);
    if (p.endpoint == nullptr) continue;
    if (void* const request = ucp_ep_close_nbx(p.endpoint, &parameters); UCS_PTR_IS_PTR(request))
      requests.push_back(request);
  }
  wait_and_free(worker_, requests, k_time_to_close);
}

// UCX 1.13 has no other way to ask than the text for people: "lane[0]:  3:posix/memory.0 md[1] ...".
std::vector<std::string> ucx_wire::transports() const {
  std::vector<std::string> names;
  for (const peer& p : peers_) {
    if (p.endpoint == nullptr) continue;
    char* text = nullptr;
    std::size_t bytes = 0;
    std::FILE* const stream = ::open_memstream(&text, &bytes);
    if (stream == nullptr) continue;
    ucp_ep_print_info(p.endpoint, stream);
    std::fclose(stream);
    std::string_view rest(text, bytes);
    for (auto lane = rest.find("lane["); lane != rest.npos; lane = rest.find("lane[")) {
      rest.remove_prefix(rest.find(':', lane) + 1);
      const auto slash = rest.find('/');
      const auto colon = rest.rfind(':', slash);
      if (slash == rest.npos || colon == rest.npos) continue;
      std::string name(rest.substr(colon + 1, slash - colon - 1));
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
    }
    std::free(text);
  }
  return names;
}

}  // namespace shoal::net
