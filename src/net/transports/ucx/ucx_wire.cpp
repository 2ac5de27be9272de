// SPDX-License-Identifier: Apache-2.0
#include "net/transports/ucx/ucx_wire.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace shoal::net {
namespace {

constexpr unsigned k_message_id = 1;
constexpr std::uint64_t k_most_early = 1 << 20;
constexpr unsigned k_rounds = 16;  // of UCX's progress in one of ours, while there is something

}  // namespace

ucx_wire::ucx_wire(const ucx_context& context, const network_request& request)
    : context_(context),
      token_(request.token),
      most_bytes_(request.most_words * sizeof(std::uint64_t)),
      peers_(request.nodes) {
  ucp_worker_params_t parameters{};
  parameters.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE | UCP_WORKER_PARAM_FIELD_AM_ALIGNMENT;
  parameters.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  parameters.am_alignment = alignof(std::uint64_t);
  check(ucp_worker_create(context.get(), &parameters, &worker_), "make a worker");
  ucp_am_handler_param_t handler{};
  handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                       UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.id = k_message_id;
  handler.flags = UCP_AM_FLAG_WHOLE_MSG | UCP_AM_FLAG_PERSISTENT_DATA;
  handler.cb = on_message;
  handler.arg = this;
  try {
    check(ucp_worker_set_am_recv_handler(worker_, &handler), "take messages");
  } catch (...) {
    ucp_worker_destroy(worker_);
    throw;
  }
  if (ucp_worker_get_efd(worker_, &event_) != UCS_OK) event_ = -1;
  for (std::uint32_t node = 0; node < request.nodes; ++node) {
    peers_[node].node = node;
    peers_[node].owner = this;
  }
}

ucx_wire::~ucx_wire() {
  close_endpoints();
  for (kept& k : kept_)
    if (k.data != nullptr) ucp_am_data_release(worker_, k.data);
  for (peer& p : peers_)
    for (auto& [number, message] : p.waiting)
      if (message.data != nullptr) ucp_am_data_release(worker_, message.data);
  ucp_worker_destroy(worker_);
}

std::vector<std::byte> ucx_wire::address() const {
  ucp_address_t* address = nullptr;
  std::size_t bytes = 0;
  check(ucp_worker_get_address(worker_, &address, &bytes), "say where it can be reached");
  const std::byte* first = reinterpret_cast<const std::byte*>(address);
  std::vector<std::byte> copy(first, first + bytes);
  ucp_worker_release_address(worker_, address);
  return copy;
}

void ucx_wire::introduce(std::uint32_t node, std::vector<std::byte> address, std::vector<std::byte> key,
                         std::uint64_t base) {
  peer& p = peers_[node];
  p.address = std::move(address);
  p.key = std::move(key);
  p.base = base;
}

// ---- messages

void ucx_wire::send(std::uint32_t node, const message_label& label, std::uint64_t* words, std::size_t count,
                    std::atomic<bool>* sent) noexcept {
  peer& p = peers_[node];
  if (!can_reach(p, false)) {
    if (sent != nullptr) sent->store(true, std::memory_order_release);
    return;
  }
  soil(p);
  operation* const o = take_operation(p, sent);
  o->head = {label, p.sent++, token_};
  ucp_request_param_t parameters{};
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
  parameters.flags = UCP_AM_SEND_FLAG_EAGER;
  parameters.cb.send = on_sent;
  parameters.user_data = o;
  const ucs_status_ptr_t request =
      ucp_am_send_nbx(p.endpoint, k_message_id, &o->head, sizeof o->head, words, count * sizeof *words, &parameters);
  if (UCS_PTR_IS_PTR(request)) return;
  if (UCS_PTR_IS_ERR(request)) lose(p, UCS_PTR_STATUS(request));
  if (sent != nullptr) sent->store(true, std::memory_order_release);
  finish(o);
}

void ucx_wire::on_sent(void* request, ucs_status_t status, void* operation_of_it) {
  auto* const o = static_cast<operation*>(operation_of_it);
  if (status != UCS_OK) o->owner->lose(*o->to, status);
  if (o->done != nullptr) o->done->store(true, std::memory_order_release);
  o->owner->finish(o);
  ucp_request_free(request);
}

