// SPDX-License-Identifier: Apache-2.0
// The trace of a pool's workers while it runs, in a file of the folder that the setting `trace` names. `shoal trace` reads
// such folders.
// Who may call: one thread, before workers run and after. Never switches tasks. Errors: shoal::error names the file.
// Test: tests/cluster/trace_test.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "base/settings.hpp"
#include "machine/mapped_file.hpp"
#include "machine/symbols.hpp"
#include "trace/trace_file.hpp"

namespace shoal::sched {
class pool;
}

namespace shoal::runtime {

struct trace_wish {
  std::string folder;        // empty: no trace
  std::uint64_t events = 0;  // per worker
  bool overwrite = true;
  bool samples = false;
};

extern const base::setting_table k_trace_settings;
trace_wish read_trace_wish(const base::settings& s);

class trace_recording {
public:
  trace_recording(const trace_wish& wish, std::uint32_t node, std::uint32_t nodes, sched::pool& workers);
  ~trace_recording();
  trace_recording(const trace_recording&) = delete;
  trace_recording& operator=(const trace_recording&) = delete;

  trace::trace_writer& writer() noexcept { return *writer_; }
  /// Names what the events refer to. Once, when the workers write no more.
  void finish();

private:
  void name_samples();
  template <class Describe>
  void name(std::uint64_t address, const Describe& describe);

  sched::pool& workers_;
  machine::mapped_file file_;
  std::unique_ptr<trace::trace_writer> writer_;
  std::mutex naming_;
  machine::symbols symbols_;
  std::set<std::uint64_t> named_;
  bool is_full_ = false;
};

}  // namespace shoal::runtime
