// SPDX-License-Identifier: Apache-2.0
// OTF2: a node is a location group, a worker a location; tasks, states and regions are regions; messages are sends and
// receives between locations.
#include <otf2/otf2.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "trace/otf2_writer.hpp"

namespace shoal::trace {
namespace {

constexpr std::array<const char*, k_activities> k_state_names = {"task",     "the runtime", "looks for work",
                                                                 "messages", "parked",      "not known"};

OTF2_FlushType before_flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) { return OTF2_FLUSH; }
OTF2_TimeStamp after_flush(void*, OTF2_FileType, OTF2_LocationRef) { return 0; }

// The library's own words about its last error.
std::string& last_error() {
  static std::string text;
  return text;
}
OTF2_ErrorCode note_error(void*, const char*, std::uint64_t, const char*, OTF2_ErrorCode code, const char* format,
                          va_list arguments) {
  std::array<char, 500> text{};
  std::vsnprintf(text.data(), text.size(), format, arguments);
  last_error() = std::string(OTF2_Error_GetDescription(code)) + ": " + text.data();
  return code;
}

struct moment {
  std::uint64_t at;
  int order;  // leaves before messages before enters
  enum class kind { leave, send, receive, enter } is;
  std::uint32_t region;
  const message* of;
};

class writer {
public:
  writer(const timeline& t, const char* folder) : line_(t) {
    archive_ = OTF2_Archive_Open(folder, "shoal", OTF2_FILEMODE_WRITE, 1U << 20, 4U << 20, OTF2_SUBSTRATE_POSIX,
                                 OTF2_COMPRESSION_NONE);
    if (archive_ == nullptr) return;
    static const OTF2_FlushCallbacks k_flush = {before_flush, after_flush};
    good_ = OTF2_Archive_SetFlushCallbacks(archive_, &k_flush, nullptr) == OTF2_SUCCESS &&
            OTF2_Archive_SetSerialCollectiveCallbacks(archive_) == OTF2_SUCCESS;
  }
  writer(const writer&) = delete;
  writer& operator=(const writer&) = delete;

  bool run() {
    if (!good_) return false;
    check(OTF2_Archive_OpenEvtFiles(archive_));
    for (std::uint32_t k = 0; good_ && k < line_.tracks.size(); ++k) write_events(k);
    check(OTF2_Archive_CloseEvtFiles(archive_));
    check(OTF2_Archive_OpenDefFiles(archive_));
    for (std::uint32_t k = 0; good_ && k < line_.tracks.size(); ++k)
      check(OTF2_Archive_CloseDefWriter(archive_, OTF2_Archive_GetDefWriter(archive_, k)));
    check(OTF2_Archive_CloseDefFiles(archive_));
    if (good_) write_definitions();
    check(OTF2_Archive_Close(archive_));
    return good_;
  }

private:
  void check(OTF2_ErrorCode code) { good_ = good_ && code == OTF2_SUCCESS; }

  // Regions of OTF2 by number: words first, then states.
  std::uint32_t region_of(const slice& s) const {
    return s.what == activity::task
               ? s.name
               : static_cast<std::uint32_t>(line_.words.size()) + static_cast<std::uint32_t>(s.what);
  }

  void write_events(std::uint32_t number) {
    const track& one = line_.tracks[number];
    std::vector<moment> all;
    for (const slice& s : one.slices) {
      all.push_back({s.begin_ns, 2, moment::kind::enter, region_of(s), nullptr});
      if (s.call != 0) {
        all.push_back({s.begin_ns, 2, moment::kind::enter, s.call, nullptr});
        all.push_back({s.end_ns, 0, moment::kind::leave, s.call, nullptr});
      }
      all.push_back({s.end_ns, 0, moment::kind::leave, region_of(s), nullptr});
    }
    for (const message& m : line_.messages) {
      if (m.from == number) all.push_back({m.sent_ns, 1, moment::kind::send, 0, &m});
      if (m.to == number) all.push_back({m.received_ns, 1, moment::kind::receive, 0, &m});
    }
    std::ranges::stable_sort(
        all, [](const moment& a, const moment& b) { return std::pair(a.at, a.order) < std::pair(b.at, b.order); });
    OTF2_EvtWriter* const w = OTF2_Archive_GetEvtWriter(archive_, number);
    for (const moment& m : all) {
      switch (m.is) {
        case moment::kind::enter: check(OTF2_EvtWriter_Enter(w, nullptr, m.at, m.region)); break;
        case moment::kind::leave: check(OTF2_EvtWriter_Leave(w, nullptr, m.at, m.region)); break;
        case moment::kind::send: check(OTF2_EvtWriter_MpiSend(w, nullptr, m.at, m.of->to, 0, 0, m.of->bytes)); break;
        case moment::kind::receive:
          check(OTF2_EvtWriter_MpiRecv(w, nullptr, m.at, m.of->from, 0, 0, m.of->bytes));
          break;
      }
    }
    std::uint64_t events = 0;
    check(OTF2_EvtWriter_GetNumberOfEvents(w, &events));
    events_.push_back(events);
    check(OTF2_Archive_CloseEvtWriter(archive_, w));
  }