ucs_status_t ucx_wire::on_message(void* self, const void* header, std::size_t header_bytes, void* data,
                                  std::size_t bytes, const ucp_am_recv_param_t* parameters) {
  ucx_wire& w = *static_cast<ucx_wire*>(self);
  const auto head = ucx_heading::read(header, header_bytes, w.token_);
  if (!head) return UCS_OK;               // a stranger's
  if (w.user_ == nullptr) return UCS_OK;  // the end has begun
  // No node of a job sends these. Of a rendezvous the data have not come: `data` is not words.
  if ((parameters->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0 || head->label.from >= w.peers_.size() ||
      bytes > w.most_bytes_ || bytes % sizeof(std::uint64_t) != 0)
    return UCS_OK;
  peer& p = w.peers_[head->label.from];
  if (head->number != p.taken) [[unlikely]] {
    if (head->number - p.taken > k_most_early) return UCS_OK;  // an old one again
    const bool first = p.waiting.emplace(head->number, early{head->label, bytes == 0 ? nullptr : data, bytes}).second;
    return first && bytes != 0 ? UCS_INPROGRESS : UCS_OK;
  }
  ++p.taken;
  const bool stays = w.hand_over(head->label, data, bytes);
  if (!p.waiting.empty()) [[unlikely]]
    w.take_waiting(p);
  return stays ? UCS_INPROGRESS : UCS_OK;
}

void ucx_wire::take_waiting(peer& p) noexcept {
  for (auto next = p.waiting.begin(); next != p.waiting.end() && next->first == p.taken; next = p.waiting.begin()) {
    const early message = next->second;
    p.waiting.erase(next);
    ++p.taken;
    if (!hand_over(message.label, message.data, message.bytes) && message.data != nullptr)
      ucp_am_data_release(worker_, message.data);
  }
}

bool ucx_wire::hand_over(const message_label& label, void* data, std::size_t bytes) noexcept {
  arrived_ = true;
  const std::size_t count = bytes / sizeof(std::uint64_t);
  if (count == 0) {
    user_->arrived({label, nullptr, 0, nullptr});
    return false;
  }
  kept* const k = take_kept();
  const bool askew = reinterpret_cast<std::uintptr_t>(data) % alignof(std::uint64_t) != 0;
  if (askew) {
    k->copy.resize(count);
    std::memcpy(k->copy.data(), data, bytes);
  } else {
    k->data = data;
  }
  const std::uint64_t* const words = askew ? k->copy.data() : static_cast<const std::uint64_t*>(data);
  if (user_->arrived({label, words, count, k})) return !askew;
  k->data = nullptr;
  free_kept_.push_back(k);
  return false;
}

void ucx_wire::give_back(void* token) noexcept {
  kept* const k = static_cast<kept*>(token);
  if (k->data != nullptr) ucp_am_data_release(worker_, k->data);
  k->data = nullptr;
  free_kept_.push_back(k);
}

bool ucx_wire::progress(wire_user& user) noexcept {
  user_ = &user;
  arrived_ = false;
  bool idle = true;
  for (unsigned round = 0; round < k_rounds && ucp_worker_progress(worker_) != 0; ++round) idle = false;
  if (!unflushed_.empty()) flush_some(idle);
  if (news_) [[unlikely]]
    tell_losses(user);
  user_ = nullptr;
  return arrived_;
}

bool ucx_wire::arm() noexcept { return unflushed_.empty() && !news_ && ucp_worker_arm(worker_) == UCS_OK; }

ucx_wire::operation* ucx_wire::take_operation(peer& to, std::atomic<bool>* done) {
  if (free_operations_.empty()) free_operations_.push_back(&operations_.emplace_back());
  operation* const o = free_operations_.back();
  free_operations_.pop_back();
  o->done = done;
  o->owner = this;
  o->to = &to;
  return o;
}

ucx_wire::kept* ucx_wire::take_kept() {
  if (free_kept_.empty()) free_kept_.push_back(&kept_.emplace_back());
  kept* const k = free_kept_.back();
  free_kept_.pop_back();
  return k;
}

// ---- without the other's help

// What a put or a get of this memory is begun with.
ucp_request_param_t ucx_wire::transfer(ucp_send_nbx_callback_t end, void* user_data, const void* memory,
                                       std::size_t bytes) const noexcept {
  ucp_request_param_t parameters{};
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  parameters.cb.send = end;
  parameters.user_data = user_data;
  if (ucp_mem_h mine = context_.registration(memory, bytes)) {
    parameters.op_attr_mask |= UCP_OP_ATTR_FIELD_MEMH;
    parameters.memh = mine;
  }
  return parameters;
}

bool ucx_wire::put(remote_piece to, const void* from, std::size_t bytes, std::atomic<bool>* done) noexcept {
  peer& p = peers_[to.node];
  if (!can_reach(p, true)) return false;
  const ucp_request_param_t parameters = transfer(on_put, &p, from, bytes);
  const ucs_status_ptr_t request = ucp_put_nbx(p.endpoint, from, bytes, p.base + to.offset, p.rkey, &parameters);
  if (UCS_PTR_IS_ERR(request)) return false;
  soil(p);
  p.put.push_back(done);
  return true;
}

void ucx_wire::on_put(void* request, ucs_status_t status, void* peer_of_it) {
  auto* const p = static_cast<peer*>(peer_of_it);
  if (status != UCS_OK) p->owner->lose(*p, status);
  ucp_request_free(request);
}

void ucx_wire::soil(peer& p) {
  if (p.dirty) return;
  p.dirty = true;
  unflushed_.push_back(&p);
}

void ucx_wire::flush_some(bool idle) noexcept {
  std::swap(unflushed_, flushing_now_);
  for (peer* const p : flushing_now_) {
    if (p->lost)
      p->dirty = false;
    else if (p->flushing || (p->put.empty() && !idle))
      unflushed_.push_back(p);
    else
      flush(*p);
  }
  flushing_now_.clear();
}

void ucx_wire::flush(peer& p) noexcept {
  p.dirty = false;
  p.flushing = true;
  ++flushes_;
  std::swap(p.put, p.flushed);
  ucp_request_param_t parameters{};
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  parameters.cb.send = on_flushed;
  parameters.user_data = &p;
  const ucs_status_ptr_t request = ucp_ep_flush_nbx(p.endpoint, &parameters);
  if (!UCS_PTR_IS_PTR(request)) flushed(p, UCS_PTR_STATUS(request));
}

void ucx_wire::on_flushed(void* request, ucs_status_t status, void* peer_of_it) {
  auto* const p = static_cast<peer*>(peer_of_it);
  p->owner->flushed(*p, status);
  ucp_request_free(request);
}

void ucx_wire::flushed(peer& p, ucs_status_t status) noexcept {
  p.flushing = false;
  --flushes_;
  if (status != UCS_OK) return lose(p, status);
  for (std::atomic<bool>* done : p.flushed) done->store(true, std::memory_order_release);
  p.flushed.clear();
}

bool ucx_wire::get(remote_piece from, void* to, std::size_t bytes, std::atomic<bool>* done) noexcept {
  peer& p = peers_[from.node];
  if (!can_reach(p, true)) return false;
  operation* const o = take_operation(p, done);
  const ucp_request_param_t parameters = transfer(on_got, o, to, bytes);
  const ucs_status_ptr_t request = ucp_get_nbx(p.endpoint, to, bytes, p.base + from.offset, p.rkey, &parameters);
  if (UCS_PTR_IS_PTR(request)) return true;
  finish(o);
  if (UCS_PTR_IS_ERR(request)) return false;
  done->store(true, std::memory_order_release);
  return true;
}

void ucx_wire::on_got(void* request, ucs_status_t status, void* operation_of_it) {
  auto* const o = static_cast<operation*>(operation_of_it);
  if (status == UCS_OK)
    o->done->store(true, std::memory_order_release);
  else
    o->owner->lose(*o->to, status);  // missing data is not reported as arrived
  o->owner->finish(o);
  ucp_request_free(request);
}

}  // namespace shoal::net
