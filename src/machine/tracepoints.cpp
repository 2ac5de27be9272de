// SPDX-License-Identifier: Apache-2.0
#include "machine/tracepoints.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/mount.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <limits>
#include <system_error>

#include "machine/memory_info.hpp"
#include "machine/process_limits.hpp"
#include "machine/thread_id.hpp"
#include "machine/topology.hpp"
#include "shoal/error.hpp"

namespace shoal::machine {
namespace {

constexpr const char* k_what_to_do =
    "run as root, or have `setcap cap_perfmon,cap_sys_admin,cap_dac_read_search,cap_ipc_lock=ep` set on the program, "
    "to see the kernel's events";

std::uint64_t read_clock(clockid_t which) noexcept {
  timespec t{};
  ::clock_gettime(which, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(t.tv_nsec);
}

int open_at(int folder, const std::string& path) noexcept {
  return ::openat(folder, path.c_str(), O_RDONLY | O_CLOEXEC);
}

std::string read_all(int file) {
  std::string text;
  std::array<char, 4096> part;
  for (;;) {
    const ssize_t got = ::read(file, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(got));
  }
}

bool has_events(int folder) {
  const descriptor events(open_at(folder, "events/sched"));
  return events.open();
}

// A tracefs that no path leads to: only this descriptor does.
int attach_tracefs() noexcept {
  const auto context = descriptor(static_cast<int>(::syscall(SYS_fsopen, "tracefs", 1U /* FSOPEN_CLOEXEC */)));
  if (!context.open()) return -1;
  if (::syscall(SYS_fsconfig, context.number(), 6 /* FSCONFIG_CMD_CREATE */, nullptr, nullptr, 0) != 0) return -1;
  return static_cast<int>(::syscall(SYS_fsmount, context.number(), 1U /* FSMOUNT_CLOEXEC */, 0));
}

// "field:unsigned int vec;	offset:8;	size:4;	signed:0;"
bool read_number(std::string_view line, std::string_view key, unsigned& value) {
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos) return false;
  const char* const begin = line.data() + at + key.size();
  return std::from_chars(begin, line.data() + line.size(), value).ec == std::errc();
}

std::optional<tracepoint_field> read_field(std::string_view line) {
  constexpr std::string_view k_begin = "field:";
  const std::size_t begin = line.find(k_begin);
  const std::size_t end = line.find(';');
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return std::nullopt;
  std::string_view declaration = line.substr(begin + k_begin.size(), end - begin - k_begin.size());
  tracepoint_field f;
  f.is_placed = declaration.starts_with("__data_loc");
  declaration = declaration.substr(0, declaration.find('[', f.is_placed ? declaration.find(']') : 0));
  f.name = declaration.substr(declaration.rfind(' ') + 1);
  if (!read_number(line, "offset:", f.offset) || !read_number(line, "size:", f.bytes)) return std::nullopt;
  return f;
}

}  // namespace

std::uint64_t kernel_clock_ns() noexcept { return read_clock(CLOCK_MONOTONIC_RAW); }

std::uint64_t world_clock_ns() noexcept { return read_clock(CLOCK_REALTIME); }

const tracepoint_field* tracepoint::field(std::string_view wanted) const noexcept {
  const auto at = std::ranges::find(fields, wanted, &tracepoint_field::name);
  return at == fields.end() ? nullptr : &*at;
}

tracepoint parse_tracepoint(std::string_view name, const std::string& format) {
  tracepoint p;
  p.name = name;
  unsigned number = 0;
  std::string_view rest = format;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.starts_with("ID: ")) read_number(line, "ID: ", number);
    if (auto f = read_field(line)) p.fields.push_back(std::move(*f));
  }
  if (number == 0 || number > 0xffff)
    throw error(errc::bad_input, fmt::format("the kernel's description of the tracepoint {} has no number", name));
  p.number = static_cast<std::uint16_t>(number);
  return p;
}

tracepoint_folder tracepoint_folder::open() {
  for (const char* path : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}) {
    descriptor folder(::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.open() && has_events(folder.number())) return tracepoint_folder(std::move(folder));
  }
  descriptor attached(attach_tracefs());
  if (attached.open() && has_events(attached.number())) return tracepoint_folder(std::move(attached));
  if (errno == ENODEV)
    throw error(errc::unsupported, "this kernel has no tracefs (CONFIG_FTRACE is not set), so it tells no events");
  throw error(errc::unsupported, fmt::format("the kernel's list of events cannot be read: {}", k_what_to_do));
}

