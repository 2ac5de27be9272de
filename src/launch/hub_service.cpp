// SPDX-License-Identifier: Apache-2.0
#include "launch/hub_service.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "launch/control.hpp"
#include "launch/start_errors.hpp"
#include "machine/process_limits.hpp"
#include "shoal/error.hpp"

namespace shoal::launch {
namespace {

using stage = hub_link::stage;

constexpr int k_accepted_at_once = 1024;
constexpr std::size_t k_events_at_once = 1024;
constexpr std::uint64_t k_wake_tag = 0;
constexpr std::uint64_t k_listening_tag = 1;  // others: the address of a link
constexpr std::uint64_t k_no_room_pause_ns = 100'000'000;
constexpr std::uint64_t k_never_ns = ~std::uint64_t{0};

// Besides a connection of each node: strangers, and what the process opens otherwise.
constexpr std::uint64_t k_other_descriptors = 256;

bool elapsed(std::uint64_t now_ns, std::uint64_t since_ns, std::int64_t limit_ns) noexcept {
  return now_ns > since_ns && now_ns - since_ns >= static_cast<std::uint64_t>(limit_ns);
}

machine::socket listen_on(const std::string& address, std::uint32_t nodes) {
  const std::uint64_t wanted = nodes + k_other_descriptors;
  if (const std::uint64_t limit = machine::allow_descriptors(wanted); limit < wanted)
    throw error(errc::exhausted, fmt::format("the hub of a job of {} nodes needs {} open descriptors, and {} are "
                                             "allowed; raise the limit (ulimit -Hn)",
                                             nodes, wanted, limit));
  return machine::socket::listen(address.empty() ? "127.0.0.1" : address, 0);
}

}  // namespace

hub::service::service(const hub_options& options)
    : options_(options),
      begin_ns_(base::now_ns()),
      self_{static_cast<std::uint32_t>(machine::own_pid()), machine::host_name()},
      log_(base::current_log_context()),
      secret_(new_secret()),
      listening_(listen_on(options.address, options.nodes)),
      ready_(k_events_at_once),
      roster_(options.nodes) {
  const std::string own = listening_.own_address();
  place_.host = machine::host_of(own);
  if (place_.host == "0.0.0.0" || place_.host == "::") place_.host = self_.host;
  place_.port = machine::port_of(own);
  place_.secret = secret_text(secret_);
  ready_.add(wake_.descriptor(), k_wake_tag, true, false);
  ready_.add(listening_.descriptor(), k_listening_tag, true, false);
  thread_ = std::thread([this] { run(); });
}

hub::service::~service() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    stopping_since_ns_ = base::now_ns();
  }
  wake_.wake();
  thread_.join();
}

void hub::service::interrupt(int signal) {
  const std::lock_guard lock(mutex_);
  stop_all(signal);
  wake_.wake();
}

bool hub::service::announce_lost(std::uint32_t node, std::string_view why) {
  const std::lock_guard lock(mutex_);
  const bool first = lose(node, std::string(why));
  wake_.wake();
  return first;
}

std::optional<loss> hub::service::lost() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

presence hub::service::at(std::uint32_t node) const {
  const std::lock_guard lock(mutex_);
  return roster_.at(node);
}

std::string hub::service::describe(std::uint32_t node) const {
  const std::lock_guard lock(mutex_);
  return roster_.describe(node);
}

void hub::service::run() noexcept {
  base::set_log_context(log_);
  try {
    std::unique_lock lock(mutex_);
    serve(lock);
  } catch (const std::exception& e) {
    base::say("the hub of this job ends: {}", e.what());
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = loss{k_no_node, fmt::format("the hub has ended: {}", e.what()), 0};
    closed_.clear();
    strangers_.clear();
    members_.clear();
    farewells_.clear();
    listening_.close();
    news_.wake();
  }
}

void hub::service::serve(std::unique_lock<std::mutex>& lock) {
  std::uint64_t now = base::now_ns();
  while (!over(now)) {
    watch_listening(now);
    const std::int64_t pause = pause_ns(now);
    lock.unlock();
    const auto events = ready_.wait(pause);
    lock.lock();
    now = base::now_ns();
    bool callers = false;
    for (const auto& ready : events) {
      if (ready.tag == k_wake_tag) {
        wake_.clear();
      } else if (ready.tag == k_listening_tag) {
        callers = true;
      } else {
        serve(*reinterpret_cast<hub_link*>(ready.tag), ready, now);
      }
    }
    if (now >= look_ns_) look_at_clock(now);
    forget_closed();
    if (callers && listening_watched_) accept_some(now);
  }
}

