// SPDX-License-Identifier: Apache-2.0
// A program that does wrong, in the way its argument says; the test reads what is said of it.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank;

static void end_thread(void* in, void* out, int* count, MPI_Datatype* type) {
  (void)in, (void)out, (void)count, (void)type;
  pthread_exit(NULL);
}
static void* ends_inside(void* nothing) {
  MPI_Op op;
  int one = 1, two = 2;
  MPI_Op_create(end_thread, 1, &op);
  MPI_Reduce_local(&one, &two, 1, MPI_INT, op);
  return nothing;
}
static void* waits_for_ever(void* nothing) {
  int value;
  MPI_Recv(&value, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return nothing;
}

// 2.2 GiB to be exchanged in place, with room for the program's own copy only.
static void no_memory(void) {
  const size_t count = 300000000;
  const struct rlimit little = {0, RLIM_INFINITY}, much = {RLIM_INFINITY, RLIM_INFINITY};
  double* all =
      mmap(NULL, count * sizeof *all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) return;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  setrlimit(RLIMIT_AS, &little);
  const int code =
      MPI_Sendrecv_replace(all, (int)count, MPI_DOUBLE, rank, 1, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  setrlimit(RLIMIT_AS, &much);
  printf("exchange in place: %s\n", code == MPI_ERR_NO_MEM ? "no memory" : "something else");
  munmap(all, count * sizeof *all);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  int provided = 0;
  MPI_Init_thread(&argc, &argv, strcmp(what, "single") == 0 ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pthread_t other;
  if (strcmp(what, "ends-inside") == 0) {
    pthread_create(&other, NULL, ends_inside, NULL);
    pthread_join(other, NULL);
  } else if (strcmp(what, "finalize-early") == 0) {
    pthread_create(&other, NULL, waits_for_ever, NULL);
    usleep(100000);
  } else if (strcmp(what, "fork") == 0) {
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      int flag = 0;
      MPI_Initialized(&flag);
      _exit(flag ? 7 : 8);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("child %d\n", WEXITSTATUS(status));
  } else if (strcmp(what, "no-memory") == 0) {
    no_memory();
  } else if (strcmp(what, "abort") == 0) {
    MPI_Abort(MPI_COMM_WORLD, 5);
  } else if (strcmp(what, "error") == 0) {
    MPI_Send(NULL, 0, MPI_INT, 1000, 0, MPI_COMM_WORLD);  // fatal, as the library's handler has it
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  printf("finished\n");
  return 0;
}