std::optional<tracepoint> tracepoint_folder::find(std::string_view name) const {
  std::string path = fmt::format("events/{}/format", name);
  std::ranges::replace(path, ':', '/');
  const descriptor file(open_at(folder_.number(), path));
  if (!file.open()) return std::nullopt;
  return parse_tracepoint(name, read_all(file.number()));
}

std::int64_t kernel_record::number(const tracepoint_field& f) const noexcept {
  if (f.offset + f.bytes > data.size() || f.bytes > sizeof(std::int64_t)) return 0;
  std::int64_t value = 0;
  std::memcpy(&value, data.data() + f.offset, f.bytes);
  const unsigned unused = 64 - f.bytes * 8;
  return f.bytes == 0 ? 0 : static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << unused) >> unused;
}

std::string_view kernel_record::text(const tracepoint_field& f) const noexcept {
  std::size_t offset = f.offset;
  std::size_t bytes = f.bytes;
  if (f.is_placed) {
    const auto place = static_cast<std::uint32_t>(number(f));
    offset = place & 0xffff;
    bytes = place >> 16;
  }
  if (offset + bytes > data.size()) return {};
  const std::string_view all(reinterpret_cast<const char*>(data.data()) + offset, bytes);
  return all.substr(0, all.find('\0'));
}

void for_each_record(std::span<const std::byte> copied, std::span<const tracepoint> points,
                     const std::function<void(const kernel_record&)>& use) {
  const auto take = [](std::span<const std::byte>& from, auto& value) {
    if (from.size() < sizeof value) return false;
    std::memcpy(&value, from.data(), sizeof value);
    from = from.subspan(sizeof value);
    return true;
  };
  while (copied.size() >= sizeof(perf_event_header)) {
    perf_event_header head{};
    std::memcpy(&head, copied.data(), sizeof head);
    if (head.size < sizeof head || head.size > copied.size()) return;
    std::span<const std::byte> body = copied.subspan(sizeof head, head.size - sizeof head);
    copied = copied.subspan(head.size);
    kernel_record r{};
    if (head.type == PERF_RECORD_LOST) {
      std::uint64_t id = 0;
      if (take(body, id) && take(body, r.lost) && take(body, r.time_ns)) use(r);
      continue;
    }
    std::uint32_t bytes = 0;
    if (head.type != PERF_RECORD_SAMPLE || !take(body, r.time_ns) || !take(body, bytes) || bytes > body.size())
      continue;
    r.data = body.first(bytes);
    std::uint16_t number = 0;
    if (!take(body, number)) continue;
    const auto at = std::ranges::find(points, number, &tracepoint::number);
    if (at == points.end()) continue;
    r.point = &*at;
    use(r);
  }
}

struct kernel_recorder::ring {
  unsigned processor = 0;
  std::vector<descriptor> events;  // all write into the ring of the first
  std::byte* memory = nullptr;     // a control page, then the records
  std::size_t bytes = 0;           // of the records
  std::vector<std::byte> copied;

  perf_event_mmap_page* control() const noexcept { return reinterpret_cast<perf_event_mmap_page*>(memory); }
  bool drain();
};

// Partner of data_head and data_tail: the kernel, see perf_event_open(2).
bool kernel_recorder::ring::drain() {
  const std::uint64_t head = __atomic_load_n(&control()->data_head, __ATOMIC_ACQUIRE);
  const std::uint64_t tail = control()->data_tail;
  const std::byte* const records = memory + page_size();
  for (std::uint64_t at = tail; at != head;) {
    const std::uint64_t place = at & (bytes - 1);
    const std::uint64_t part = std::min(head - at, bytes - place);
    copied.insert(copied.end(), records + place, records + place + part);
    at += part;
  }
  __atomic_store_n(&control()->data_tail, head, __ATOMIC_RELEASE);
  return head - tail > bytes / 2;
}

