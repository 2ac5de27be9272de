# SPDX-License-Identifier: Apache-2.0
"""The pools, workers and tasks of the program. Each thread's current worker leads to its pool, and that to all stacks.

A task is named by the stack that it has: `7`, or `1.7` of node 1 where there are several pools. It keeps the number
until it ends; another one may have it then. The tasks 0, 1, ... are those on the own stacks of the workers' threads."""
import itertools
import struct

import gdb

from shoal_gdb.memory import Layout, address_of, number, read, text, word, words
from shoal_gdb.view import REGISTERS, Selection

WOKEN = 2  # of lockfree::parting
OPEN = 1  # of fiber::stack_notes::waits_for
RANK_WORDS = 16
MOST_FILLERS = 20000
MOST_FRAMES_BYTES = 1 << 20


class Region:
    """The stacks of one size."""

    def __init__(self, layout, at):
        self.bases = words(at + layout["stack_region.bases_"], 40)
        self.first, self.stride, self.capacity, self.per_lease = (
            layout.field(at, "stack_region." + name)
            for name in ("first_stacks_", "stride_bytes_", "capacity_", "stacks_per_lease_"))
        self.fiber_bytes = layout["fiber"]

    def stacks_in(self, segment):
        return min(self.first << segment, self.capacity - self.first * ((1 << segment) - 1))

    def fiber(self, stack):
        """Where the fiber of a stack lies; those of its neighbours lie beside it."""
        segment = (stack // self.first + 1).bit_length() - 1
        begin = self.first * ((1 << segment) - 1)
        return self.bases[segment] + self.stacks_in(segment) * self.stride + (stack - begin) * self.fiber_bytes


class Task:
    def __init__(self, pool, worker, fiber, state, at=None, raw=None):
        self.pool, self.worker, self.fiber, self.state = pool, worker, fiber, state
        self.layout = pool.layout
        self.at = at or fiber  # where its frames are: the fiber, or that of a call on a stack of its own
        self.raw = raw or read(self.at, self.layout["fiber"])

    def field(self, name, size=8):
        """Of the fiber that has its frames."""
        at = self.layout["fiber." + name]
        return int.from_bytes(self.raw[at:at + size], "little")

    @property
    def number(self):
        if self.fiber in self.pool.natives:
            return self.pool.natives[self.fiber]
        return len(self.pool.workers) + self.layout.field(self.fiber, "fiber.stack", 4)

    @property
    def name(self):
        return self.pool.program.name_of(self)

    def notes(self):
        return self.layout.field(self.fiber, "fiber.notes")

    def kind(self):
        """What it waits for, by name; None: it does not wait."""
        if self.state != "waiting":
            return None
        return self.layout.waits.get(self.field("waits_as", 1), "other")

    def wait(self):
        """The object, and since when (in ticks)."""
        note = self.field("wait")
        return self.layout.field(note, "wait_note.object"), self.layout.field(note, "wait_note.since")

    def identity(self):
        """The code of its body and its name, as src/sched/task_identity.hpp finds them."""
        field, notes = self.layout.field, self.notes()
        begun = field(notes, "stack_notes.running")
        code, node = field(begun, "started.code"), field(begun, "started.node")
        fills = field(notes, "stack_notes.fills")
        given = None
        if node != 0:
            code = code or field(node, "graph_node.call")
            given = text(field(node, "graph_node.name"))
        elif fills != 0:
            state = field(fills, "filling.state")
            code = code or field(field(state, "future_state.of"), "future_kind.step")
            given = text(field(state, "future_state.name"))
        return code, given

    def holder(self):
        """The fiber of the task that holds what this one waits for; None: not known."""
        field, notes, kind = self.layout.field, self.notes(), self.kind()
        holder = 0
        if kind == "mutex" and field(notes, "stack_notes.awaited_name") != 0:
            holder = field(notes, "stack_notes.awaited_number")
        elif kind == "future":
            holder = field(notes, "stack_notes.waits_for")
            if holder == 0 or holder % 2 == OPEN:  # who fills it waits for no future
                return self.pool.program.fillers().get(self.wait()[0])
        try:
            return field(holder, "stack_notes.of") if holder != 0 else None
        except gdb.MemoryError:
            return None

    def registers(self):
        if not self.layout.has_registers():
            raise gdb.GdbError("only on x86-64 a task that does not run can be looked at")
        saved = self.field("context")
        names = ("rsp", "rip", "saved_registers.rbx", "saved_registers.rbp")
        return dict(zip(REGISTERS, (self.layout.field(saved, name) for name in names)))


class Worker:
    def __init__(self, pool, index, at):
        layout = pool.layout
        self.pool, self.index, self.at, self.layout = pool, index, at, layout
        self.thread = None
        self.current = layout.field(at, "worker.current_")
        self.native = at + layout["worker.native_"]
        self.parked = layout.field(at, "worker.parked_", 1) != 0

    def length(self, name):
        """How many tasks that have not begun a deque holds."""
        deque = self.at + self.layout[name]
        top, bottom = number(deque, 8, True), number(deque + self.layout["bottom"], 8, True)
        return max(bottom - ((top >> 7) - (top >> 1 & 63)), 0)

    def runnable(self):
        """The fibers that it continues when their turn comes."""
        queue = self.at + self.layout["worker.ready_"]
        ring, mask, first, last = (self.layout.field(queue, "ready_queue." + name)
                                   for name in ("ring_", "mask_", "first_", "last_"))
        found = set()
        while first < last:
            begin = first & mask
            count = min(last - first, mask + 1 - begin)
            found.update(words(ring + 16 * begin, 2 * count)[::2])
            first += count
        at = word(self.at + self.layout["worker.woken_"])
        while at != 0 and at not in found:
            found.add(at)
            at = word(at)
        return found

    def runs(self, stocks):
        """(first fiber, bytes) of those that were ever made in these stocks; neighbours together."""
        layout, bytes_each = self.layout, self.layout["fiber"]
        for at, region in stocks:
            begin, end, _ = words(at + layout["stack_pool.leases_"], 3)
            fresh, fresh_end = layout.field(at, "stack_pool.fresh_"), layout.field(at, "stack_pool.fresh_end_")
            first = size = 0
            for lease in words(begin, (end - begin) // 8):
                used = fresh - lease if lease + region.per_lease == fresh_end else region.per_lease
                address = region.fiber(lease)
                if first + size == address and size < 1 << 22:
                    size += used * bytes_each
                    continue
                if size:
                    yield first, size
                first, size = address, used * bytes_each
            if size:
                yield first, size

    def used_ranges(self):
        """The memory of the stacks that were used, from where each goes on to its end, and of their fibers."""
        stocks = self.stocks()
        made = words(self.pool.at + self.layout["pool.classes_"] + self.layout["stack_classes.made_"],
                     self.layout["classes"])
        sized = words(self.at + self.layout["worker.sized_"], self.layout["classes"])
        stocks += [(stock, Region(self.layout, at)) for at, stock in zip(made, sized) if at and stock]
        for first, size in self.runs(stocks):
            yield first, first + size
            data = read(first, size)
            for i in range(0, size, self.layout["fiber"]):
                context, = struct.unpack_from("<Q", data, i + self.layout["fiber.context"])
                notes, = struct.unpack_from("<Q", data, i + self.layout["fiber.notes"])
                if context == 0:
                    continue
                # A call on a stack of its own has its notes elsewhere.
                end = notes if 0 < notes - context < MOST_FRAMES_BYTES else context + MOST_FRAMES_BYTES
                yield (context & -4096) - 4096, (end | 4095) + 1  # the frames of the switch lie below its context

    def stocks(self):
        layout, region = self.layout, self.pool.region
        movable = layout.field(self.at, "worker.movable_")
        return [(self.at + layout["worker.stacks_"], region)] + ([(movable, region)] if movable else [])

    def sized(self):
        """The fibers of calls on stacks of a requested size, by the fiber of the task that has called."""
        layout, found = self.layout, {}
        made = words(self.pool.at + layout["pool.classes_"] + layout["stack_classes.made_"], layout["classes"])
        for region, stock in zip(made, words(self.at + layout["worker.sized_"], layout["classes"])):
            if stock == 0 or region == 0:
                continue
            for first, size in self.runs([(stock, Region(layout, region))]):
                for at in range(first, first + size, layout["fiber"]):
                    notes = layout.field(at, "fiber.notes")
                    if notes == 0:
                        self.pool.program.lost = True
                        continue
                    caller = layout.field(notes, "stack_notes.of")
                    if caller != at:
                        found.setdefault(caller, []).append(at)
        return found

    def tasks(self):
        """Those that have begun on it, and not ended. A movable one that runs on another worker is listed there."""
        layout, pool = self.layout, self.pool
        ready, sized = self.runnable(), self.sized()
        waits_as, class_at, movable = layout["fiber.waits_as"], layout["fiber.size_class"], layout["movable"]

        of_runtime = layout["wait.end_of_job"]  # what waits so is no task of the program

        def state_of(fiber, kind):
            if fiber == running:
                return "running"
            return "runnable" if fiber in ready else "waiting" if kind not in (0, of_runtime) else None

        def found(fiber, state, raw=None):
            if state is None and fiber in sized:  # of its calls the innermost one runs or waits, the others have called
                for inner in sized[fiber]:
                    state = state_of(inner, number(inner + waits_as, 1))
                    if state is not None:
                        return [Task(pool, self, fiber, state, inner)]
            return [Task(pool, self, fiber, state, None, raw)] if state is not None else []

        running = self.current if self.current != 0 and pool.program.runs_task(self) else 0
        ready.discard(self.current)
        kind_of_native = number(self.native + waits_as, 1) if self.native != self.current else 0
        yield from found(self.native, state_of(self.native, kind_of_native))
        for first, size in self.runs(self.stocks()):
            data = read(first, size)
            if not data.strip(b"\0"):
                pool.program.lost = True
                continue
            kinds, classes = data[waits_as::layout["fiber"]], data[class_at::layout["fiber"]]
            for i, kind in enumerate(kinds):
                at = first + i * layout["fiber"]
                state = state_of(at, kind if at != self.current else 0)
                if classes[i] == movable and state != "running":
                    state = self.state_of_movable(at, kind) if state != "runnable" else state
                if state is not None or at in sized:
                    begin = i * layout["fiber"]
                    yield from found(at, state, data[begin:begin + layout["fiber"]])

    def running_task(self):
        try:
            return next((t for t in self.tasks() if t.state == "running"), None)
        except gdb.MemoryError:
            return None

    def state_of_movable(self, fiber, kind):
        layout = self.layout
        if fiber in self.pool.currents:
            return None
        frame = layout.field(layout.field(fiber, "fiber.notes"), "stack_notes.running")
        if frame == 0 or layout.field(frame, "movable_frame.ended", 1):
            return None
        if kind == 0 or layout.field(frame, "movable_frame.parting", 4) == WOKEN:
            return "runnable"
        return "waiting"


class Pool:
    def __init__(self, program, at):
        layout = program.layout
        self.program, self.at, self.layout = program, at, layout
        self.node = number(at + layout["pool.node_"], 4, True)
        self.label = ""
        self.region = Region(layout, at + layout["pool.region_"])
        begin, end, _ = words(at + layout["pool.workers_"], 3)
        self.workers = [Worker(self, i, w) for i, w in enumerate(words(begin, (end - begin) // 8))]
        self.natives = {w.native: w.index for w in self.workers}
        self.currents = {w.current for w in self.workers}

    def moments(self):
        """Pairs of nanoseconds and ticks; the newest number of ticks that anyone has noted."""
        layout = self.layout
        made = words(self.at + layout["pool.made_"], 2)
        pairs = [made] + [(layout.field(w.at, "worker.tended_ns_"), layout.field(w.at, "worker.tended_ticks_"))
                          for w in self.workers]
        return made, max(pairs), max(layout.field(w.at, "worker.about_now_") for w in self.workers)


def offset_in(code):
    """What the instruction there loads: a word of the table of a shared library, or in executables a number."""
    instruction = read(code, 7)
    operand = int.from_bytes(instruction[3:], "little", signed=True)
    if instruction[:3] == b"\x48\x8b\x05":  # mov operand(%rip), %rax
        return number(code + len(instruction) + operand, 8, True)
    if instruction[:3] == b"\x48\xc7\xc0":  # mov $operand, %rax
        return operand
    raise gdb.GdbError("shoal_debug_worker_offset is not what this script knows: source that of the same installation")


class Program:
    """All of it, as it is now."""

    def __init__(self, frames):
        if gdb.selected_thread() is None:
            raise gdb.GdbError("there are no tasks: the program does not run (use run, attach, or core-file)")
        self.layout = Layout()
        self.frames = frames
        self.lost = False  # stacks are not in the core file
        self.filled_by = None
        self.threads, self.ranks, self.wait_note = {}, {}, None
        with Selection():
            for thread in gdb.selected_inferior().threads():
                at = self.worker_of(thread)
                if at != 0:
                    self.threads[at] = thread
        signs = {word(w + self.layout["worker.signs"]) for w in self.threads}
        pools = [Pool(self, s - self.layout["pool.signs_"]) for s in signs]
        self.pools = sorted(pools, key=lambda p: (p.node, p.at))
        for i, pool in enumerate(self.pools):
            distinct = len({p.node for p in self.pools}) == len(self.pools) and self.pools[0].node >= 0
            pool.label = "" if len(self.pools) == 1 else "%d." % (pool.node if distinct else i)
            for w in pool.workers:
                w.thread = self.threads.get(w.at)
        self.read_ranks()

    def worker_of(self, thread):
        thread.switch()
        try:
            code = address_of("shoal_debug_worker_offset")
            if code != 0:
                base = int(gdb.newest_frame().read_register("fs_base"))
                return word((base + offset_in(code)) % 2**64)
            return word(address_of("'shoal::detail::t_worker'"))
        except (gdb.error, ValueError):
            return 0

    def read_ranks(self):
        """Of MPI: the numbers of ranks by their fibers, from the table of src/rank/debug_table.hpp."""
        at = address_of("shoal_debug_ranks")
        table = words(at, RANK_WORDS) if at != 0 else (0,)
        if table[0] != 2:
            return
        _, count, ranks, stride = table[:4]
        self.wait_note = table[10:15]
        for i in range(count):
            rank, stage = number(ranks + i * stride, 4, True), number(ranks + i * stride + 4, 4, True)
            if stage == 1:
                self.ranks[word(ranks + i * stride + 8)] = rank

    def tasks(self, pools=None):
        for pool in pools or self.pools:
            for w in pool.workers:
                try:
                    yield from w.tasks()
                except gdb.MemoryError:
                    self.lost = True

    def fillers(self):
        """The fibers of tasks, by the states of the futures that they are to give. Of the first tasks."""
        if self.filled_by is None:
            self.filled_by = {}
            for task in itertools.islice(self.tasks(), MOST_FILLERS):
                fills = self.layout.field(task.notes(), "stack_notes.fills")
                while fills != 0:
                    self.filled_by[self.layout.field(fills, "filling.state")] = task.fiber
                    fills = word(fills)
        return self.filled_by

    def find(self, name):
        """The task of that name; by its stack, without looking at all others."""
        label, _, digits = name.rpartition(".")
        pools = [p for p in self.pools if p.label == label + ("." if label else "")]
        if not digits.isdigit() or not pools:
            raise gdb.GdbError("no task is called %s; shoal tasks lists them" % name)
        for task in self.tasks(pools):
            if task.number == int(digits):
                return task
        raise gdb.GdbError("there is no task %s, or it has ended, or has not begun; shoal tasks lists them" % name)

    def name_of(self, task):
        return task.pool.label + str(task.number)

    def runs_task(self, worker):
        return worker.thread is not None and not worker.parked and self.frames.running(worker.thread) is not None
