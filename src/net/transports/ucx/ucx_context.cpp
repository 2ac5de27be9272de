// SPDX-License-Identifier: Apache-2.0
#include "net/transports/ucx/ucx_context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <shoal/error.hpp>
#include <string_view>
#include <utility>

namespace shoal::net {
namespace {

// Longer messages travel in pieces.
constexpr std::size_t k_longest_piece = 64 << 10;
constexpr std::size_t k_piece_headroom = 256;  // UCX's headers and ours

class configuration {
public:
  configuration() {
    check(ucp_config_read(nullptr, nullptr, &config_), "read its settings (UCX_... in the environment)");
  }
  ~configuration() { ucp_config_release(config_); }
  configuration(const configuration&) = delete;
  configuration& operator=(const configuration&) = delete;
  ucp_config_t* get() const noexcept { return config_; }

  // Unless the user has chosen by one of these variables.
  void prefer(const char* name, const std::string& value, std::initializer_list<const char*> variables) {
    const auto chosen = [](const char* variable) { return std::getenv(variable) != nullptr; };
    if (std::none_of(variables.begin(), variables.end(), chosen))
      static_cast<void>(ucp_config_modify(config_, name, value.c_str()));
  }

private:
  ucp_config_t* config_ = nullptr;
};

// Whether the user's settings let UCX use one of these: UCX warns of settings of unused transports.
bool may_use(std::initializer_list<std::string_view> transports) {
  const char* const allowed = std::getenv("UCX_TLS");
  if (allowed == nullptr) return true;
  const std::string list = std::string(",") + allowed + ",";
  const auto listed = [&list](std::string_view name) { return list.find(fmt::format(",{},", name)) != list.npos; };
  if (*allowed != '^') return listed("all") || std::any_of(transports.begin(), transports.end(), listed);
  const std::string refused = std::string(",") + (allowed + 1) + ",";
  return !std::all_of(transports.begin(), transports.end(), [&refused](std::string_view name) {
    return refused.find(fmt::format(",{},", name)) != refused.npos;
  });
}

void prefer_settings(configuration& config, const network_request& request) {
  // A message in one piece is copied once, into the receiver's memory, and read there.
  const std::size_t message = request.most_words * sizeof(std::uint64_t) + k_piece_headroom;
  const std::string piece = std::to_string(std::min((message + 4095) / 4096 * 4096, k_longest_piece));
  // A posix segment is a file in /dev/shm until it has been written once: a process that is killed before leaves it
  // behind, and a small /dev/shm refuses it. System V's are as fast, and lose their names as soon as they are attached.
  // Without TCP where no other machine is to be reached: see open().
  const bool avoids_tcp = std::getenv("UCX_TLS") == nullptr && request.one_machine && !request.tcp_transfers;
  config.prefer("TLS", avoids_tcp ? "^posix,tcp" : "^posix", {"UCX_TLS"});
  if (may_use({"posix", "sysv", "shm", "sm", "mm"})) {
    config.prefer("MM_SEG_SIZE", piece, {"UCX_MM_SEG_SIZE", "UCX_POSIX_SEG_SIZE", "UCX_SYSV_SEG_SIZE"});
    // Else a wire that wants to hear of losses would not use shared memory.
    config.prefer("MM_ERROR_HANDLING", "y", {"UCX_MM_ERROR_HANDLING", "UCX_POSIX_ERROR_HANDLING"});
  }
  if (!avoids_tcp && may_use({"tcp"})) {
    // UCX listens on every device that it may use.
    if (request.one_machine) config.prefer("NET_DEVICES", "lo", {"UCX_NET_DEVICES"});
    config.prefer("TX_SEG_SIZE", piece, {"UCX_TCP_TX_SEG_SIZE"});
    config.prefer("RX_SEG_SIZE", std::to_string(k_longest_piece + 4096), {"UCX_TCP_RX_SEG_SIZE"});
  }
}

// UCX 1.13 has no other way to ask than the text for people: "resource 1  :  md 1  dev 1  flags -- tcp/lo".
bool uses_tcp(ucp_context_h context) {
  char* text = nullptr;
  std::size_t bytes = 0;
  std::FILE* const stream = ::open_memstream(&text, &bytes);
  if (stream == nullptr) return true;
  ucp_context_print_info(context, stream);
  std::fclose(stream);
  const bool found = std::string_view(text, bytes).find(" tcp/") != std::string_view::npos;
  std::free(text);
  return found;
}

ucp_context_h start(const ucp_config_t* config, const network_request& request, unsigned wires, bool transfers) {
  ucp_params_t parameters{};
  parameters.field_mask =
      UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS;
  parameters.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  if (transfers) parameters.features |= UCP_FEATURE_RMA;
  parameters.mt_workers_shared = wires > 1 ? 1 : 0;
  parameters.estimated_num_eps = request.nodes;
  ucp_context_h context = nullptr;
  check(ucp_init(&parameters, config, &context), "start");
  return context;
}

}  // namespace

void check(ucs_status_t status, const char* what) {
  if (status != UCS_OK)
    throw error(errc::system, fmt::format("UCX could not {}: {}. UCX_LOG_LEVEL=info tells more, UCX_TLS and "
                                          "UCX_NET_DEVICES choose what it uses; another --transport does without it",
                                          what, ucs_status_string(status)));
}

ucx_context::ucx_context(const network_request& request, unsigned wires, bool allocates)
    : segment_(request.segment), segment_bytes_(request.segment == nullptr ? 0 : request.segment_bytes) {
  configuration config;
  prefer_settings(config, request);
  open(config.get(), request, wires);
  try {
    if (segment_ != nullptr) register_segment(allocates);
  } catch (...) {
    ucp_cleanup(context_);
    throw;
  }
}

// With puts and gets UCX also takes those that arrive as packets, and copies to the address that the packet names,
// whoever has sent it. So it has no puts and gets where others can send it packets by TCP, unless that is asked for.
void ucx_context::open(const ucp_config_t* config, const network_request& request, unsigned wires) {
  context_ = start(config, request, wires, segment_ != nullptr);
  if (segment_ == nullptr || request.tcp_transfers || !uses_tcp(context_)) return;
  ucp_cleanup(std::exchange(context_, nullptr));
  if (request.allocate)
    throw error(errc::invalid_argument,
                "SHOAL_NETWORK_MEMORY=on is for copies by UCX itself, which are off where UCX may use TCP; set UCX_TLS "
                "to names without tcp, or on a network that you trust SHOAL_TCP_TRANSFERS=on");
  segment_ = nullptr;
  segment_bytes_ = 0;
  refused_ = true;
  context_ = start(config, request, wires, false);
}

ucx_context::~ucx_context() {
  if (registration_ != nullptr) static_cast<void>(ucp_mem_unmap(context_, registration_));
  ucp_cleanup(context_);
}

void ucx_context::register_segment(bool allocates) {
  ucp_mem_map_params_t parameters{};
  parameters.field_mask =
      UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
  parameters.address = segment_;
  parameters.length = segment_bytes_;
  parameters.flags = UCP_MEM_MAP_NONBLOCK;  // untouched pages stay unallocated if the network allows it
  if (allocates) parameters.flags |= UCP_MEM_MAP_ALLOCATE | UCP_MEM_MAP_FIXED;
  check(ucp_mem_map(context_, &parameters, &registration_),
        allocates ? "allocate the segment" : "register the segment");
  void* packed = nullptr;
  std::size_t bytes = 0;
  const ucs_status_t status = ucp_rkey_pack(context_, registration_, &packed, &bytes);
  if (status != UCS_OK) static_cast<void>(ucp_mem_unmap(context_, registration_));
  check(status, "describe the registered segment");
  key_.resize(bytes);
  std::memcpy(key_.data(), packed, bytes);
  ucp_rkey_buffer_release(packed);
}

}  // namespace shoal::net
