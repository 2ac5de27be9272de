// SPDX-License-Identifier: Apache-2.0
// Windows of messages from the first rank to the last one, each window answered by one small message. The first word of
// a message carries its number; between batches of windows whole contents are verified.
#pragma once

#include "ranks.h"

enum { k_max_window = 256 };

struct stream {
  int bytes;               // of a message
  int window;              // messages in it
  unsigned char* buffers;  // one for each message of a window
};

static inline void begin_window(const struct stream* s, int peer, int sends, MPI_Request* requests) {
  for (int i = 0; i < s->window; ++i) {
    unsigned char* const buffer = s->buffers + (size_t)i * (size_t)s->bytes;
    if (sends) {
      MPI_Isend(buffer, s->bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[i]);
    } else {
      MPI_Irecv(buffer, s->bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[i]);
    }
  }
}

static inline void one_window(const struct stream* s, int peer, int sends, uint64_t* number) {
  MPI_Request requests[k_max_window];
  if (sends) {
    for (int i = 0; i < s->window; ++i) {
      const uint64_t word = *number + (uint64_t)i;
      memcpy(s->buffers + (size_t)i * (size_t)s->bytes, &word, 8);
    }
  }
  begin_window(s, peer, sends, requests);
  MPI_Waitall(s->window, requests, MPI_STATUSES_IGNORE);
  if (!sends) {
    for (int i = 0; i < s->window; ++i) {
      uint64_t word;
      memcpy(&word, s->buffers + (size_t)i * (size_t)s->bytes, 8);
      expect(word == *number + (uint64_t)i, "a message is not the one that was next");
    }
  }
  *number += (uint64_t)s->window;
}

static inline void verified_window(const struct stream* s, int peer, int sends, uint64_t seed) {
  MPI_Request requests[k_max_window];
  for (int i = 0; sends && i < s->window; ++i) {
    fill(s->buffers + (size_t)i * (size_t)s->bytes, s->bytes, seed + (uint64_t)i);
  }
  begin_window(s, peer, sends, requests);
  MPI_Waitall(s->window, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; !sends && i < s->window; ++i) {
    expect(is_filled(s->buffers + (size_t)i * (size_t)s->bytes, s->bytes, seed + (uint64_t)i),
           "a message is not what was sent");
  }
}

// Rank 0 learns the median of microseconds per message; all ranks call it, those between first and last only wait.
static inline double stream_us(struct stream* s) {
  const int last_rank = g_program.ranks - 1, sends = g_program.rank == 0;
  const long long until = deadline_ns();
  uint64_t number = 0;
  if (g_program.ranks < 2) stop_program("needs two ranks");
  if (s->window < 1 || s->window > k_max_window) stop_program("window: from 1 to 256");
  if (s->bytes < 8) stop_program("bytes from 8");
  if (g_program.rank == 0 || g_program.rank == last_rank) {
    const int peer = sends ? last_rank : 0;
    s->buffers = allocate((size_t)s->window * (size_t)s->bytes);
    long long took = 0;
    for (;;) {
      int windows = sends ? next_batch(until, took) : 0;
      if (sends) {
        MPI_Send(&windows, 1, MPI_INT, peer, 3, MPI_COMM_WORLD);
      } else {
        MPI_Recv(&windows, 1, MPI_INT, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
      if (windows == 0) break;
      verified_window(s, peer, sends, number);
      const long long start = now_ns();
      for (int w = 0; w < windows; ++w) {
        one_window(s, peer, sends, &number);
        if (sends) {
          uint64_t answer = 0;
          MPI_Recv(&answer, 8, MPI_BYTE, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
          expect(answer == number, "an answer counts other messages than were sent");
        } else {
          MPI_Send(&number, 8, MPI_BYTE, peer, 2, MPI_COMM_WORLD);
        }
      }
      took = now_ns() - start;
      if (sends) add_sample((double)took / windows / s->window / 1e3);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return median_sample();
}