void hub::service::serve(hub_link& link, const machine::ready_set::event& ready, std::uint64_t now_ns) {
  if (link.at() == stage::closed) return;
  if (ready.readable) listen_to(link, now_ns);
  if (link.at() == stage::closed) return;
  if (!link.flush()) return has_ended(link);
  if (link.waits_to_send() == link.watched_for_room) return;
  link.watched_for_room = link.waits_to_send();
  ready_.change(link.descriptor(), ready.tag, true, link.watched_for_room);
}

void hub::service::watch_listening(std::uint64_t now_ns) noexcept {
  const bool accepts = !stopping_ && now_ns >= no_room_until_ns_;
  if (accepts == listening_watched_) return;
  listening_watched_ = accepts;
  ready_.change(listening_.descriptor(), k_listening_tag, accepts, false);
}

bool hub::service::over(std::uint64_t now_ns) const noexcept {
  if (!stopping_) return false;
  if (elapsed(now_ns, stopping_since_ns_, options_.linger_ns)) return true;
  return members_.empty() && farewells_.empty() &&
         std::ranges::none_of(strangers_, [](const hub_link& l) { return l.proven(); });
}

void hub::service::move_to(std::list<hub_link>& group, hub_link& link) noexcept {
  group.splice(group.end(), *link.group, link.place);
  link.group = &group;
}

// Events of this round may still name it.
void hub::service::close(hub_link& link) {
  link.close();
  closed_.push_back(&link);
}

void hub::service::forget_closed() noexcept {
  for (const hub_link* link : closed_) link->group->erase(link->place);
  closed_.clear();
}

std::int64_t hub::service::silence_allowed_ns(const hub_link& link) const noexcept {
  // During the start of its part of the job a node may be too busy for signs of life.
  return link.lives_regularly ? options_.silence_ns : std::max(options_.silence_ns, options_.start_ns);
}

void hub::service::wake_at(std::uint64_t since_ns, std::int64_t limit_ns) noexcept {
  look_ns_ = std::min(look_ns_, since_ns + static_cast<std::uint64_t>(limit_ns));
}

std::int64_t hub::service::pause_ns(std::uint64_t now_ns) const noexcept {
  std::uint64_t next = std::min(look_ns_, now_ns + 3'600'000'000'000);
  if (stopping_) next = std::min(next, stopping_since_ns_ + static_cast<std::uint64_t>(options_.linger_ns));
  if (now_ns < no_room_until_ns_) next = std::min(next, no_room_until_ns_);
  return next > now_ns ? static_cast<std::int64_t>(next - now_ns) : 0;
}

void hub::service::accept_some(std::uint64_t now_ns) {
  for (int i = 0; i < k_accepted_at_once; ++i) {
    machine::socket caller;
    const machine::acceptance got = listening_.accept(caller);
    if (got == machine::acceptance::no_room) {
      base::warn("the hub cannot take another connection; check ulimit -n");
      no_room_until_ns_ = now_ns + k_no_room_pause_ns;
    }
    if (got != machine::acceptance::one) return;
    // As many more as there are nodes to come: those may call all at once.
    if (strangers_.size() >= k_most_strangers + roster_.missing_count()) {
      // The oldest: a node needs a moment only, and comes again if it was one.
      const auto oldest = std::ranges::find_if(strangers_, [](const hub_link& l) { return !l.proven(); });
      if (oldest != strangers_.end()) {
        log_stranger(*oldest, "too many others wait to be let in");
        strangers_.erase(oldest);
      }
    }
    hub_link& link = strangers_.emplace_back(std::move(caller), now_ns);
    link.group = &strangers_;
    link.place = std::prev(strangers_.end());
    ready_.add(link.descriptor(), reinterpret_cast<std::uint64_t>(&link), true, false);
    wake_at(now_ns, options_.handshake_ns);
  }
}

