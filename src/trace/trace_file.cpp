// SPDX-License-Identifier: Apache-2.0
#include "trace/trace_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>

#include "shoal/error.hpp"

namespace shoal::trace {
namespace {

constexpr std::uint64_t k_magic = 0x3330454341525453;  // "STRACE03"
constexpr std::size_t k_block = 4096;                  // of the file, on every machine
constexpr std::size_t k_name_bytes = std::size_t{1} << 20;
constexpr std::uint32_t k_of_event = 1;
constexpr std::uint32_t k_of_code = 2;
constexpr std::uint32_t k_of_wait = 3;
constexpr std::uint32_t k_of_image = 4;

struct head {
  std::uint64_t magic;
  std::uint32_t node;
  std::uint32_t nodes;
  std::uint32_t workers;
  std::uint32_t overwrite;
  std::uint64_t events;
  std::uint64_t stacks;
  double ticks_per_us;
  trace_clock begin;
  trace_clock end;                        // 0 until the program ends in order
  std::atomic<std::uint64_t> name_bytes;  // used. Partner: readers of a trace that is being written
  char machine[256];
  char program[1024];
};
static_assert(sizeof(head) <= k_block);

struct name_head {
  std::uint64_t key;
  std::uint32_t kind;
  std::uint32_t length;
};

// Before the path of an image.
struct image_head {
  std::uint64_t bytes;
  std::uint64_t file_bytes;
  std::int64_t file_time_ns;
};

std::size_t ring_bytes(std::uint64_t events) {
  return k_block + (events * sizeof(event) + k_block - 1) / k_block * k_block;
}
std::size_t ring_place(unsigned worker, std::uint64_t events) {
  return k_block + k_name_bytes + worker * ring_bytes(events);
}

std::size_t samples_bytes(std::uint64_t stacks) {
  return (stacks * sizeof(stack_sample) + k_block - 1) / k_block * k_block;
}
std::size_t samples_place(unsigned worker, const trace_form& f) {
  return ring_place(f.workers, f.events) + worker * samples_bytes(f.stacks);
}

template <std::size_t N>
void copy_text(char (&to)[N], const std::string& from) {
  const std::size_t length = std::min(from.size(), N - 1);
  std::memcpy(to, from.data(), length);
  to[length] = 0;
}

bool has_code(event_kind k) {
  return k == event_kind::task_begin || k == event_kind::task_name || k == event_kind::task_resume;
}

// The worker may have gone on meanwhile: what it may be writing over is left out. That may be the oldest event even if
// none was added: a worker writes, or has been killed, between both.
std::vector<event> copy_events(const event* events, std::uint64_t size, const std::atomic<std::uint64_t>& added,
                               bool overwrite, bool has_ended, std::uint64_t& left_out) {
  const std::uint64_t n = added.load(std::memory_order_acquire);
  if (!overwrite) {
    left_out = n > size ? n - size : 0;
    return {events, events + std::min(n, size)};
  }
  std::vector<event> copied;
  std::uint64_t first = n > size ? n - size : 0;
  copied.reserve(n - first);
  for (std::uint64_t i = first; i < n; ++i) copied.push_back(events[i & (size - 1)]);
  const std::uint64_t later = added.load(std::memory_order_acquire);
  const std::uint64_t safe = later + 1 > size ? later + 1 - size : 0;
  if ((later != n || !has_ended) && safe > first) {
    const std::uint64_t drop = std::min<std::uint64_t>(safe - first, copied.size());
    copied.erase(copied.begin(), copied.begin() + static_cast<std::ptrdiff_t>(drop));
    first += drop;
  }
  left_out = first;
  return copied;
}

void read_samples(node_trace& t, std::span<const stack_sample> all) {
  for (const stack_sample& s : all) {
    const std::uint64_t count = s.count.load(std::memory_order_acquire);
    if (count == 0) continue;
    const std::uint64_t ns = s.ns.load(std::memory_order_relaxed);
    if (&s == &all.back()) {
      t.samples_without_room += count;
      t.ns_without_room += ns;
    } else {
      const std::size_t depth = std::min<std::size_t>(s.depth, stack_sample::k_most_frames);
      t.samples.push_back({{s.frames, s.frames + depth}, count, ns});
    }
  }
}

}  // namespace

std::size_t trace_bytes(const trace_form& f) { return samples_place(f.workers, f); }

trace_writer::trace_writer(std::span<std::byte> memory, const trace_form& f, const trace_clock& begin)
    : memory_(memory) {
  head* const h = new (memory.data()) head{};
  h->node = f.node;
  h->nodes = f.nodes;
  h->workers = f.workers;
  h->overwrite = f.overwrite ? 1 : 0;
  h->events = f.events;
  h->stacks = f.stacks;
  h->ticks_per_us = f.ticks_per_us;
  h->begin = begin;
  copy_text(h->machine, f.machine);
  copy_text(h->program, f.program);
  for (unsigned w = 0; w < f.workers; ++w) {
    std::byte* const at = memory.data() + ring_place(w, f.events);
    auto* const state = new (at) ring_state;
    rings_.emplace_back(std::span(reinterpret_cast<event*>(at + k_block), f.events), *state, f.overwrite);
    if (f.stacks == 0) continue;
    auto* const stacks = reinterpret_cast<stack_sample*>(memory.data() + samples_place(w, f));
    samples_.emplace_back(std::span(stacks, f.stacks));
  }
  h->magic = k_magic;  // last: from here on it is a trace
}

bool trace_writer::append(std::uint32_t kind, std::uint64_t key, std::string_view name) {
  auto* const h = reinterpret_cast<head*>(memory_.data());
  const std::uint64_t used = h->name_bytes.load(std::memory_order_relaxed);
  const name_head entry{key, kind, static_cast<std::uint32_t>(std::min<std::size_t>(name.size(), 1000))};
  const std::size_t bytes = (sizeof entry + entry.length + 7) / 8 * 8;
  if (used + bytes > k_name_bytes) return false;
  std::byte* const at = memory_.data() + k_block + used;
  std::memcpy(at, &entry, sizeof entry);
  std::memcpy(at + sizeof entry, name.data(), entry.length);
  h->name_bytes.store(used + bytes, std::memory_order_release);
  return true;
}

std::uint32_t trace_writer::number_of(std::string_view name) {
  const std::lock_guard hold(lock_);
  return number_of_locked(name);
}

std::uint32_t trace_writer::number_of_locked(std::string_view name) {
  if (const auto at = numbers_.find(name); at != numbers_.end()) return at->second;
  const auto number = static_cast<std::uint32_t>(numbers_.size() + 1);
  if (!append(k_of_event, number, name)) return 0;
  numbers_.emplace(name, number);
  return number;
}

void trace_writer::name_wait(std::uint16_t why, std::string_view name) {
  const std::lock_guard hold(lock_);
  append(k_of_wait, why, name);
}

// Many addresses have the same name.
bool trace_writer::name_code(std::uint64_t address, std::string_view name) {
  const std::lock_guard hold(lock_);
  const std::uint32_t number = number_of_locked(name);
  if (number == 0) return false;
  return append(k_of_code, address, {reinterpret_cast<const char*>(&number), sizeof number});
}

bool trace_writer::add_image(const code_image& i) {
  const image_head sizes{i.bytes, i.file_bytes, i.file_time_ns};
  const std::string entry = std::string(reinterpret_cast<const char*>(&sizes), sizeof sizes) + i.path;
  const std::lock_guard hold(lock_);
  return append(k_of_image, i.begin, entry);
}

std::vector<std::uint64_t> trace_writer::code_addresses() const {
  const auto* const h = reinterpret_cast<const head*>(memory_.data());
  std::set<std::uint64_t> all;
  for (unsigned w = 0; w < h->workers; ++w) {
    const std::byte* const at = memory_.data() + ring_place(w, h->events);
    const std::uint64_t n = reinterpret_cast<const ring_state*>(at)->added.load(std::memory_order_acquire);
    const auto* const events = reinterpret_cast<const event*>(at + k_block);
    std::uint64_t last = 0;
    for (std::uint64_t i = 0; i < std::min(n, h->events); ++i) {
      if (!has_code(events[i].kind) || events[i].value == last || events[i].value == 0) continue;
      last = events[i].value;
      all.insert(last);
    }
  }
  return {all.begin(), all.end()};
}

std::vector<std::uint64_t> trace_writer::new_sampled_addresses() {
  std::set<std::uint64_t> found;
  samples_read_.resize(samples_.size(), 0);
  for (std::size_t w = 0; w < samples_.size(); ++w) {
    const auto stacks = samples_[w].all();
    for (std::size_t& i = samples_read_[w]; i + 1 < stacks.size(); ++i) {
      const stack_sample& s = stacks[i];
      if (s.count.load(std::memory_order_acquire) == 0) break;
      found.insert(s.frames, s.frames + s.depth);
    }
  }
  return {found.begin(), found.end()};
}

void trace_writer::finish(const trace_clock& end) {
  finished_.store(true, std::memory_order_relaxed);
  reinterpret_cast<head*>(memory_.data())->end = end;
}

double node_trace::ns_per_tick() const noexcept {
  if (end.ticks <= begin.ticks || end.raw_ns <= begin.raw_ns) return 1000 / form.ticks_per_us;
  return static_cast<double>(end.raw_ns - begin.raw_ns) / static_cast<double>(end.ticks - begin.ticks);
}

std::string code_image::place_of(std::uint64_t address) const {
  return fmt::format("{}+{:#x}", path.substr(path.rfind('/') + 1), address - begin);
}

const code_image* node_trace::image_at(std::uint64_t address) const noexcept {
  const auto at = std::ranges::find_if(images, [address](const code_image& i) { return address - i.begin < i.bytes; });
  return at == images.end() ? nullptr : &*at;
}

std::vector<std::uint64_t> node_trace::code_addresses() const {
  std::set<std::uint64_t> all;
  for (const std::vector<event>& one : workers)
    for (const event& e : one)
      if (has_code(e.kind) && e.value != 0) all.insert(e.value);
  return {all.begin(), all.end()};
}

node_trace read_trace(std::span<const std::byte> file, const std::string& path) {
  const auto refuse = [&](std::string_view why) {
    throw error(errc::bad_input, fmt::format("{} is no trace of this version: {}", path, why));
  };
  if (file.size() < k_block + k_name_bytes) refuse("it is too short");
  const auto* const h = reinterpret_cast<const head*>(file.data());
  if (h->magic != k_magic) refuse("it begins otherwise");
  node_trace t;
  t.form.node = h->node;
  t.form.nodes = h->nodes;
  t.form.workers = h->workers;
  t.form.events = h->events;
  t.form.stacks = h->stacks;
  t.form.ticks_per_us = h->ticks_per_us > 0 ? h->ticks_per_us : 1000;
  t.form.overwrite = h->overwrite != 0;
  t.form.machine = std::string(h->machine, ::strnlen(h->machine, sizeof h->machine));
  t.form.program = std::string(h->program, ::strnlen(h->program, sizeof h->program));
  if (!std::has_single_bit(h->events) || h->stacks > (std::uint64_t{1} << 30) || h->events > (std::uint64_t{1} << 40) ||
      h->workers > (1U << 20) || trace_bytes(t.form) > file.size())
    refuse("it is cut off");
  t.begin = h->begin;
  t.end = h->end;
  t.is_whole = h->end.ticks != 0;
  const std::uint64_t name_bytes = std::min<std::uint64_t>(h->name_bytes.load(std::memory_order_acquire), k_name_bytes);
  for (std::uint64_t at = 0; at + sizeof(name_head) <= name_bytes;) {
    name_head entry{};
    std::memcpy(&entry, file.data() + k_block + at, sizeof entry);
    if (at + sizeof entry + entry.length > name_bytes) refuse("a name is cut off");
    std::string name(reinterpret_cast<const char*>(file.data()) + k_block + at + sizeof entry, entry.length);
    if (entry.kind == k_of_event)
      t.names[static_cast<std::uint32_t>(entry.key)] = std::move(name);
    else if (entry.kind == k_of_wait)
      t.waits[static_cast<std::uint16_t>(entry.key)] = std::move(name);
    else if (entry.kind == k_of_image && name.size() > sizeof(image_head)) {
      image_head sizes{};
      std::memcpy(&sizes, name.data(), sizeof sizes);
      t.images.push_back({entry.key, sizes.bytes, sizes.file_bytes, sizes.file_time_ns, name.substr(sizeof sizes)});
    } else if (entry.kind == k_of_code && name.size() == sizeof(std::uint32_t)) {
      std::uint32_t number = 0;
      std::memcpy(&number, name.data(), sizeof number);
      t.code[entry.key] = t.names[number];
    }
    at += (sizeof entry + entry.length + 7) / 8 * 8;
  }
  std::uint64_t last = t.begin.ticks;
  for (unsigned w = 0; w < h->workers; ++w) {
    const std::byte* const at = file.data() + ring_place(w, h->events);
    std::uint64_t left_out = 0;
    t.workers.push_back(copy_events(reinterpret_cast<const event*>(at + k_block), h->events,
                                    reinterpret_cast<const ring_state*>(at)->added, t.form.overwrite, t.is_whole,
                                    left_out));
    t.threads.push_back(reinterpret_cast<const ring_state*>(at)->thread.load(std::memory_order_relaxed));
    t.left_out.push_back(left_out);
    if (!t.workers.back().empty()) last = std::max(last, t.workers.back().back().ticks);
    read_samples(t, {reinterpret_cast<const stack_sample*>(file.data() + samples_place(w, t.form)), h->stacks});
  }
  if (!t.is_whole) t.end = {last, 0, 0};
  return t;
}

}  // namespace shoal::trace
