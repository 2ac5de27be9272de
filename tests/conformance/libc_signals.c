/* SPDX-License-Identifier: Apache-2.0 */
/* Signal handlers are a rank's own: raise() calls that of the rank, also after another rank has set its own. */
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "check.h"

static volatile sig_atomic_t seen_, times_;

static void note(int number) {
  seen_ = number + 100 * rank_;
  ++times_;
}

static void note_all(int number, siginfo_t* info, void* context) {
  (void)context;
  if (info->si_signo == number) seen_ = -number - 100 * rank_;
  ++times_;
}

static void let_others_run(void) { MPI_Barrier(MPI_COMM_WORLD); }

int main(int argc, char** argv) {
  struct sigaction action, old;
  begin(&argc, &argv);
  CHECK(signal(SIGUSR2, note) == SIG_DFL);
  let_others_run();
  raise(SIGUSR2);
  CHECK_EQUAL(seen_, SIGUSR2 + 100 * rank_);
  CHECK_EQUAL(times_, 1);
  let_others_run();
  memset(&action, 0, sizeof action);
  if (rank_ % 2 == 0) {
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = note_all;
  } else {
    action.sa_handler = SIG_IGN;
  }
  CHECK_EQUAL(sigaction(SIGUSR2, &action, &old), 0);
  CHECK(old.sa_handler == note);
  let_others_run();
  raise(SIGUSR2);
  CHECK_EQUAL(times_, rank_ % 2 == 0 ? 2 : 1);
  CHECK_EQUAL(seen_, rank_ % 2 == 0 ? -SIGUSR2 - 100 * rank_ : SIGUSR2 + 100 * rank_);
  let_others_run();
  CHECK(signal(SIGUSR2, note) == (rank_ % 2 == 0 ? (void (*)(int))(void*)note_all : SIG_IGN));
  /* From outside: every rank of the process has its handler called. */
  times_ = 0;
  let_others_run();
  if (rank_ % 2 == 0) kill(getpid(), SIGUSR2);
  let_others_run();
  for (int i = 0; rank_ % 2 == 0 && times_ == 0 && i < 5000; ++i) usleep(1000); /* another thread may get it */
  CHECK(times_ >= (rank_ % 2 == 0 ? 1 : 0));
  let_others_run();
  CHECK(signal(SIGUSR2, SIG_DFL) == note);
  CHECK_EQUAL(sigaction(SIGUSR2, NULL, &old), 0);
  CHECK(old.sa_handler == SIG_DFL);
  action.sa_handler = note; /* once */
  action.sa_flags = SA_RESETHAND;
  times_ = 0;
  sigaction(SIGUSR2, &action, NULL);
  let_others_run();
  raise(SIGUSR2);
  CHECK_EQUAL(times_, 1);
  sigaction(SIGUSR2, NULL, &old);
  CHECK(old.sa_handler == SIG_DFL);
  CHECK_EQUAL(signal(SIGKILL, note) == SIG_ERR, 1);
  /* A timer that outlives the ranks that have set its handler: half of them end, the others go on. */
  const struct itimerval often = {{0, 3000}, {0, 3000}};
  CHECK(signal(SIGALRM, note) == SIG_DFL);
  let_others_run();
  setitimer(ITIMER_REAL, &often, NULL);
  const int status = end();
  for (int i = 0; rank_ % 2 != 0 && i < 20; ++i) usleep(2000);
  return status;
}
