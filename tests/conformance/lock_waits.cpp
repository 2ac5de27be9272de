// SPDX-License-Identifier: Apache-2.0
// A rank's main thread waits, by locks with limits and by what C++20 has, for a thread of its own that calls MPI first; and
// limits end waits that nobody ends.
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <functional>
#include <future>
#include <latch>
#include <semaphore>
#include <shared_mutex>
#include <thread>

#include "check.h"

namespace {

// A message around the ring, by the other thread.
void pass() {
  int got = -1;
  MPI_Sendrecv(&rank_, 1, MPI_INT, (rank_ + 1) % size_, 3, &got, 1, MPI_INT, (rank_ + size_ - 1) % size_, 3,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK_EQUAL(got, (rank_ + size_ - 1) % size_);
}

timespec in(long milliseconds, clockid_t clock = CLOCK_REALTIME) {
  timespec t{};
  clock_gettime(clock, &t);
  t.tv_sec += milliseconds / 1000;
  t.tv_nsec += milliseconds % 1000 * 1'000'000;
  if (t.tv_nsec >= 1'000'000'000) t.tv_nsec -= 1'000'000'000, ++t.tv_sec;
  return t;
}
constexpr long k_minute = 60'000, k_short = 5;

// The thread has taken a lock when `wait` begins, and lets it go when it has called MPI.
void wait_for_lock(const std::function<void()>& lock, const std::function<void()>& unlock,
                   const std::function<void()>& wait) {
  std::atomic<bool> taken{false};
  std::thread other([&] {
    lock();
    taken = true;
    pass();
    unlock();
  });
  while (!taken) std::this_thread::yield();
  wait();
  unlock();
  other.join();
}

void wait_for(const std::function<void()>& end, const std::function<void()>& wait) {
  std::thread other([&] {
    pass();
    end();
  });
  wait();
  other.join();
}

void locks() {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
  static pthread_spinlock_t spin;
  static mtx_t c11;
  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  mtx_init(&c11, mtx_timed);
  const auto by_mutex = [](auto wait) {
    wait_for_lock([] { pthread_mutex_lock(&mutex); }, [] { pthread_mutex_unlock(&mutex); }, wait);
  };
  const auto by_shared = [](auto wait) {
    wait_for_lock([] { pthread_rwlock_wrlock(&shared); }, [] { pthread_rwlock_unlock(&shared); }, wait);
  };
  const timespec far = in(k_minute), steady = in(k_minute, CLOCK_MONOTONIC);
  by_mutex([&] { CHECK_EQUAL(pthread_mutex_timedlock(&mutex, &far), 0); });
  by_mutex([&] { CHECK_EQUAL(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &steady), 0); });
  by_shared([&] { CHECK_EQUAL(pthread_rwlock_rdlock(&shared), 0); });
  by_shared([&] { CHECK_EQUAL(pthread_rwlock_wrlock(&shared), 0); });
  by_shared([&] { CHECK_EQUAL(pthread_rwlock_timedrdlock(&shared, &far), 0); });
  by_shared([&] { CHECK_EQUAL(pthread_rwlock_clockwrlock(&shared, CLOCK_MONOTONIC, &steady), 0); });
  wait_for_lock([] { pthread_spin_lock(&spin); }, [] { pthread_spin_unlock(&spin); },
                [] { CHECK_EQUAL(pthread_spin_lock(&spin), 0); });
  wait_for_lock([] { mtx_lock(&c11); }, [] { mtx_unlock(&c11); },
                [&] { CHECK_EQUAL(mtx_timedlock(&c11, &far), thrd_success); });
  std::shared_timed_mutex cplusplus;
  wait_for_lock([&] { cplusplus.lock(); }, [&] { cplusplus.unlock(); }, [&] { cplusplus.lock(); });

  pthread_mutexattr_t checks;
  pthread_mutex_t checked;
  pthread_mutexattr_init(&checks);
  pthread_mutexattr_settype(&checks, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&checked, &checks);
  pthread_mutex_lock(&checked);
  CHECK_EQUAL(pthread_mutex_timedlock(&checked, &far), EDEADLK);
  pthread_mutex_unlock(&checked);
}

void events() {
  sem_t posted;
  sem_init(&posted, 0, 0);
  const timespec far = in(k_minute);
  wait_for([&] { sem_post(&posted); }, [&] { CHECK_EQUAL(sem_timedwait(&posted, &far), 0); });
  int ends[2];
  CHECK_EQUAL(pipe(ends), 0);
  wait_for([&] { CHECK_EQUAL(write(ends[1], "x", 1), 1); },
           [&] {
             pollfd one{ends[0], POLLIN, 0};
             const timespec minute{60, 0};
             CHECK_EQUAL(ppoll(&one, 1, &minute, nullptr), 1);
           });
  close(ends[0]);
  close(ends[1]);
  pthread_t thread;
  CHECK_EQUAL(pthread_create(
                  &thread, nullptr,
                  [](void*) -> void* {
                    pass();
                    return nullptr;
                  },
                  nullptr),
              0);
  CHECK_EQUAL(pthread_timedjoin_np(thread, nullptr, &far), 0);
}

void of_cplusplus() {
  std::promise<int> promise;
  auto future = promise.get_future();
  wait_for([&] { promise.set_value(4); }, [&] { CHECK_EQUAL(future.get(), 4); });
  std::latch latch(1);
  wait_for([&] { latch.count_down(); }, [&] { latch.wait(); });
  std::atomic<int> word{0};
  wait_for(
      [&] {
        word = 1;
        word.notify_all();
      },
      [&] { word.wait(0); });
  std::counting_semaphore<4> semaphore(0);
  wait_for([&] { semaphore.release(); }, [&] { semaphore.acquire(); });
  std::barrier<> barrier(2);
  wait_for([&] { barrier.arrive_and_wait(); }, [&] { barrier.arrive_and_wait(); });
}

// Nobody comes.
void limits() {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  sem_t never;
  sem_init(&never, 0, 0);
  const auto begun = std::chrono::steady_clock::now();
  const timespec soon = in(k_short);
  std::atomic<int> tried{-1};
  std::thread([&] {
    tried = pthread_mutex_timedlock(&mutex, &soon);
  }).join();  // which the C library's function waits in
  CHECK_EQUAL(tried, ETIMEDOUT);
  const timespec later = in(k_short);
  CHECK_EQUAL(sem_timedwait(&never, &later), -1);
  CHECK_EQUAL(errno, ETIMEDOUT);
  std::promise<int> promise;
  CHECK(promise.get_future().wait_for(std::chrono::milliseconds(k_short)) == std::future_status::timeout);
  std::counting_semaphore<4> semaphore(0);
  CHECK(!semaphore.try_acquire_for(std::chrono::milliseconds(k_short)));
  const timespec time{0, k_short * 1'000'000};
  CHECK_EQUAL(ppoll(nullptr, 0, &time, nullptr), 0);
  CHECK(std::chrono::steady_clock::now() - begun >= std::chrono::milliseconds(5 * k_short));
  pthread_mutex_unlock(&mutex);
}

}  // namespace

int main(int argc, char** argv) {
  begin_with_threads(&argc, &argv);
  locks();
  events();
  of_cplusplus();
  limits();
  return end();
}