  OTF2_StringRef text(const std::string& words) {
    const auto [at, is_new] = texts_.try_emplace(words, static_cast<OTF2_StringRef>(texts_.size()));
    if (is_new) check(OTF2_GlobalDefWriter_WriteString(definitions_, at->second, words.c_str()));
    return at->second;
  }

  void write_definitions() {
    definitions_ = OTF2_Archive_GetGlobalDefWriter(archive_);
    check(OTF2_GlobalDefWriter_WriteClockProperties(definitions_, 1'000'000'000, 0, line_.length_ns,
                                                    OTF2_UNDEFINED_TIMESTAMP));
    const OTF2_StringRef nothing = text("");
    const auto region = [&](std::uint32_t number, const std::string& name, OTF2_RegionRole role) {
      const OTF2_StringRef named = text(name);
      check(OTF2_GlobalDefWriter_WriteRegion(definitions_, number, named, named, nothing, role, OTF2_PARADIGM_USER,
                                             OTF2_REGION_FLAG_NONE, nothing, 0, 0));
    };
    for (std::uint32_t i = 0; i < line_.words.size(); ++i)
      region(i, line_.words[i].empty() ? "(no name)" : line_.words[i], OTF2_REGION_ROLE_TASK);
    for (std::uint32_t i = 0; i < k_state_names.size(); ++i)
      region(static_cast<std::uint32_t>(line_.words.size()) + i, k_state_names[i], OTF2_REGION_ROLE_FUNCTION);
    std::map<std::string, OTF2_SystemTreeNodeRef> machines;
    std::map<std::uint32_t, OTF2_LocationGroupRef> nodes;
    check(OTF2_GlobalDefWriter_WriteSystemTreeNode(definitions_, 0, text("job"), text("job"),
                                                   OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    std::vector<std::uint64_t> members;
    for (std::uint32_t k = 0; k < line_.tracks.size(); ++k) {
      const track& one = line_.tracks[k];
      const auto [machine, is_new_machine] =
          machines.try_emplace(one.machine, static_cast<OTF2_SystemTreeNodeRef>(machines.size() + 1));
      if (is_new_machine)
        check(OTF2_GlobalDefWriter_WriteSystemTreeNode(definitions_, machine->second, text(one.machine),
                                                       text("machine"), 0));
      const auto [node, is_new_node] = nodes.try_emplace(one.node, static_cast<OTF2_LocationGroupRef>(nodes.size()));
      if (is_new_node)
        check(OTF2_GlobalDefWriter_WriteLocationGroup(
            definitions_, node->second, text("node " + std::to_string(one.node)), OTF2_LOCATION_GROUP_TYPE_PROCESS,
            machine->second, OTF2_UNDEFINED_LOCATION_GROUP));
      check(OTF2_GlobalDefWriter_WriteLocation(definitions_, k, text("worker " + std::to_string(one.worker)),
                                               OTF2_LOCATION_TYPE_CPU_THREAD, events_[k], node->second));
      members.push_back(k);
    }
    const auto size = static_cast<std::uint32_t>(members.size());
    check(OTF2_GlobalDefWriter_WriteGroup(definitions_, 0, text("workers"), OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                          OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, size, members.data()));
    check(OTF2_GlobalDefWriter_WriteGroup(definitions_, 1, nothing, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                          OTF2_GROUP_FLAG_NONE, size, members.data()));
    check(OTF2_GlobalDefWriter_WriteComm(definitions_, 0, text("all workers"), 1, OTF2_UNDEFINED_COMM,
                                         OTF2_COMM_FLAG_NONE));
    check(OTF2_Archive_CloseGlobalDefWriter(archive_, definitions_));
  }

  const timeline& line_;
  OTF2_Archive* archive_ = nullptr;
  OTF2_GlobalDefWriter* definitions_ = nullptr;
  bool good_ = false;
  std::vector<std::uint64_t> events_;  // by location
  std::map<std::string, OTF2_StringRef> texts_;
};

}  // namespace
}  // namespace shoal::trace

extern "C" __attribute__((visibility("default"))) const char shoal_otf2_version[] = SHOAL_VERSION;

extern "C" __attribute__((visibility("default"))) bool shoal_write_otf2(const shoal::trace::timeline& t,
                                                                        const char* folder, char* why_not,
                                                                        std::size_t bytes) {
  OTF2_Error_RegisterCallback(shoal::trace::note_error, nullptr);
  const bool good = shoal::trace::writer(t, folder).run();
  std::snprintf(why_not, bytes, "%s", shoal::trace::last_error().c_str());
  return good;
}
