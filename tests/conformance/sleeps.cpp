/* SPDX-License-Identifier: Apache-2.0 */
/* A rank that sleeps, gives its processor away or waits for a descriptor lets the others of its worker run; signals end
   sleeps; a rank waits in these ways for a thread of its own that calls MPI. */
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "check.h"

namespace {

std::string folder;

bool is_there(int rank, const char* way) {
  struct stat found;
  return stat((folder + "/" + way + std::to_string(rank)).c_str(), &found) == 0;
}

/* The last rank makes its file at once, each other one when the next has: with a rank that keeps its worker they never
   come to an end. */
template <class Pause>
void in_a_chain(const char* way, const Pause& pause) {
  while (rank_ + 1 < size_ && !is_there(rank_ + 1, way)) pause();
  FILE* const made = fopen((folder + "/" + way + std::to_string(rank_)).c_str(), "w");
  CHECK(made != NULL);
  if (made != NULL) fclose(made);
  MPI_Barrier(MPI_COMM_WORLD);
  remove((folder + "/" + way + std::to_string(rank_)).c_str());
  MPI_Barrier(MPI_COMM_WORLD);
}

void chains() {
  char name[] = "/tmp/shoal_sleeps_XXXXXX";
  if (rank_ == 0) CHECK(mkdtemp(name) != NULL);
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  folder = name;
  const timespec little{0, 1000}, longer{0, 300000};
  in_a_chain("usleep", [] { CHECK_EQUAL(usleep(200), 0); });
  in_a_chain("nanosleep", [&] { CHECK_EQUAL(nanosleep(&little, NULL), 0); });
  in_a_chain("longer", [&] { CHECK_EQUAL(nanosleep(&longer, NULL), 0); });
  in_a_chain("clock_nanosleep", [&] { CHECK_EQUAL(clock_nanosleep(CLOCK_MONOTONIC, 0, &longer, NULL), 0); });
  in_a_chain("until", [] {
    timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    CHECK_EQUAL(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &at, NULL), 0);
  });
  in_a_chain("thrd_sleep", [&] { CHECK_EQUAL(thrd_sleep(&longer, NULL), 0); });
  in_a_chain("sched_yield", [] { CHECK_EQUAL(sched_yield(), 0); });
  in_a_chain("sleep_for", [] { std::this_thread::sleep_for(std::chrono::microseconds(300)); });
  in_a_chain("yield", [] { std::this_thread::yield(); });
  in_a_chain("poll", [] { CHECK_EQUAL(poll(NULL, 0, 1), 0); });
  in_a_chain("select", [] {
    timeval time{0, 500};
    CHECK_EQUAL(select(0, NULL, NULL, NULL, &time), 0);
    CHECK(time.tv_sec == 0 && time.tv_usec == 0);
  });
  if (rank_ == 0) CHECK_EQUAL(rmdir(name), 0);
}

/* It takes its time. */
void times() {
  using clock = std::chrono::steady_clock;
  auto begun = clock::now();
  CHECK_EQUAL(usleep(3000), 0);
  CHECK(clock::now() - begun >= std::chrono::milliseconds(3));
  begun = clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  CHECK(clock::now() - begun >= std::chrono::milliseconds(2));
  begun = clock::now();
  CHECK_EQUAL(poll(NULL, 0, 3), 0);
  CHECK(clock::now() - begun >= std::chrono::milliseconds(2));
  CHECK_EQUAL(sleep(0), 0u);
  const timespec wrong{0, 2000000000};
  errno = 0;
  CHECK(nanosleep(&wrong, NULL) == -1 && errno == EINVAL);
}

volatile sig_atomic_t signals;
void count_signal(int) { signals = signals + 1; }

