# SPDX-License-Identifier: Apache-2.0
"""Commands for gdb: the ranks of an MPI program that share one process. See `help shoal`.

A rank that does not run has its registers in memory. To look at it, its worker's thread gets them for a while; before the
program goes on, and before another thread is selected, it gets its own ones back."""
import gdb

VERSION = 2
WORDS = 16
KINDS = ("requests", "a message", "its receive", "any message", "the others")
ANY_SOURCE, ANY_TAG = -1, -2  # of MPI's standard ABI
NOT_BEGUN, BEGUN, ENDED = range(3)
shoal_program = None  # the file that gdb has for each rank's copy of the program


class NoRanks(gdb.GdbError):
    pass


def memory(address, size, signed=False):
    return int.from_bytes(bytes(gdb.selected_inferior().read_memory(address, size)), "little", signed=signed)


def text(address):
    if address == 0:
        return "a call"
    found = bytearray()
    while len(found) < 256 and found[-1:] != b"\0":
        found += bytes(gdb.selected_inferior().read_memory(address + len(found), 1))
    return found.rstrip(b"\0").decode(errors="replace")


def address_of(symbol):
    # Without debug information a symbol is a word with an address and no type. The program may be in Fortran.
    language = gdb.parameter("language")
    try:
        gdb.execute("set language c", to_string=True)
        return int(gdb.parse_and_eval("(unsigned long)&" + symbol))
    except gdb.error:
        return 0
    finally:
        gdb.execute("set language " + language, to_string=True)


class Table:
    def __init__(self):
        at = address_of("shoal_debug_ranks") if gdb.selected_inferior().pid else 0
        if at == 0:
            raise NoRanks("no ranks: the program has not begun (use run)")
        words = [memory(at + 8 * i, 8) for i in range(WORDS)]
        if words[0] != VERSION:
            raise NoRanks("no ranks: none has begun, or all have ended")
        (_, self.count, self.ranks, self.stride, self.stack_bytes, self.registers, self.context, self.waits_as,
         self.wait, self.message, self.function, self.peer, self.tag, self.kind, self.missing, _) = words

    def all(self):
        return [Rank(self, self.ranks + i * self.stride) for i in range(self.count)]

    def rank(self, number):
        first = memory(self.ranks, 4, True)
        if not first <= number < first + self.count:
            raise gdb.GdbError("there is no rank %d here; ranks %d to %d are" % (number, first, first + self.count - 1))
        return Rank(self, self.ranks + (number - first) * self.stride)


class Rank:
    def __init__(self, table, at):
        self.table = table
        self.number = memory(at, 4, True)
        self.stage = memory(at + 4, 4, True)
        self.fiber = memory(at + 8, 8)
        self.top = memory(at + 16, 8)
        self.worker = memory(at + 24, 8)

    def thread(self, stacks):
        """The thread that runs it, or None. `stacks`: stack_pointers()."""
        if self.stage != BEGUN:
            return None
        for thread, pointer in stacks:
            if self.top - self.table.stack_bytes < pointer <= self.top:
                return thread
        return None

    def wait(self):
        """What it waits for: function, peer, tag, kind; None: for nothing."""
        t = self.table
        kind = memory(self.fiber + t.waits_as, 1)
        if kind == 0:
            return None
        if kind != t.message:
            return ("a wait outside of MPI", None, None, 0)
        note = memory(memory(self.fiber + t.wait, 8), 8)
        missing = memory(note + t.missing, 8)
        if missing != 0 and memory(missing, 8) == 0:
            return None
        return (text(memory(note + t.function, 8)), memory(note + t.peer, 4, True), memory(note + t.tag, 4, True),
                memory(note + t.kind, 1))

    def row(self, stacks):
        if self.stage == NOT_BEGUN:
            return ("not begun", "", "", "", "")
        if self.stage == ENDED:
            return ("ended", "", "", "", "")
        thread = self.thread(stacks)
        if thread is not None:
            return ("running", "thread %d" % thread.num, "", "", "")
        found = self.wait()
        if found is None:
            return ("runnable", "", "", "", "")
        function, peer, tag, kind = found
        if kind in (1, 2, 3):
            return ("waiting", function, KINDS[kind], "any" if peer == ANY_SOURCE else str(peer),
                    "any" if tag == ANY_TAG else str(tag))
        return ("waiting", function, KINDS[kind] if kind < len(KINDS) else "", "", "")

    def registers(self):
        saved = memory(self.fiber + self.table.context, 8)
        return dict(zip(("rsp", "rip", "rbx", "rbp"), [memory(saved + 8 * i, 8) for i in range(4)]))


class View:
    """The rank whose registers the selected thread has now, if any."""
    kept = None  # thread, its own registers
    rank = None

    @classmethod
    def leave(cls):
        if cls.kept is None:
            return
        (thread, registers), cls.kept = cls.kept, None
        if not thread.is_valid():
            return
        thread.switch()
        cls.set(registers)

    @classmethod
    def enter(cls, rank):
        cls.leave()
        # Its worker's thread, for thread-local variables.
        for thread in gdb.selected_inferior().threads():
            if thread.ptid[1] == rank.worker:
                thread.switch()
        thread = gdb.selected_thread()
        gdb.newest_frame().select()
        frame = gdb.selected_frame()
        own = {name: int(frame.read_register(name)) & (2**64 - 1) for name in ("rsp", "rip", "rbx", "rbp")}
        cls.kept, cls.rank = (thread, own), rank
        cls.set(rank.registers())

    @staticmethod
    def set(registers):
        gdb.newest_frame().select()
        # The stack pointer last: gdb finds its frames anew after each.
        for name in ("rbx", "rbp", "rip", "rsp"):
            gdb.execute("set var $%s = %d" % (name, registers[name]), to_string=True)


