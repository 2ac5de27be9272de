# SPDX-License-Identifier: Apache-2.0
"""Shows gdb a task that does not run. An unwinder says that the frame which the worker's thread is in was called by the
frame in which the task waits, so `bt`, `up` and `info locals` are about the task. No register is written: it works on
core files, too. Before the program goes on the view ends (see the hooks in commands.py)."""
import gdb
import gdb.unwinder
from gdb.FrameDecorator import FrameDecorator

REGISTERS = ("rsp", "rip", "rbx", "rbp")
MASK = 2**64 - 1


class FrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


class View:
    """What is shown: the registers of a task in place of what the thread runs."""
    thread = None  # None: nothing
    own = None  # rsp and rip of the thread
    registers = None
    task = None

    @classmethod
    def is_on(cls, thread):
        return cls.thread is not None and thread is not None and cls.thread.ptid == thread.ptid

    @classmethod
    def enter(cls, thread, registers, task):
        cls.leave()
        thread.switch()
        frame = gdb.newest_frame()
        cls.own = tuple(int(frame.read_register(name)) & MASK for name in ("rsp", "rip"))
        cls.thread, cls.registers, cls.task = thread, registers, task
        filter_of_view.enabled = True
        gdb.invalidate_cached_frames()

    @classmethod
    def leave(cls):
        if cls.thread is None:
            return
        cls.thread = cls.task = None
        filter_of_view.enabled = False
        gdb.invalidate_cached_frames()

    @classmethod
    def first_frame(cls):
        """The frame in which the task waits."""
        frame = gdb.newest_frame()
        while frame is not None:
            if (int(frame.read_register("rsp")) & MASK, frame.pc()) == (cls.registers["rsp"], cls.registers["rip"]):
                return frame
            frame = frame.older()
        raise gdb.GdbError("gdb does not find the frames of this task")


class Unwinder(gdb.unwinder.Unwinder):
    def __init__(self):
        super().__init__("shoal task")

    def __call__(self, pending):
        if not View.is_on(gdb.selected_thread()):
            return None
        sp, pc = pending.read_register("rsp"), pending.read_register("rip")
        if (int(sp) & MASK, int(pc) & MASK) != View.own:
            return None
        saved = View.registers
        # Below all frames of the task: gdb takes a caller that is below its callee for a damaged stack.
        found = pending.create_unwind_info(FrameId(value(saved["rsp"] - 16, sp.type), pc))
        for name in REGISTERS:
            found.add_saved_register(name, value(saved[name], pending.read_register(name).type))
        return found


def value(bits, like):
    return gdb.Value(bits).cast(gdb.lookup_type("unsigned long")).cast(like)


class Frame(FrameDecorator):
    def function(self):
        """As gdb writes it without a filter."""
        return self.inferior_frame().name() or self.inferior_frame().pc()


class Filter:
    """Backtraces begin with the task's frames."""

    def __init__(self):
        self.name, self.priority, self.enabled = "shoal task", 1000, False
        gdb.frame_filters[self.name] = self

    def filter(self, frames):
        if not View.is_on(gdb.selected_thread()):
            return frames
        first = View.first_frame().level()
        # A stack ends with a call from nowhere.
        return (Frame(f) for f in frames if f.inferior_frame().level() >= first and f.inferior_frame().pc() != 0)


filter_of_view = Filter()
gdb.unwinder.register_unwinder(None, Unwinder(), replace=True)


class Selection:
    """Restores what gdb's commands are about."""

    def __enter__(self):
        self.thread = gdb.selected_thread()
        self.view = (View.thread, View.registers, View.task)
        try:
            self.level = gdb.selected_frame().level() if self.thread is not None else None
        except gdb.error:
            self.level = None
        View.leave()
        return self

    def __exit__(self, *error):
        View.leave()
        if self.view[0] is not None and self.view[0].is_valid():
            View.enter(*self.view)
        if self.thread is not None and self.thread.is_valid():
            self.thread.switch()
            frame = gdb.newest_frame()
            while self.level and frame is not None and frame.level() < self.level:
                frame = frame.older()
            if frame is not None:
                frame.select()
        return False
