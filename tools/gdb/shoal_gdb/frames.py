# SPDX-License-Identifier: Apache-2.0
"""Which of a task's frames is the program's, and what it is called. gdb finds the frames of one task in a millisecond;
for a million tasks they are followed here, with the sizes of frames that gdb has told for the same code before."""
import os
import re

import gdb

from shoal_gdb.memory import read, words
from shoal_gdb.view import MASK, Selection, View

# What is not the program's. The commands' kernels and the tests are.
RUNTIME = re.compile(r"(?:\S+ )?(?:shoal::(?!kernels|tools|test|bench)|std::|__gnu_cxx::|boost::|fmt::|__cxx|__libc"
                     r"|__GI_|_?_?clone|start_thread|_start|P?MPI_)")
LIBRARIES = re.compile(r"/(?:libc|libpthread|ld-linux|libstdc\+\+|libgcc_s|libm|libshoal|libmpi_abi|libgmt|libfmt)[.-]")
LOOPS = re.compile(r"shoal::sched::worker::(?:loop|run_thread|on_\w+_stack|host|idle)\b")
RUN = re.compile(r"shoal::sched::worker::run\b")  # it calls the tasks
LAMBDA = re.compile(r"\{lambda\(.*?\)#(\d+)\}")
MOST_FRAMES = 64
SLICE = 1024


def split(symbol):
    """At :: outside of brackets."""
    parts, depth, begin = [], 0, 0
    for i, c in enumerate(symbol):
        depth += c in "<({[" and 1 or c in ">)}]" and -1 or 0
        if depth == 0 and symbol[i:i + 2] == "::":
            parts.append(symbol[begin:i])
            begin = i + 2
    return parts + [symbol[begin:]]


def argument_at(symbol, at):
    """The template argument around a position."""
    begin, depth = at, 0
    while begin > 0:
        c = symbol[begin - 1]
        depth += c in ">)}]" and 1 or c in "<({[" and -1 or 0
        if depth < 0 or (depth == 0 and c == ","):
            break
        begin -= 1
    end, depth = at, 0
    while end < len(symbol):
        c = symbol[end]
        depth += c in "<({[" and 1 or c in ">)}]" and -1 or 0
        if depth < 0 or (depth == 0 and c == ","):
            break
        end += 1
    return symbol[begin:end].strip()


def short(function):
    """Without result, arguments and long template arguments; "lambda 2 in solve"."""
    parts = split(function)
    for i in range(len(parts) - 1, -1, -1):
        found = LAMBDA.match(parts[i])
        if found:
            return "lambda %s in %s" % (found[1], short("::".join(parts[:i])))
    kept, depth = "", 0
    for part in re.split(r"(\(anonymous namespace\)|operator\(\)|operator[<>=!+*/&|^-]+|->|[<>()\[\]])", function):
        if part == "(" and depth == 0 and kept:
            break
        depth += part in "<([" and part != "" and 1 or 0
        if depth == 0:
            kept += part
        depth -= part in ">)]" and part != "" and 1 or 0
    return kept.split(" ")[-1] if not kept.startswith("(") and "(anonymous" not in kept else kept.strip() or function


def body_of(symbol):
    """What a task's body is called: the first lambda, or type of the program, in the name of the code that runs it."""
    found = LAMBDA.search(symbol)
    if found:
        return short(argument_at(symbol, found.start()))
    for i, c in enumerate(symbol):
        if c == "<":
            argument = argument_at(symbol, i + 1)
            if "::" in argument and not argument.startswith(("shoal::", "std::")):
                return argument
    return short(symbol)


def symbol_at(address):
    """The name of a function; None: not known."""
    line = gdb.execute("info symbol %d" % address, to_string=True)
    return None if line.startswith("No symbol") else re.sub(r"( \+ \d+)? in section .*\n?$", "", line).strip()


def place_of(frame):
    at = frame.find_sal()
    return " (%s:%d)" % (os.path.basename(at.symtab.filename), at.line) if at.symtab is not None and at.line else ""


def is_program(frame):
    name = frame.name()
    if name is None or RUNTIME.match(name):
        return False
    if name.startswith(("<lambda", "operator()")):
        return True
    library = gdb.solib_name(frame.pc())
    return library is None or not LIBRARIES.search(library)


class Frames:
    def __init__(self):
        self.names = {}  # of code
        self.texts = {}  # of the frames at a program counter
        self.sizes = {}  # from the stack pointer to that of the caller, by program counter
        self.unknown = {}  # of whole paths in which no frame is the program's

    def body(self, code):
        if code not in self.names:
            symbol = symbol_at(code)
            self.names[code] = body_of(symbol) if symbol else hex(code)
        return self.names[code]

    def text(self, frame):
        name = frame.name()
        # With debug information the operator of a lambda expression has no other name; its symbol does.
        if (name.startswith("operator()") or "lambda" in name) and frame.type() != gdb.INLINE_FRAME:
            name = symbol_at(frame.pc()) or name
        return short(name) + place_of(frame)

    def running(self, thread):
        """The text of the program's innermost frame on a worker's thread; None: it runs no task."""
        with Selection():
            thread.switch()
            frame, called = gdb.newest_frame(), None
            for _ in range(10 * MOST_FRAMES):
                if frame is None or LOOPS.match(frame.name() or ""):
                    return None
                if is_program(frame):
                    return self.text(frame)
                if RUN.match(frame.name() or ""):
                    return self.body(called.pc()) if called is not None else ""
                frame, called = frame.older(), frame
        return None

    def waiting(self, task):
        """The same for a task that does not run: follows its stack."""
        sp, pc = words(task.field("context") + task.layout["rsp"], 2)
        end = task.field("notes")  # of the stack; but for calls on stacks of their own, whose notes are the caller's
        stack, begin, path = b"", sp, []
        for _ in range(MOST_FRAMES):
            if pc in self.texts:
                return self.texts[pc]
            path.append(pc)
            size = self.sizes.get(pc)
            if size is None:
                break
            sp += size
            if sp - begin > len(stack):
                begin = sp - 8
                try:
                    stack = read(sp - 8, min(SLICE, end - begin) if begin < end else SLICE)
                except gdb.MemoryError:
                    stack = read(sp - 8, 8)
            pc = int.from_bytes(stack[sp - begin - 8:sp - begin], "little")
        path = tuple(path)
        if path in self.unknown:
            return self.unknown[path]
        return self.learn(task, path)

    def learn(self, task, path):
        pointers, found = [], None
        with Selection():
            View.enter(task.worker.thread or gdb.selected_thread(), task.registers(), task)
            frame = View.first_frame()
            while frame is not None and len(pointers) < MOST_FRAMES:
                sp, pc = int(frame.read_register("rsp")) & MASK, frame.pc()
                if not pointers or pointers[-1] != (sp, pc):
                    pointers.append((sp, pc))
                if is_program(frame):
                    found = self.text(frame)
                    break
                if LOOPS.match(frame.name() or ""):
                    break
                frame = frame.older()
        for (sp, pc), (above, _) in zip(pointers, pointers[1:]):
            self.sizes.setdefault(pc, above - sp)
        if found is not None:
            self.texts[pointers[-1][1]] = found
            return found
        code, _ = task.identity()
        found = self.unknown[path] = self.body(code) if code else "?"
        return found
