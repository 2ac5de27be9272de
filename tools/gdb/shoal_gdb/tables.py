# SPDX-License-Identifier: Apache-2.0
"""The tables that the commands write: what a task waits for in words, and how long."""
import itertools
import time

import gdb

from shoal_gdb.frames import short, split
from shoal_gdb.memory import number, text, word

ANY_SOURCE, ANY_TAG = -1, -2  # of MPI's standard ABI
RANK_WAITS = ("its requests", "a message from %s with %s", "%s to receive its message with %s",
              "any message from %s with %s", "the others' calls")
OBJECTS = {"mutex": "the mutex", "condition": "the condition_variable", "semaphore": "the semaphore",
           "shared_mutex": "the shared_mutex", "barrier": "the barrier", "latch": "the latch", "lock": "the lock",
           "future": "the future", "promise": "the promise"}
OTHERS = {"children": "tasks that it has spawned", "graph": "tasks of a graph or flow", "loop": "its loop",
          "operations": "calls or remote loops", "settling": "its asynchronous operations",
          "blocking": "a blocking call or a file", "time": "a time, or an event until then",
          "transfer": "a transfer by the network", "collective": "the other members of its team",
          "stack": "a stack of the size that it asked for", "end_of_job": "the end of the job", "other": "a wake-up",
          "thread": "a thread or a time"}
NODES = {"reply": "a reply of node %d", "room": "room in a buffer for node %d",
         "credit": "node %d to begin earlier calls"}


class Clock:
    """How long ago something was. In a live process the machine's clock says what time it is; in a core file nobody
    does, and the answer is the least that it can be."""

    def __init__(self, program):
        self.live = {}
        is_core = "core" in getattr(gdb.selected_inferior().connection, "type", "")
        for pool in program.pools:
            made, last, noted = pool.moments()
            rate = 3.0  # ticks per ns; of a virtual clock, and until better is known
            if last[0] > made[0] > 0:
                rate = (last[1] - made[1]) / (last[0] - made[0])
            if made[0] > 0 and not is_core:
                now = made[1] + (time.clock_gettime_ns(time.CLOCK_MONOTONIC) - made[0]) * rate
                self.live[pool.at] = (now, rate, "")
            else:
                self.live[pool.at] = (max(noted, last[1]), rate, ">= ")

    def since(self, task, ticks):
        now, rate, sign = self.live[task.pool.at]
        return sign + duration(max(now - ticks, 0) / rate)


def duration(ns):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return "%.3g %s" % (ns / size, unit) if ns < 1000 * size else "%d %s" % (ns / size, unit)
    return "%d ns" % ns


def named(task, address):
    """A variable's name, if it has one; else the address."""
    line = gdb.execute("info symbol %d" % address, to_string=True)
    if line.startswith("No symbol"):
        return hex(address)
    parts = split(line.split(" in section")[0])
    return parts[-1] + " in " + short("::".join(parts[:-1])) if "(" in "".join(parts[:-1]) else "::".join(parts)


def rank_of(task):
    ranks = task.pool.program.ranks  # main() of a rank is mostly a call on a stack of its own
    return ranks.get(task.at, ranks.get(task.fiber))


def call_of_rank(task, note):
    function, peer, tag, kind, _ = task.pool.program.wait_note
    peer, tag = number(note + peer, 4, True), number(note + tag, 4, True)
    kind = number(note + kind, 1)
    said = RANK_WAITS[kind] if kind < len(RANK_WAITS) else "another rank"
    if "%" in said:
        said %= ("any rank" if peer == ANY_SOURCE else "rank %d" % peer,
                 "any tag" if tag == ANY_TAG else "tag %d" % tag)
    return "%s: %s" % (text(word(note + function)) or "a call", said)


