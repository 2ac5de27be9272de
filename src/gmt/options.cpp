// SPDX-License-Identifier: Apache-2.0
#include "gmt/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "shoal/error.hpp"

namespace shoal::gmt {
namespace {

struct option {
  std::string_view name;  // without --gmt_; '-' counts as '_'
  bool takes_value;
  std::string_view setting;  // of the runtime; empty: it has no meaning here
};

constexpr option k_options[] = {
    {"num_workers", true, "workers"},
    {"num_helpers", true, "helpers"},
    {"comm_buffer_size", true, "buffer"},
    {"num_buffs_per_channel", true, "buffers"},
    {"thread_pinning", false, "pin"},
    {"state", true, ""},
    {"state_name", true, ""},
    {"help", false, ""},
    {"num_uthreads_per_worker", true, ""},
    {"max_nesting", true, ""},
    {"num_cmd_blocks", true, ""},
    {"mtasks_per_queue", true, ""},
    {"num_mtasks_queues", true, ""},
    {"mtasks_res_block_rem", true, ""},
    {"mtasks_res_block_loc", true, ""},
    {"max_handles_per_node", true, ""},
    {"handle_check_interv", true, ""},
    {"mtask_check_interv", true, ""},
    {"cmdb_check_interv", true, ""},
    {"node_agg_check_interv", true, ""},
    {"dta_chunk_size", true, ""},
    {"dta_prealloc_worker_chunks", true, ""},
    {"dta_prealloc_helper_chunks", true, ""},
    {"state_rw", false, ""},
    {"state_populate", false, ""},
    {"ssd_path", true, ""},
    {"disk_path", true, ""},
    {"limit_parallelism", false, ""},
    {"num_cores", true, ""},
    {"stride_pinning", true, ""},
    {"release_uthread_stack", false, ""},
    {"print_stack_break", false, ""},
    {"print_gmt_mem_usage", false, ""},
    {"print_sched_interv", true, ""},
    {"enable_usr_signal", false, ""},
};

const option* find(std::string_view name) {
  const auto found = std::ranges::find(k_options, name, &option::name);
  return found != std::end(k_options) ? found : nullptr;
}

// Sizes of buffers as the runtime accepts them: GMT's may be larger.
std::string fitting(std::string_view setting, const std::string& value) {
  const auto number = [&](std::uint64_t least, std::uint64_t most) {
    if (value.empty() || value.find_first_not_of("0123456789") != std::string::npos) return value;  // judged later
    const std::uint64_t n = value.size() > 12 ? most : std::stoull(value);
    return std::to_string(std::clamp(n, least, most));
  };
  if (setting == "buffer") return number(std::uint64_t{16} << 10, std::uint64_t{1} << 20);
  if (setting == "buffers") return number(2, 256);
  if (setting == "helpers") return number(0, 64);
  return value;
}

}  // namespace

options take_options(int& argc, char** argv) {
  options found;
  std::vector<char*> kept;
  for (int i = 0; i < argc; ++i) {
    const std::string_view text = argv[i];
    if (i == 0 || (!text.starts_with("--gmt_") && !text.starts_with("--gmt-"))) {
      kept.push_back(argv[i]);
      continue;
    }
    const auto equals = text.find('=');
    std::string name(text.substr(6, equals == text.npos ? text.npos : equals - 6));
    std::ranges::replace(name, '-', '_');
    const option* const known = find(name);
    if (known == nullptr) {
      found.unknown.emplace_back(text);
      continue;
    }
    std::string value = "on";
    if (equals != text.npos) {
      value = text.substr(equals + 1);
    } else if (known->takes_value) {
      if (i + 1 == argc)
        throw error(errc::invalid_argument, fmt::format("{} has no value; write for instance {}=2", text, text));
      value = argv[++i];
    }
    if (name == "help") found.help = true;
    if (name == "state" || name == "state_name") found.state = value;
    if (!known->setting.empty()) found.settings.emplace_back(known->setting, fitting(known->setting, value));
  }
  if (argc > 0) {
    std::ranges::copy(kept, argv);
    argv[kept.size()] = nullptr;
    argc = static_cast<int>(kept.size());
  }
  return found;
}

std::string help_text() {
  return "options of GMT's C interface (docs/gmt.md):\n"
         "  --gmt_num_workers N            threads per node that run tasks\n"
         "  --gmt_num_helpers N            threads per node that only execute commands of other nodes\n"
         "  --gmt_comm_buffer_size BYTES   of an aggregation buffer, 16384 to 1048576\n"
         "  --gmt_num_buffs_per_channel N  buffers in flight from a worker to a node\n"
         "  --gmt_thread_pinning           pin workers to processors\n"
         "  --gmt-state=FOLDER             where named arrays of GMT_ALLOC_SHM, _SSD and _DISK are kept\n"
         "  --shoal-NAME=VALUE             any setting of shoal info\n"
         "other options of GMT are accepted and have no effect\n";
}

}  // namespace shoal::gmt
