// SPDX-License-Identifier: Apache-2.0
#include "runtime/mpi_unhosted.hpp"

#include <future>
#include <optional>

#include "runtime/mpi_job.hpp"
#include "shoal/future.hpp"
#include "shoal/job.hpp"

namespace shoal::runtime {

struct unhosted_rank::state {
  std::promise<rank::rank_state*> began;
  std::optional<promise<void>> ended;  // made by the rank's task, which waits for it
  rank::rank_state* rank = nullptr;
  std::optional<job> nodes;
  std::optional<std::future<int>> main;  // on node 0
};

unhosted_rank::unhosted_rank() : state_(std::make_unique<state>()) {
  state& s = *state_;
  mpi_program p;
  p.run = [&s](rank::rank_state& r) {
    s.ended.emplace();
    future<void> end = s.ended->get_future();
    s.began.set_value(&r);
    end.get();
    return 0;
  };
  set_mpi_program(std::move(p));
  std::future<rank::rank_state*> began = s.began.get_future();
  s.nodes.emplace(run_options{.settings = {{"workers", "1"}}});
  if (s.nodes->node() == 0) s.main.emplace(s.nodes->submit([] { return run_ranks(); }));
  s.rank = began.get();
}

unhosted_rank::~unhosted_rank() = default;

rank::rank_state& unhosted_rank::rank() noexcept { return *state_->rank; }

void unhosted_rank::end() {
  state_->ended->set_value();
  if (state_->main) state_->main->get();
  state_->nodes->end();
}

}  // namespace shoal::runtime
