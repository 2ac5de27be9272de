// SPDX-License-Identifier: Apache-2.0
#include "rank/unhosted.hpp"

#include <future>
#include <memory>
#include <optional>
#include <utility>

#include "machine/process.hpp"
#include "runtime/job.hpp"
#include "runtime/mpi_job.hpp"
#include "runtime/simulation.hpp"
#include "shoal/error.hpp"
#include "shoal/future.hpp"
#include "shoal/job.hpp"

namespace shoal::runtime {
namespace {

class unhosted_job final : public rank::unhosted {
public:
  unhosted_job() {
    if (is_simulated(read_config(all_settings())))
      throw error(
          errc::unsupported,
          "transport sim: ranks of a simulated machine are started by shoal sim --nodes 4 -- mpirun ./program, or "
          "by shoal mpirun --transport sim -n 4 ./program");
    mpi_program p;
    p.command = machine::own_command();
    p.run = [this](rank::rank_state& r) {
      ended_.emplace();
      future<void> end = ended_->get_future();
      began_.set_value(&r);
      end.get();
      return 0;
    };
    set_mpi_program(std::move(p));
    std::future<rank::rank_state*> began = began_.get_future();
    nodes_.emplace(run_options{.settings = {{"workers", "1"}}});
    if (nodes_->node() == 0) main_.emplace(nodes_->submit([] { return run_ranks(); }));
    rank_ = began.get();
  }

  rank::rank_state& rank() noexcept override { return *rank_; }

  void end() override {
    ended_->set_value();
    if (main_) main_->get();
    nodes_->end();
  }

private:
  std::promise<rank::rank_state*> began_;
  std::optional<promise<void>> ended_;  // made by the rank's task, which waits for it
  rank::rank_state* rank_ = nullptr;
  std::optional<job> nodes_;
  std::optional<std::future<int>> main_;  // on node 0
};

const bool is_set = [] {
  rank::make_unhosted = []() -> std::unique_ptr<rank::unhosted> { return std::make_unique<unhosted_job>(); };
  return true;
}();

}  // namespace
}  // namespace shoal::runtime