def stack_pointers():
    # The view's registers are not those of a rank that runs.
    selected = gdb.selected_thread()
    result = []
    for thread in gdb.selected_inferior().threads():
        if View.kept is not None and thread.num == View.kept[0].num:
            result.append((thread, View.kept[1]["rsp"]))
            continue
        thread.switch()
        result.append((thread, int(gdb.newest_frame().read_register("sp")) & (2**64 - 1)))
    if selected is not None:
        selected.switch()
    return result


def select(rank, stacks=None):
    """Makes `rank` what gdb's commands are about."""
    if rank.stage != BEGUN:
        raise gdb.GdbError("rank %d has %s" % (rank.number, "ended" if rank.stage == ENDED else "not begun"))
    thread = rank.thread(stacks or stack_pointers())
    if thread is not None:
        View.leave()
        thread.switch()
        return
    if rank.table.registers != 1:
        raise gdb.GdbError("only on x86-64 a rank that does not run can be looked at")
    View.enter(rank)


def select_program_frame():
    """The innermost frame of the program, so that its variables are the ones that expressions mean."""
    frame = gdb.newest_frame()
    while frame is not None and gdb.solib_name(frame.pc()) != shoal_program:
        frame = frame.older()
    if frame is not None:
        frame.select()


def backtrace():
    gdb.execute("backtrace")


def value_of(expression):
    select_program_frame()
    return gdb.parse_and_eval(expression).format_string(max_elements=20)


def as_rank(rank, do, stacks=None):
    """do() where gdb's commands are about `rank`; then they are about what they were."""
    before, shown = gdb.selected_thread(), View.rank if View.kept is not None else None
    frame = gdb.selected_frame() if shown is None else None
    try:
        select(rank, stacks)
        return do()
    finally:
        View.leave()
        if before is not None and before.is_valid():
            before.switch()
        if frame is not None and frame.is_valid():
            frame.select()
        if shown is not None:
            View.enter(shown)
            select_program_frame()


class Shoal(gdb.Command):
    """The ranks of an MPI program in this process.
shoal ranks          a table: what each rank does, and for what it waits
shoal ranks bt       where each rank is, one after the other
shoal ranks print X  the value of X in each rank, in its innermost function of the program
shoal rank 17        from now on gdb's commands (bt, up, print) are about rank 17, until the program goes on
shoal rank 17 bt     where it is
run, run ARGS        starts the ranks, with the same arguments of the program or with these
break main           stops in each rank; break FILE:LINE, break FUNCTION too"""

    def __init__(self):
        super().__init__("shoal", gdb.COMMAND_STACK, gdb.COMPLETE_NONE, True)


class Ranks(gdb.Command):
    """A table of the ranks; with bt the stack of each, with print X the value of X in each."""

    def __init__(self):
        super().__init__("shoal ranks", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        words = gdb.string_to_argv(argument)
        if words[:1] in (["print"], ["p"]) and words[1:]:
            return self.print_values(argument.split(None, 1)[1])
        if words not in ([], ["bt"]):
            raise gdb.GdbError("usage: shoal ranks [bt | print EXPRESSION]")
        ranks = Table().all()
        stacks = stack_pointers()
        rows = [("rank", "state", "in", "waits for", "peer", "tag")]
        rows += [(str(r.number),) + r.row(stacks) for r in ranks]
        if words == []:
            widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
            for row in rows:
                gdb.write("  ".join(c.ljust(w) for c, w in zip(row, widths)).rstrip() + "\n")
            return
        for rank, row in zip(ranks, rows[1:]):
            gdb.write("rank %s: %s\n" % (row[0], " ".join(c for c in row[1:] if c)))
            if rank.stage == BEGUN:
                as_rank(rank, backtrace, stacks)

    def print_values(self, expression):
        stacks = stack_pointers()
        for rank in Table().all():
            if rank.stage != BEGUN:
                continue
            try:
                value = as_rank(rank, lambda: value_of(expression), stacks)
            except gdb.error as e:
                value = "(%s)" % e
            gdb.write("%4d  %s\n" % (rank.number, value))


class OneRank(gdb.Command):
    """Selects a rank; with bt only its stack is printed."""

    def __init__(self):
        super().__init__("shoal rank", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        words = gdb.string_to_argv(argument)
        if not words or not words[0].isdigit() or words[1:] not in ([], ["bt"]):
            raise gdb.GdbError("usage: shoal rank NUMBER [bt]")
        rank = Table().rank(int(words[0]))
        if words[1:]:
            return as_rank(rank, backtrace)
        select(rank)
        select_program_frame()
        gdb.execute("frame")


class Leave(gdb.Command):
    """Gives the thread its own registers back. For the hooks below."""

    def __init__(self):
        super().__init__("shoal leave", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        View.leave()
        if has_tasks():
            gdb.execute("shoal leave-task")


def is_command(name):
    try:
        gdb.execute("help " + name, to_string=True)
        return True
    except gdb.error:
        return False


def has_tasks():
    """Whether tools/gdb/shoal.py has been sourced, too."""
    return is_command("shoal leave-task")


if not has_tasks():
    Shoal()
Ranks()
OneRank()
Leave()
# Whatever lets the program go on, or looks at another thread.
for name in ("continue", "step", "next", "stepi", "nexti", "finish", "until", "advance", "jump", "signal", "thread",
             "detach", "kill", "quit", "run", "start"):
    gdb.execute("define hook-%s\nshoal leave\nend" % name)
gdb.execute("set breakpoint pending on")
gdb.execute("set print thread-events off")