def waits_for(task, exact=True):
    """In words; not `exact`: without what differs from task to task."""
    kind = task.kind()
    if kind is None:
        return ""
    if not exact and kind in OBJECTS:
        return OBJECTS[kind].replace("the ", "a ", 1)
    if kind in OTHERS:
        return OTHERS[kind]
    address, _ = task.wait()
    if kind == "message" and task.pool.program.wait_note is not None:
        said = call_of_rank(task, address)
        return said if exact else said.split(":")[0]
    if kind in NODES:
        return NODES[kind] % address
    if kind not in OBJECTS:
        return kind
    name = None
    if kind in ("future", "promise"):
        name = text(task.layout.field(address, "future_state.name"))
    said = "%s %s" % (OBJECTS[kind], "'%s'" % name if name else named(task, address))
    holder = task.holder()
    if holder is not None:
        own = holder == task.fiber
        said += " of itself" if own else " of %s" % name_of_fiber(task, holder)
    return said


def name_of_fiber(task, fiber):
    return "task " + type(task)(task.pool, task.worker, fiber, "").name


def called(task, frames):
    """The task's name, or that of its body."""
    rank = rank_of(task)
    if rank is not None:
        return "rank %d" % rank
    code, given = task.identity()
    return "'%s'" % given if given else "the main task" if code == 0 else frames.body(code)


def row_of(task, frames, clock):
    at = top_frame(task, frames)
    since = clock.since(task, task.wait()[1]) if task.state == "waiting" else ""
    return (task.name, str(task.worker.index), task.state, waits_for(task), since, called(task, frames), at)


def top_frame(task, frames):
    if task.state == "running":
        return frames.running(task.worker.thread) or ""
    return frames.waiting(task) if task.layout.has_registers() else ""


def write(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        gdb.write("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() + "\n")


def list_tasks(program, frames, most):
    clock, tasks = Clock(program), program.tasks()
    rows = [("task", "worker", "state", "waits for", "since", "body", "at")]
    for task in itertools.islice(tasks, most):
        try:
            rows.append(row_of(task, frames, clock))
        except gdb.MemoryError:
            program.lost = True
    write(rows)
    left = sum(1 for _ in tasks)
    warn_of_lost(program)
    if left:
        gdb.write("and %d more tasks: shoal tasks --all lists them, shoal tasks --by-frame groups all\n" % left)
    elif len(rows) == 1:
        gdb.write("no task has begun\n")


def warn_of_lost(program):
    if program.lost:
        gdb.write("warning: the core file lacks stacks, so tasks are missing. gdb's generate-core-file leaves out what "
                  "is behind a guard page; make core files with shoal core, or let the kernel make them\n")


def list_frames(program, frames):
    groups = {}
    for task in program.tasks():
        try:
            key = (task.state, waits_for(task, False), top_frame(task, frames))
        except gdb.MemoryError:
            program.lost = True
            continue
        names = groups.setdefault(key, [0, []])
        names[0] += 1
        if len(names[1]) < 4:
            names[1].append(task.name)
    rows = [("tasks", "state", "waits for", "at", "which")]
    for (state, wait, at), (count, names) in sorted(groups.items(), key=lambda g: -g[1][0]):
        rows.append((str(count), state, wait, at, ", ".join(names) + (", ..." if count > len(names) else "")))
    write(rows)
    warn_of_lost(program)


def list_workers(program, frames):
    rows = [("worker", "thread", "name", "state", "task", "to begin", "runnable")]
    for pool in program.pools:
        for w in pool.workers:
            running = w.running_task()
            state = ("runs a task" if running else "parked" if w.parked else "not begun" if w.thread is None
                     else "looks for work")
            thread = (str(w.thread.num), w.thread.name or "-") if w.thread else ("-", "-")
            task = "%s (%s)" % (running.name, called(running, frames)) if running else "-"
            rows.append((pool.label + str(w.index),) + thread + (
                state, task, str(w.length("worker.tasks") + w.length("worker.arrived_")), str(len(w.runnable()))))
    write(rows)
