// SPDX-License-Identifier: Apache-2.0
#include "runtime/processor_share.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "base/counted.hpp"
#include "base/log.hpp"
#include "machine/control_group.hpp"
#include "machine/local_service.hpp"
#include "machine/process.hpp"
#include "machine/topology.hpp"
#include "shoal/error.hpp"

namespace shoal::runtime {
namespace {

constexpr std::int64_t k_pause_ns = 100'000'000;
constexpr std::int64_t k_quota_ns = 1'000'000'000;
constexpr std::uint64_t k_share_again_ns = 10'000'000'000;
constexpr std::size_t k_most_file_bytes = 16384;
constexpr unsigned k_most_objects = 10'000;  // of one process

// How many of its workers could be kept busy: all if none of the active ones is idle.
unsigned wanted_by(sched::pool& p) {
  unsigned busy = 0;
  for (unsigned i = 0; i < p.active(); ++i) busy += p.at(i).parked() ? 0 : 1;
  return busy == p.active() ? p.size() : busy;
}

bool takes_part(const sched::pool* p) { return p->options().shares_processors; }

std::vector<unsigned> parse(const std::string& text, const std::string& processor_list) {
  std::istringstream in(text);
  std::string list;
  std::vector<unsigned> wanted;
  if (!(in >> list) || list != processor_list) return wanted;
  for (unsigned one = 0; in >> one;) wanted.push_back(one);
  return wanted;
}

}  // namespace

std::vector<unsigned> fair_shares(unsigned processors, std::span<const unsigned> wanted) {
  std::vector<unsigned> shares(wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) shares[i] = std::min(wanted[i], 1U);
  std::uint64_t given = 0;
  for (const unsigned one : shares) given += one;
  for (bool any = true; any && given < processors;) {
    any = false;
    for (std::size_t i = 0; i < wanted.size() && given < processors; ++i) {
      if (shares[i] == wanted[i]) continue;
      ++shares[i];
      ++given;
      any = true;
    }
  }
  return shares;
}

processor_share::surroundings processor_share::of_this_machine(machine::executor& by) {
  return {.read_quota = [] { return machine::read_cpu_quota(); },
          .processors = std::max(by.processors(), 1U),
          .processor_list = machine::affinity_scope().text(),
          .folder = [] { return machine::runtime_folder() + "/processors"; }};
}

void processor_share::withdraw() noexcept {
  if (own_.path().empty()) return;
  try {
    if (own_.is_named()) machine::remove_file(own_.path());
  } catch (const error& e) {
    base::warn("{}", e.what());
  }
  own_ = {};
  published_.clear();
}

std::int64_t processor_share::look(std::span<sched::pool* const> pools, std::uint64_t now_ns) {
  const bool shares = now_ns >= share_again_at_ns_ && (!own_.path().empty() || std::ranges::any_of(pools, takes_part));
  if (now_ns >= read_quota_at_ns_) {
    quota_ = where_.read_quota();
    read_quota_at_ns_ = now_ns + k_quota_ns;
  }
  std::map<std::uint64_t, known_pool> still_there;
  for (const sched::pool* const p : pools) still_there[p->number()] = known_[p->number()];
  known_.swap(still_there);
  std::vector<unsigned> most;
  for (sched::pool* const p : pools) most.push_back(by_quota(*p, known_[p->number()]));
  if (shares) {
    try {
      divide(pools, most);
    } catch (const error& e) {
      withdraw();
      share_again_at_ns_ = now_ns + k_share_again_ns;
      if (!std::exchange(warned_, true)) base::warn("processors are not shared with others: {}", e.what());
    }
  }
  for (std::size_t i = 0; i < pools.size(); ++i) {
    sched::pool& p = *pools[i];
    if (p.active() == most[i] || !p.may_be_inactive()) continue;
    base::verbose("{} of {} workers begin tasks from now on (processor quota: {:.2f})", most[i], p.size(), quota_);
    p.set_active(most[i]);
  }
  return shares ? k_pause_ns : k_quota_ns;
}

// Who has chosen more workers than there are processors has chosen that also for less.
unsigned processor_share::by_quota(const sched::pool& p, known_pool& known) const {
  const double there = std::min(quota_, static_cast<double>(where_.processors));
  if (known.quota_at_first <= 0) {
    known.quota_at_first = there;
    base::verbose("processors at first: {:.2f} (quota: {:.2f}), for {}", there, quota_,
                  base::counted(p.size(), "worker"));
  }
  if (there >= known.quota_at_first) return p.size();
  return std::max(1U, static_cast<unsigned>(std::ceil(p.size() * there / known.quota_at_first)));
}

void processor_share::divide(std::span<sched::pool* const> pools, std::vector<unsigned>& most) {
  std::vector<unsigned> wanted;
  for (sched::pool* const p : pools) {
    if (!takes_part(p)) continue;
    known_pool& known = known_[p->number()];
    known.wanted = std::max(wanted_by(*p), known.wanted * 3 / 4);
    wanted.push_back(known.wanted);
  }
  publish(wanted);
  std::vector<neighbour> all = read_neighbours();
  all.push_back({own_.path(), wanted});
  std::ranges::sort(all, {}, &neighbour::file);
  std::vector<unsigned> everybody;
  std::size_t mine = 0;
  for (const neighbour& one : all) {
    if (one.file == own_.path()) mine = everybody.size();
    everybody.insert(everybody.end(), one.wanted.begin(), one.wanted.end());
  }
  const auto processors =
      static_cast<unsigned>(std::max(1.0, std::ceil(std::min(quota_, static_cast<double>(where_.processors)))));
  for (std::size_t i = 0; i < pools.size(); ++i) {
    if (!takes_part(pools[i])) continue;
    // What it gets once it has work for all its workers.
    const unsigned now = std::exchange(everybody[mine], pools[i]->size());
    most[i] = std::min(most[i], std::max(1U, fair_shares(processors, everybody)[mine]));
    everybody[mine++] = now;
  }
}

void processor_share::publish(const std::vector<unsigned>& wanted) {
  if (!own_.path().empty() && !own_.is_named()) withdraw();  // somebody has removed it
  if (own_.path().empty()) {
    folder_ = where_.folder();
    machine::make_folder(folder_);
    // One per object; a process that looks whether it is stale may hold it for a moment.
    for (unsigned number = 0; own_.path().empty(); ++number) {
      machine::file made(fmt::format("{}/{}.{}", folder_, machine::own_pid(), number), machine::file::purpose::make);
      if (made.try_lock() && made.is_named()) {
        made.resize(0);  // that of a process with this number that was killed
        own_ = std::move(made);
      } else if (number == k_most_objects) {
        throw error(errc::system, fmt::format("no file of its own can be had in {}; remove what lies there", folder_));
      }
    }
  }
  std::string text = where_.processor_list;
  for (const unsigned one : wanted) text += fmt::format(" {}", one);
  text += '\n';
  if (text == published_) return;
  own_.write_at(std::as_bytes(std::span(text)), 0);
  if (text.size() < published_.size()) own_.resize(text.size());
  published_ = std::move(text);
}

// One that is being written may be read half: the next look corrects it.
std::vector<processor_share::neighbour> processor_share::read_neighbours() const {
  std::vector<neighbour> all;
  for (const std::string& name : machine::names_in(folder_)) {
    const std::string path = folder_ + "/" + name;
    if (path == own_.path()) continue;
    try {
      machine::file other(path, machine::file::purpose::read);
      if (other.try_lock()) {
        if (other.is_named()) machine::remove_file(path);
        continue;
      }
      std::string text(std::min<std::uint64_t>(other.size_bytes(), k_most_file_bytes), ' ');
      text.resize(other.read_at(std::as_writable_bytes(std::span(text)), 0));
      all.push_back({path, parse(text, where_.processor_list)});
    } catch (const error& e) {  // mostly because its process has just ended
      base::verbose("{}", e.what());
    }
  }
  return all;
}

}  // namespace shoal::runtime