kernel_recorder::kernel_recorder(std::span<const tracepoint> points, std::span<const unsigned> processors,
                                 std::size_t ring_bytes)
    : points_(points.begin(), points.end()) {
  allow_descriptors(k_no_limit);
  for (const unsigned processor : processors) {
    ring& r = rings_.emplace_back();
    r.processor = processor;
    for (const tracepoint& p : points_) {
      perf_event_attr attributes{};
      attributes.size = sizeof attributes;
      attributes.type = PERF_TYPE_TRACEPOINT;
      attributes.config = p.number;
      attributes.sample_period = 1;
      attributes.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_RAW;
      attributes.sample_id_all = 1;
      attributes.disabled = 1;
      attributes.use_clockid = 1;
      attributes.clockid = CLOCK_MONOTONIC_RAW;
      attributes.watermark = 1;
      attributes.wakeup_watermark = static_cast<std::uint32_t>(ring_bytes);  // nobody waits for this ring
      descriptor opened(static_cast<int>(
          ::syscall(SYS_perf_event_open, &attributes, -1, static_cast<int>(processor), -1, PERF_FLAG_FD_CLOEXEC)));
      if (!opened.open()) {
        const int why = errno;
        // Some are refused to everybody, as irq_vectors:irq_work_exit is: then others are open already.
        if ((why == EACCES || why == EPERM) && rings_.size() == 1 && r.events.empty())
          throw error(errc::unsupported, fmt::format("the kernel refuses to tell its events: {}", k_what_to_do));
        if (why == EMFILE || why == ENFILE)
          throw error(errc::system, fmt::format("this process may not open the {} descriptors that {} events on {} "
                                                "processors take; raise `ulimit -Hn` or name fewer processors",
                                                points_.size() * processors.size(), points_.size(), processors.size()));
        if (std::ranges::find(refused_, p.name) == refused_.end()) refused_.push_back(p.name);
        continue;
      }
      if (r.memory == nullptr) {
        void* const memory =
            ::mmap(nullptr, page_size() + ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, opened.number(), 0);
        if (memory == MAP_FAILED)
          throw error(errc::out_of_memory, fmt::format("the kernel refuses a ring of {} bytes for processor {}: {}",
                                                       ring_bytes, processor, std::generic_category().message(errno)));
        r.memory = static_cast<std::byte*>(memory);
        r.bytes = ring_bytes;
      } else if (::ioctl(opened.number(), PERF_EVENT_IOC_SET_OUTPUT, r.events.front().number()) != 0) {
        throw error(errc::system, fmt::format("the events of processor {} cannot share a ring: {}", processor,
                                              std::generic_category().message(errno)));
      }
      r.events.push_back(std::move(opened));
    }
    if (r.memory == nullptr)
      throw error(errc::unsupported,
                  fmt::format("this kernel tells none of the events that were asked for on processor {}", processor));
  }
}

kernel_recorder::~kernel_recorder() {
  for (ring& r : rings_)
    if (r.memory != nullptr) ::munmap(r.memory, page_size() + r.bytes);
}

void kernel_recorder::start() {
  for (const ring& r : rings_)
    for (const descriptor& one : r.events) ::ioctl(one.number(), PERF_EVENT_IOC_ENABLE, 0);
}

void kernel_recorder::stop() {
  for (const ring& r : rings_)
    for (const descriptor& one : r.events) ::ioctl(one.number(), PERF_EVENT_IOC_DISABLE, 0);
}

bool kernel_recorder::drain() {
  bool full = false;
  for (ring& r : rings_)
    if (r.drain()) full = true;
  return full;
}

kernel_recorder::ring& kernel_recorder::of(unsigned processor) {
  const auto at = std::ranges::find(rings_, processor, &ring::processor);
  if (at == rings_.end()) throw error(errc::invalid_argument, fmt::format("processor {} was not recorded", processor));
  return *at;
}

void kernel_recorder::for_each(unsigned processor, const std::function<void(const kernel_record&)>& use) {
  ring& r = of(processor);
  r.drain();
  for_each_record(r.copied, points_, use);
}

std::uint64_t kernel_recorder::lost() const {
  std::uint64_t sum = 0;
  for (const ring& r : rings_) for_each_record(r.copied, {}, [&](const kernel_record& record) { sum += record.lost; });
  return sum;
}

double measure_record_ns(const tracepoint_folder& folder) {
  constexpr int k_calls = 1000;  // so few that some rounds are not disturbed
  constexpr int k_rounds = 30;
  const auto point = folder.find("raw_syscalls:sys_enter");
  const affinity_scope keeps;
  const unsigned here = current_processor();
  if (!point || !pin_this_thread(here)) return 0;
  const auto time_calls = [] {
    const std::uint64_t begin = kernel_clock_ns();
    for (int i = 0; i < k_calls; ++i) ::syscall(SYS_getppid);
    return static_cast<double>(kernel_clock_ns() - begin) / k_calls;
  };
  kernel_recorder recorder({&*point, 1}, {&here, 1}, std::size_t{2} << 20);
  double without = std::numeric_limits<double>::infinity();
  double with = without;
  for (int i = 0; i < k_rounds; ++i) {
    without = std::min(without, time_calls());
    recorder.start();
    with = std::min(with, time_calls());
    recorder.stop();
    recorder.drain();
  }
  return std::max(0.0, with - without);
}

}  // namespace shoal::machine
