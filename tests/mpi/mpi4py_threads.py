# SPDX-License-Identifier: Apache-2.0
"""Threads of mpi4py, each on a communicator of its own: messages of objects, and reductions."""
import sys
import threading

from mpi4py import MPI

THREADS, ROUNDS = 4, 100
world = MPI.COMM_WORLD
me, size = world.Get_rank(), world.Get_size()
comms = [world.Dup() for _ in range(THREADS)]
for comm in comms:
    comm.allreduce(0)  # mpi4py duplicates the communicator, and holds the interpreter's lock meanwhile
wrong = []


def work(t):
    for i in range(ROUNDS):
        got = comms[t].sendrecv((me, t, i), dest=(me + 1) % size, sendtag=t, source=(me - 1) % size, recvtag=t)
        if got != ((me - 1) % size, t, i):
            wrong.append(got)
        if comms[t].allreduce(t + i) != size * (t + i):
            wrong.append((t, i))


threads = [threading.Thread(target=work, args=(t,)) for t in range(THREADS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
if MPI.Query_thread() != MPI.THREAD_MULTIPLE:
    wrong.append("level")
sys.exit(f"{len(wrong)} errors, the first: {wrong[0]}" if wrong else 0)
