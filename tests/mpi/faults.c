// SPDX-License-Identifier: Apache-2.0
// A program that does wrong, in the way its argument says; the test reads what is said of it.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