void hub::service::listen_to(hub_link& link, std::uint64_t now_ns) {
  using progress = hub_link::progress;
  const progress made = link.read(secret_, now_ns);
  if (made == progress::refused) {
    log_stranger(link, link.why());
    close(link);
    return;
  }
  while (link.at() == stage::hello || link.at() == stage::member) {
    auto f = link.frames().next();
    if (!f) break;
    take(link, std::move(*f));
  }
  if (link.frames().broken() && link.at() == stage::member)
    lose(link.node(), roster_.describe(link.node()) + " has sent what no node sends");
  if (made == progress::ended || link.frames().broken()) has_ended(link);
}

// What is due, and when the next thing will be. A time that has moved on meanwhile costs one look too many.
void hub::service::look_at_clock(std::uint64_t now_ns) {
  look_ns_ = k_never_ns;
  if (!begun_ && !refusal_) {
    if (elapsed(now_ns, begin_ns_, options_.start_ns)) {
      const auto missing = roster_.missing();
      refuse_all(missing.front(), {errc::timeout, not_started(missing, options_.start_ns)});
    } else {
      wake_at(begin_ns_, options_.start_ns);
    }
  }
  for (hub_link& link : strangers_) {
    if (link.at() == stage::closed) continue;
    if (elapsed(now_ns, link.since_ns, options_.handshake_ns)) {
      log_stranger(link, "it has not proved in time that it knows the job's secret");
      close(link);
    } else {
      wake_at(link.since_ns, options_.handshake_ns);
    }
  }
  for (hub_link& link : farewells_) {
    if (link.at() == stage::closed) continue;
    if (elapsed(now_ns, link.since_ns, k_farewell_ns)) {
      close(link);
    } else {
      wake_at(link.since_ns, k_farewell_ns);
    }
  }
  if (!begun_ || options_.silence_ns == 0) return;
  const std::int64_t interval_ns = beat_interval_ns(options_.silence_ns);
  const bool beat = elapsed(now_ns, beat_ns_, interval_ns);
  if (beat) beat_ns_ = now_ns;
  wake_at(beat_ns_, interval_ns);
  for (hub_link& link : members_) {
    if (link.at() != stage::member) continue;
    const std::int64_t allowed = silence_allowed_ns(link);
    if (!failure_ && elapsed(now_ns, link.heard_ns, allowed))
      lose(link.node(), fmt::format("{} has said nothing for {}: stopped, or its link is cut",
                                    roster_.describe(link.node()), seconds(allowed)));
    if (!failure_) wake_at(link.heard_ns, allowed);
    // One sign is as good as many to a node that does not listen.
    if (beat && !link.waits_to_send()) send(link, frame_type::life, {});
  }
}

void hub::service::log_stranger(const hub_link& link, const char* why) {
  if (++lines_ > k_most_lines) return;
  base::warn("a connection from {} to this job was refused: {}{}", link.address(), why,
             lines_ == k_most_lines ? "; further ones are not reported" : "");
}

void hub::service::send(hub_link& link, frame_type type, std::span<const std::byte> payload) {
  send(link, std::make_shared<const std::vector<std::byte>>(frame_bytes(type, payload)));
}

void hub::service::send(hub_link& link, const send_queue::piece& bytes) {
  link.send(bytes);
  link.flush();  // a failure is seen by the next read
  if (!link.waits_to_send() || link.watched_for_room) return;
  link.watched_for_room = true;
  ready_.change(link.descriptor(), reinterpret_cast<std::uint64_t>(&link), true, true);
}

hub::hub(const hub_options& options) : service_(std::make_unique<service>(options)) {}
hub::~hub() = default;

const hub_place& hub::place() const noexcept { return service_->place(); }
int hub::descriptor() const noexcept { return service_->descriptor(); }
std::optional<loss> hub::lost() const { return service_->lost(); }
presence hub::at(std::uint32_t node) const { return service_->at(node); }
std::string hub::describe(std::uint32_t node) const { return service_->describe(node); }

void hub::interrupt(int signal) noexcept {
  try {
    service_->interrupt(signal);
  } catch (const std::exception& e) {
    base::warn("the nodes cannot be told to stop ({})", e.what());
  }
}

bool hub::announce_lost(std::uint32_t node, std::string_view why) noexcept {
  try {
    return service_->announce_lost(node, why);
  } catch (const std::exception& e) {
    base::warn("the nodes cannot be told of a loss ({})", e.what());
    return false;
  }
}

}  // namespace shoal::launch
