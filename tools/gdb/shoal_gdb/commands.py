# SPDX-License-Identifier: Apache-2.0
"""The commands: see `help shoal` in gdb."""
import gdb

from shoal_gdb import core, tables
from shoal_gdb.frames import Frames, is_program
from shoal_gdb.tasks import Program
from shoal_gdb.view import Selection, View

LIMIT = 100
frames = Frames()


def forget(event):
    global frames
    frames = Frames()  # code has moved: another program, or a library more


def program():
    if is_command("shoal leave"):  # a rank that tools/mpi-host/gdb shows has its thread's registers
        gdb.execute("shoal leave")
    return Program(frames)


def show(task):
    """Makes `task` what gdb's commands are about; in its innermost frame of the program."""
    if task.state == "running":
        View.leave()
        task.worker.thread.switch()
        frame = gdb.newest_frame()
    else:
        View.enter(task.worker.thread or gdb.selected_thread(), task.registers(), task)
        frame = View.first_frame()
    first = frame
    while frame is not None and not is_program(frame):
        frame = frame.older()
    (frame or first).select()


def backtrace(task, words=""):
    gdb.execute("backtrace " + words)
    if task.at != task.fiber and task.state != "running":
        gdb.write("(called on a stack of its own by:)\n")
        outer = type(task)(task.pool, task.worker, task.fiber, "calls")
        with Selection():
            show(outer)
            gdb.execute("backtrace " + words)


def title(task):
    wait = tables.waits_for(task)
    wait = ", for " + wait if wait else ""
    return "task %s (%s): %s%s\n" % (task.name, tables.called(task, frames), task.state, wait)


class Shoal(gdb.Command):
    """The tasks of a program that uses Shoal, in a process or a core file.
shoal tasks             what each task does, the first 100; --all: all, LIMIT: so many
shoal tasks --by-frame  how many tasks are at the same place
shoal workers           the threads that run tasks
shoal core FILE         a core file with the stacks of all tasks
shoal task 7            from now on gdb's commands (bt, up, print, info locals) are about task 7
shoal task 7 bt         where it is; shoal task all bt: where each one is
shoal task off          gdb's commands are about the threads again; so they are when the program goes on"""

    def __init__(self):
        super().__init__("shoal", gdb.COMMAND_STACK, gdb.COMPLETE_NONE, True)


class Tasks(gdb.Command):
    """The tasks that have begun and not ended. usage: shoal tasks [--all | LIMIT | --by-frame]"""

    def __init__(self):
        super().__init__("shoal tasks", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        words = gdb.string_to_argv(argument)
        most = None if words == ["--all"] else int(words[0]) if words and words[0].isdigit() else LIMIT
        if len(words) > 1 or (words and not words[0].isdigit() and words[0] not in ("--all", "--by-frame")):
            raise gdb.GdbError("usage: shoal tasks [--all | LIMIT | --by-frame]")
        with Selection():
            if words == ["--by-frame"]:
                tables.list_frames(program(), frames)
            else:
                tables.list_tasks(program(), frames, most)


class OneTask(gdb.Command):
    """Selects a task, or prints its stack. usage: shoal task NUMBER [bt [ARGUMENTS]] | all bt | off"""

    def __init__(self):
        super().__init__("shoal task", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        words = argument.split(None, 2)
        if words == ["off"]:
            return View.leave()
        if not words or words[1:2] not in ([], ["bt"]) or words == ["all"]:
            raise gdb.GdbError("usage: shoal task NUMBER [bt [ARGUMENTS]] | all bt | off")
        rest = words[2] if len(words) > 2 else ""
        if words[1:]:
            with Selection():
                found = program()
                for task in list(found.tasks()) if words[0] == "all" else [found.find(words[0])]:
                    gdb.write(title(task))
                    show(task)
                    backtrace(task, rest)
            return
        task = program().find(words[0])
        gdb.write(title(task))
        show(task)
        gdb.execute("frame")


class Workers(gdb.Command):
    """The workers: their threads, what they run, and how many tasks wait to begin or to go on there."""

    def __init__(self):
        super().__init__("shoal workers", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        with Selection():
            tables.list_workers(program(), frames)


class Threads(gdb.Command):
    """Ends what `shoal task` has selected, and lists the threads."""

    def __init__(self):
        super().__init__("shoal threads", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        View.leave()
        gdb.execute("info threads")


class Core(gdb.Command):
    """Writes a core file with the stacks of all tasks. usage: shoal core FILE"""

    def __init__(self):
        super().__init__("shoal core", gdb.COMMAND_DATA, gdb.COMPLETE_FILENAME)

    def invoke(self, argument, from_tty):
        words = gdb.string_to_argv(argument)
        if len(words) != 1:
            raise gdb.GdbError("usage: shoal core FILE")
        with Selection():
            ranges = [r for pool in program().pools for w in pool.workers for r in w.used_ranges()]
            core.write(words[0], gdb.selected_inferior().pid, ranges)
        gdb.write("%s has the memory of the process, and the stacks of all tasks\n" % words[0])


class LeaveTask(gdb.Command):
    """Ends what `shoal task` has selected. For the hooks below."""

    def __init__(self):
        super().__init__("shoal leave-task", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        View.leave()


def is_command(name):
    try:
        gdb.execute("help " + name, to_string=True)
        return True
    except gdb.error:
        return False


if not is_command("shoal"):  # that of tools/mpi-host/gdb has it, too
    Shoal()
for command in (Tasks, OneTask, Workers, Threads, Core, LeaveTask):
    command()
# Whatever lets the program go on, or looks at another thread: stepping begins with the frames as they are.
for name in ("continue", "step", "next", "stepi", "nexti", "finish", "until", "advance", "jump", "signal", "thread",
             "call", "detach", "kill", "run", "start", "starti", "return"):
    ranks = "shoal leave\n" if is_command("shoal leave") else ""
    gdb.execute("define hook-%s\nshoal leave-task\n%send" % (name, ranks))
gdb.events.cont.connect(lambda event: View.leave())
gdb.events.exited.connect(lambda event: View.leave())
gdb.events.new_objfile.connect(forget)
gdb.events.clear_objfiles.connect(forget)
