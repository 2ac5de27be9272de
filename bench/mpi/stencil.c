// SPDX-License-Identifier: Apache-2.0
// A 3D 7-point stencil, periodic, in which all threads communicate: processes are planes of blocks along z, threads cut
// a block along y, each sends its own rows of the two boundary planes. The field is of
// 64-bit integers that wrap, so that the result can be verified exactly against one computed alone.
#include "measure.h"

static int side, layers, threads, steps;
static uint64_t* field[2];
static struct thread_barrier barrier;
static atomic_llong messages;

static size_t at(int z, int y, int x) {  // z from -1 to layers
  return ((size_t)(z + 1) * (size_t)side + (size_t)y) * (size_t)side + (size_t)x;
}

static uint64_t start_value(int z, int y, int x) {
  return scramble(((uint64_t)z * (uint64_t)side + (uint64_t)y) * (uint64_t)side + (uint64_t)x) >> 8;
}

static uint64_t next_value(const uint64_t* f, size_t here, size_t up, size_t down, size_t n, size_t s, size_t e,
                           size_t w) {
  return 2 * f[here] + f[up] + 3 * f[down] + 5 * f[n] + 7 * f[s] + 11 * f[e] + 13 * f[w];
}

static void body(int thread) {
  const int low = side * thread / threads, high = side * (thread + 1) / threads;
  const int above = (g_program.rank + 1) % g_program.ranks;
  const int below = (g_program.rank + g_program.ranks - 1) % g_program.ranks;
  const int count = (high - low) * side;
  measured_begin();
  for (int step = 0; step < steps; ++step) {
    uint64_t* f = field[step % 2];
    uint64_t* to = field[(step + 1) % 2];
    MPI_Request requests[4];
    const int tag = 2 * thread;
    MPI_Irecv(&f[at(-1, low, 0)], count, MPI_UINT64_T, below, tag, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&f[at(layers, low, 0)], count, MPI_UINT64_T, above, tag + 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(&f[at(layers - 1, low, 0)], count, MPI_UINT64_T, above, tag, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(&f[at(0, low, 0)], count, MPI_UINT64_T, below, tag + 1, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    atomic_fetch_add(&messages, 2);
    for (int z = 0; z < layers; ++z) {
      for (int y = low; y < high; ++y) {
        const int north = (y + 1) % side, south = (y + side - 1) % side;
        for (int x = 0; x < side; ++x) {
          const int east = (x + 1) % side, west = (x + side - 1) % side;
          to[at(z, y, x)] = next_value(f, at(z, y, x), at(z + 1, y, x), at(z - 1, y, x), at(z, north, x),
                                       at(z, south, x), at(z, y, east), at(z, y, west));
        }
      }
    }
    thread_barrier_wait(&barrier);
  }
  measured_end();
}

// The same, by one process for itself: planes of all processes.
static uint64_t checksum_alone(int first_layer) {
  const int all = layers * g_program.ranks;
  const size_t plane = (size_t)side * (size_t)side;
  uint64_t* f = malloc(plane * (size_t)all * 8);
  uint64_t* to = malloc(plane * (size_t)all * 8);
  if (f == NULL || to == NULL) stop_program("out of memory");
#define AT(z, y, x) (((size_t)(z) * (size_t)side + (size_t)(y)) * (size_t)side + (size_t)(x))
  for (int z = 0; z < all; ++z)
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x) f[AT(z, y, x)] = start_value(z, y, x);
  for (int step = 0; step < steps; ++step) {
    for (int z = 0; z < all; ++z)
      for (int y = 0; y < side; ++y)
        for (int x = 0; x < side; ++x)
          to[AT(z, y, x)] = next_value(f, AT(z, y, x), AT((z + 1) % all, y, x), AT((z + all - 1) % all, y, x),
                                       AT(z, (y + 1) % side, x), AT(z, (y + side - 1) % side, x),
                                       AT(z, y, (x + 1) % side), AT(z, y, (x + side - 1) % side));
    uint64_t* other = f;
    f = to;
    to = other;
  }
  uint64_t sum = 0;
  for (size_t i = 0; i < plane * (size_t)layers; ++i) sum += f[plane * (size_t)first_layer + i] * (2 * i + 1);
#undef AT
  free(f);
  free(to);
  return sum;
}

int main(int argc, char** argv) {
  const struct option options[] = {{"threads", 2, "threads per process"},
                                   {"side", 32, "elements along x and y"},
                                   {"layers", 8, "planes of a process"},
                                   {"steps", 64, "before verification"}};
  begin_program(argc, argv, "stencil", options, 4);
  threads = option_count("threads");
  side = option_count("side");
  layers = option_count("layers");
  steps = option_count("steps");
  if (side < 3 || layers < 1 || steps < 1 || threads > side)
    stop_program("side from 3 and the threads, layers, steps from 1");
  const size_t elements = (size_t)side * (size_t)side * (size_t)(layers + 2);
  field[0] = calloc(elements, 8);
  field[1] = calloc(elements, 8);
  if (field[0] == NULL || field[1] == NULL) stop_program("out of memory");
  barrier.threads = threads;
  const uint64_t wanted = checksum_alone(g_program.rank * layers);
  double seconds = 0;
  long long runs = 0;
  for (int more = 1; more;) {  // whole runs until the time is over, each verified
    for (int z = 0; z < layers; ++z)
      for (int y = 0; y < side; ++y)
        for (int x = 0; x < side; ++x) field[0][at(z, y, x)] = start_value(g_program.rank * layers + z, y, x);
    run_threads(threads, body);
    seconds += measured_seconds();
    ++runs;
    uint64_t sum = 0;
    const uint64_t* result = &field[steps % 2][at(0, 0, 0)];
    for (size_t i = 0; i < (size_t)side * (size_t)side * (size_t)layers; ++i) sum += result[i] * (2 * i + 1);
    expect(sum == wanted, "the field is not the one computed alone");
    more = seconds < option_value("seconds");
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  const double all = over_ranks(seconds, MPI_MAX);
  const double updates = (double)runs * steps * side * side * layers * g_program.ranks;
  add_metric("rate", "M updates/s", updates / all / 1e6);
  add_metric("message_rate", "M messages/s", over_ranks((double)messages, MPI_SUM) / all / 1e6);
  free(field[0]);
  free(field[1]);
  return end_program();
}
