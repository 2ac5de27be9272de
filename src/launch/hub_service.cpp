// SPDX-License-Identifier: Apache-2.0
#include "launch/hub_service.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "launch/control.hpp"
#include "launch/start_errors.hpp"
#include "shoal/error.hpp"

namespace shoal::launch {
namespace {

using stage = hub_link::stage;

constexpr int k_accepted_at_once = 16;
constexpr std::uint64_t k_no_room_pause_ns = 100'000'000;
constexpr std::uint64_t k_farewell_ns = 1'000'000'000;

bool elapsed(std::uint64_t now_ns, std::uint64_t since_ns, std::int64_t limit_ns) noexcept {
  return now_ns > since_ns && now_ns - since_ns >= static_cast<std::uint64_t>(limit_ns);
}

machine::socket listen_on(const std::string& address) {
  return machine::socket::listen(address.empty() ? "127.0.0.1" : address, 0);
}

}  // namespace

hub::service::service(const hub_options& options)
    : options_(options),
      begin_ns_(base::now_ns()),
      self_{static_cast<std::uint32_t>(machine::own_pid()), machine::host_name()},
      log_(base::current_log_context()),
      secret_(new_secret()),
      listening_(listen_on(options.address)),
      roster_(options.nodes) {
  const std::string own = listening_.own_address();
  place_.host = machine::host_of(own);
  if (place_.host == "0.0.0.0" || place_.host == "::") place_.host = self_.host;
  place_.port = machine::port_of(own);
  place_.secret = secret_text(secret_);
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
    links_.clear();
    listening_.close();
    news_.wake();
  }
}

void hub::service::serve(std::unique_lock<std::mutex>& lock) {
  machine::poll_set ready;
  std::uint64_t now = base::now_ns();
  while (!over(now)) {
    ready.clear();
    const std::size_t woken = ready.add(wake_.descriptor(), true, false);
    const bool accepts = !stopping_ && now >= no_room_until_ns_;
    const std::size_t callers = ready.add(accepts ? listening_.descriptor() : -1, true, false);
    for (hub_link& link : links_) ready.add(link.descriptor(), true, link.waits_to_send());
    const std::int64_t pause = pause_ns(now);
    const auto known = links_.size();
    lock.unlock();
    ready.wait(pause);
    lock.lock();
    now = base::now_ns();
    if (ready.readable(woken)) wake_.clear();
    auto link = links_.begin();
    for (std::size_t i = 0; i < known; ++i, ++link) {
      const std::size_t index = callers + 1 + i;
      if (link->at() == stage::closed) continue;
      if (ready.readable(index)) listen_to(*link, now);
      if (link->at() != stage::closed && !link->flush()) has_ended(*link);
    }
    look_at_clock(now);
    std::erase_if(links_, [](const hub_link& l) { return l.at() == stage::closed; });
    if (ready.readable(callers)) accept_some(now);
  }
}

bool hub::service::over(std::uint64_t now_ns) const noexcept {
  if (!stopping_) return false;
  if (elapsed(now_ns, stopping_since_ns_, options_.linger_ns)) return true;
  return std::ranges::none_of(links_, [](const hub_link& l) { return l.proven(); });
}

std::int64_t hub::service::silence_allowed_ns(const hub_link& link) const noexcept {
  // During the start of its part of the job a node may be too busy for signs of life.
  return link.lives_regularly ? options_.silence_ns : std::max(options_.silence_ns, options_.start_ns);
}

std::int64_t hub::service::pause_ns(std::uint64_t now_ns) const noexcept {
  std::uint64_t next = now_ns + 3'600'000'000'000;
  const auto at_least = [&next](std::uint64_t since_ns, std::int64_t limit_ns) {
    next = std::min(next, since_ns + static_cast<std::uint64_t>(limit_ns));
  };
  if (stopping_) at_least(stopping_since_ns_, options_.linger_ns);
  if (!begun_ && !refusal_) at_least(begin_ns_, options_.start_ns);
  if (now_ns < no_room_until_ns_) at_least(no_room_until_ns_, 0);
  for (const hub_link& link : links_) {
    if (!link.proven() || link.at() == stage::hello) {
      at_least(link.since_ns, options_.handshake_ns);
    } else if (link.at() == stage::farewell) {
      at_least(link.since_ns, k_farewell_ns);
    } else if (options_.silence_ns != 0 && begun_) {
      at_least(beat_ns_, beat_interval_ns(options_.silence_ns));
      if (!failure_) at_least(link.heard_ns, silence_allowed_ns(link));
    }
  }
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
    const auto is_stranger = [](const hub_link& l) { return !l.proven(); };
    if (std::ranges::count_if(links_, is_stranger) >= static_cast<std::ptrdiff_t>(k_most_strangers)) {
      // The oldest: a node needs a moment only, and comes again if it was one.
      const auto oldest = std::ranges::find_if(links_, is_stranger);
      log_stranger(*oldest, "too many others wait to be let in");
      links_.erase(oldest);
    }
    links_.emplace_back(std::move(caller), now_ns);
  }
}

void hub::service::listen_to(hub_link& link, std::uint64_t now_ns) {
  using progress = hub_link::progress;
  const progress made = link.read(secret_, now_ns);
  if (made == progress::refused) {
    log_stranger(link, link.why());
    link.close();
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

void hub::service::look_at_clock(std::uint64_t now_ns) {
  if (!begun_ && !refusal_ && elapsed(now_ns, begin_ns_, options_.start_ns)) {
    const auto missing = roster_.missing();
    refuse_all(missing.front(), {errc::timeout, not_started(missing, options_.start_ns)});
  }
  const bool beat =
      begun_ && options_.silence_ns != 0 && elapsed(now_ns, beat_ns_, beat_interval_ns(options_.silence_ns));
  if (beat) beat_ns_ = now_ns;
  for (hub_link& link : links_) {
    if (link.at() == stage::farewell && elapsed(now_ns, link.since_ns, k_farewell_ns)) link.close();
    if ((!link.proven() || link.at() == stage::hello) && elapsed(now_ns, link.since_ns, options_.handshake_ns)) {
      log_stranger(link, "it has not proved in time that it knows the job's secret");
      link.close();
    }
    if (link.at() != stage::member || !begun_) continue;
    const std::int64_t allowed = silence_allowed_ns(link);
    if (options_.silence_ns != 0 && !failure_ && elapsed(now_ns, link.heard_ns, allowed))
      lose(link.node(), fmt::format("{} has said nothing for {}: stopped, or its link is cut",
                                    roster_.describe(link.node()), seconds(allowed)));
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
  link.send(std::make_shared<const std::vector<std::byte>>(frame_bytes(type, payload)));
  link.flush();  // a failure is seen by the next read
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