/* The timer, one for all ranks of a process, goes on until all sleeps have ended. */
void interrupted() {
  struct sigaction action {};
  action.sa_handler = count_signal;
  sigaction(SIGALRM, &action, NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  const itimerval often{{0, 50000}, {0, 50000}}, never{};
  setitimer(ITIMER_REAL, &often, NULL);
  const timespec long_time{1000, 0};
  timespec left{};
  errno = 0;
  CHECK(nanosleep(&long_time, &left) == -1 && errno == EINTR);
  CHECK(left.tv_sec > 900 && signals > 0);
  CHECK(sleep(1000) > 900);
  errno = 0;
  CHECK(poll(NULL, 0, 1000000) == -1 && errno == EINTR);
  int arrived = 0; /* a barrier that a signal does not disturb */
  MPI_Allreduce(&rank_, &arrived, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  setitimer(ITIMER_REAL, &never, NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  action.sa_handler = SIG_IGN;
  sigaction(SIGALRM, &action, NULL);
}

/* With SA_RESTART a read goes on after the handler; without it ends. */
void interrupted_reads() {
  int ends[2] = {-1, -1};
  CHECK_EQUAL(pipe(ends), 0);
  struct sigaction action {};
  action.sa_handler = count_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  signals = 0;
  const itimerval often{{0, 20000}, {0, 20000}}, never{};
  setitimer(ITIMER_REAL, &often, NULL);
  std::thread writer([&] {
    while (signals < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK_EQUAL(write(ends[1], "x", 1), 1);
  });
  char byte = 0;
  CHECK_EQUAL(read(ends[0], &byte, 1), 1);
  CHECK_EQUAL(byte, 'x');
  writer.join();
  MPI_Barrier(MPI_COMM_WORLD);
  action.sa_flags = 0;
  sigaction(SIGALRM, &action, NULL);
  errno = 0;
  CHECK(read(ends[0], &byte, 1) == -1 && errno == EINTR);
  MPI_Barrier(MPI_COMM_WORLD);
  setitimer(ITIMER_REAL, &never, NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  action.sa_handler = SIG_IGN;
  sigaction(SIGALRM, &action, NULL);
  close(ends[0]);
  close(ends[1]);
}

int pass_on(int tag) {
  int got = -1;
  MPI_Sendrecv(&rank_, 1, MPI_INT, (rank_ + 1) % size_, tag, &got, 1, MPI_INT, (rank_ + size_ - 1) % size_, tag,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return got;
}

/* The thread's calls need the worker of the rank, which waits for it. */
void for_threads() {
  const int left = (rank_ + size_ - 1) % size_;
  int ends[2] = {-1, -1};
  CHECK_EQUAL(pipe(ends), 0);
  std::mutex mutex;
  std::condition_variable changed;
  int done = 0;
  std::thread other([&] {
    char byte = static_cast<char>(pass_on(1) == left ? 'y' : 'n');
    CHECK_EQUAL(write(ends[1], &byte, 1), 1);
    byte = static_cast<char>(pass_on(2) == left ? 'y' : 'n');
    CHECK_EQUAL(write(ends[1], &byte, 1), 1);
    byte = static_cast<char>(pass_on(3) == left ? 'y' : 'n');
    CHECK_EQUAL(write(ends[1], &byte, 1), 1);
    for (int i = 4; i < 7; ++i) {
      const int got = pass_on(i);
      const std::lock_guard hold(mutex);
      if (got == left) ++done;
      changed.notify_all();
    }
  });
  char byte = 'x';
  CHECK_EQUAL(read(ends[0], &byte, 1), 1);
  CHECK_EQUAL(byte, 'y');
  pollfd one{ends[0], POLLIN, 0};
  CHECK_EQUAL(poll(&one, 1, -1), 1);
  CHECK((one.revents & POLLIN) != 0);
  CHECK_EQUAL(read(ends[0], &byte, 1), 1);
  CHECK_EQUAL(byte, 'y');
  fd_set in;
  FD_ZERO(&in);
  FD_SET(ends[0], &in);
  CHECK_EQUAL(select(ends[0] + 1, &in, NULL, NULL, NULL), 1);
  CHECK(FD_ISSET(ends[0], &in));
  CHECK_EQUAL(read(ends[0], &byte, 1), 1);
  CHECK_EQUAL(byte, 'y');
  {
    std::unique_lock hold(mutex);
    changed.wait(hold, [&] { return done >= 1; });
    while (done < 2) changed.wait_for(hold, std::chrono::seconds(100));
    while (done < 3) changed.wait_until(hold, std::chrono::system_clock::now() + std::chrono::seconds(100));
    CHECK(changed.wait_for(hold, std::chrono::milliseconds(1)) == std::cv_status::timeout || done == 3);
  }
  other.join();
  close(ends[0]);
  close(ends[1]);
}

}  // namespace

int main(int argc, char** argv) {
  const int provided = begin_with_threads(&argc, &argv);
  chains();
  times();
  if (provided == MPI_THREAD_MULTIPLE) for_threads();
  interrupted();
  interrupted_reads();
  return end();
}
