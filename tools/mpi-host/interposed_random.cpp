// SPDX-License-Identifier: Apache-2.0
// Random numbers: each rank has the sequences that a process has. Their state is the rank's; libc's functions that take
// one as an argument do the work.
#include <cstdint>

#include "tools/mpi-host/rank_libc.hpp"

using namespace shoal::host;  // NOLINT: the functions of a C interface

namespace {

// Without a seed, a process begins as after srandom(1).
random_data& begun(rank_libc& mine) noexcept {
  if (!mine.random_begun) {
    ::initstate_r(1, mine.random_state.data(), mine.random_state.size(), &mine.random);
    mine.random_begun = true;
  }
  return mine.random;
}

// What initstate() and setstate() give: where the state is that the program has given them before.
char* state_address(const random_data& of) noexcept { return reinterpret_cast<char*>(of.state - 1); }

long next_random(rank_libc& mine) noexcept {
  const thread_guard hold(mine);
  std::int32_t result = 0;
  ::random_r(&begun(mine), &result);
  return result;
}

void seed(rank_libc& mine, unsigned value) noexcept {
  const thread_guard hold(mine);
  ::srandom_r(value, &begun(mine));
}

template <class Result, class Function, class... Arguments>
Result draw(rank_libc& mine, const Function& function, Arguments... arguments) noexcept {
  const thread_guard hold(mine);
  Result result{};
  function(arguments..., &mine.drand48, &result);
  return result;
}

}  // namespace

SHOAL_INTERPOSED int rand() noexcept {
  SHOAL_NEXT(rand);
  rank_libc* const mine = calling_libc();
  return mine == nullptr ? rand_next() : static_cast<int>(next_random(*mine));
}

SHOAL_INTERPOSED void srand(unsigned value) noexcept {
  SHOAL_NEXT(srand);
  rank_libc* const mine = calling_libc();
  mine == nullptr ? srand_next(value) : seed(*mine, value);
}

SHOAL_INTERPOSED long random() noexcept {
  SHOAL_NEXT(random);
  rank_libc* const mine = calling_libc();
  return mine == nullptr ? random_next() : next_random(*mine);
}

SHOAL_INTERPOSED void srandom(unsigned value) noexcept {
  SHOAL_NEXT(srandom);
  rank_libc* const mine = calling_libc();
  mine == nullptr ? srandom_next(value) : seed(*mine, value);
}

SHOAL_INTERPOSED char* initstate(unsigned value, char* state, std::size_t bytes) noexcept {
  SHOAL_NEXT(initstate);
  rank_libc* const mine = calling_libc();
  if (mine == nullptr) return initstate_next(value, state, bytes);
  const thread_guard hold(*mine);
  char* const before = state_address(begun(*mine));
  return ::initstate_r(value, state, bytes, &mine->random) == 0 ? before : nullptr;
}

SHOAL_INTERPOSED char* setstate(char* state) noexcept {
  SHOAL_NEXT(setstate);
  rank_libc* const mine = calling_libc();
  if (mine == nullptr) return setstate_next(state);
  const thread_guard hold(*mine);
  char* const before = state_address(begun(*mine));
  return ::setstate_r(state, &mine->random) == 0 ? before : nullptr;
}

SHOAL_INTERPOSED double drand48() noexcept {
  SHOAL_NEXT(drand48);
  rank_libc* const mine = calling_libc();
  return mine == nullptr ? drand48_next() : draw<double>(*mine, ::drand48_r);
}

SHOAL_INTERPOSED double erand48(unsigned short* x) noexcept {
  SHOAL_NEXT(erand48);
  rank_libc* const mine = calling_libc();
  return mine == nullptr ? erand48_next(x) : draw<double>(*mine, ::erand48_r, x);
}

SHOAL_INTERPOSED long lrand48() noexcept {
  SHOAL_NEXT(lrand48);
  rank_libc* const mine = calling_libc();
  return mine == nullptr ? lrand48_next() : draw<long>(*mine, ::lrand48_r);
}

SHOAL_INTERPOSED long nrand48(unsigned short* x) noexcept {
  SHOAL_NEXT(nrand48);
  rank_libc* const mine = calling_libc();
  return mine == nullptr ? nrand48_next(x) : draw<long>(*mine, ::nrand48_r, x);
}

SHOAL_INTERPOSED long mrand48() noexcept {
  SHOAL_NEXT(mrand48);
  rank_libc* const mine = calling_libc();
  return mine == nullptr ? mrand48_next() : draw<long>(*mine, ::mrand48_r);
}

SHOAL_INTERPOSED long jrand48(unsigned short* x) noexcept {
  SHOAL_NEXT(jrand48);
  rank_libc* const mine = calling_libc();
  return mine == nullptr ? jrand48_next(x) : draw<long>(*mine, ::jrand48_r, x);
}

SHOAL_INTERPOSED void srand48(long value) noexcept {
  SHOAL_NEXT(srand48);
  rank_libc* const mine = calling_libc();
  if (mine == nullptr) return srand48_next(value);
  const thread_guard hold(*mine);
  ::srand48_r(value, &mine->drand48);
}

SHOAL_INTERPOSED unsigned short* seed48(unsigned short* x) noexcept {
  SHOAL_NEXT(seed48);
  rank_libc* const mine = calling_libc();
  if (mine == nullptr) return seed48_next(x);
  const thread_guard hold(*mine);
  ::seed48_r(x, &mine->drand48);
  return mine->drand48.__old_x;
}

SHOAL_INTERPOSED void lcong48(unsigned short* parameters) noexcept {
  SHOAL_NEXT(lcong48);
  rank_libc* const mine = calling_libc();
  if (mine == nullptr) return lcong48_next(parameters);
  const thread_guard hold(*mine);
  ::lcong48_r(parameters, &mine->drand48);
}
