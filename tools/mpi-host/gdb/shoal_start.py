# SPDX-License-Identifier: Apache-2.0
"""Makes gdb ready for `shoal mpirun --debug`: `run ARGS` starts the ranks, as if gdb had the program itself."""
import atexit
import os
import shlex
import shutil
import struct
import tempfile

import gdb

HERE = os.path.dirname(os.path.abspath(__file__))
SYMTAB, DYNSYM = 2, 11
OBJECT, COMMON, LOCAL = 1, 5, 0
MANY = 64  # gdb learns of so many copies one after the other, and of more at once, before main()
ranks = 0
marks = []
unread = False  # whether gdb leaves the symbols of copies for later


def hide_data(data, symbol, name):
    """gdb takes the address of a variable with an external symbol from the first file that has it (it may be a copy
    relocation), so all ranks would show rank 0's. Local symbols are taken from the file of the frame."""
    kind, section = data[symbol + 4] & 15, data[symbol + 6:symbol + 8]
    if kind in (OBJECT, COMMON) and section != b"\0\0":
        data[symbol + 4] = LOCAL << 4 | kind


def hide_main(data, symbol, name):
    """`break main` is about the program, not its host."""
    if data[name:name + 5] == b"main\0":
        data[symbol:symbol + 4] = bytes(4)


def view(path, folder, change):
    """A copy of the ELF file with other symbols, for gdb only."""
    with open(path, "rb") as f:
        data = bytearray(f.read())
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError(path + " is for another kind of machine")
    table, (size, count) = struct.unpack_from("<Q", data, 40)[0], struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * size) for i in range(count)]
    for _, kind, _, _, begin, length, names, _, _, _ in sections:
        if kind in (SYMTAB, DYNSYM):
            for symbol in range(begin, begin + length, 24):
                change(data, symbol, sections[names][4] + struct.unpack_from("<I", data, symbol)[0])
    made = os.path.join(folder, os.path.basename(path))
    with open(made, "wb") as f:
        f.write(data)
    return made


class Prepare(gdb.Command):
    """What `shoal mpirun --debug` calls first."""

    def __init__(self):
        super().__init__("shoal prepare", gdb.COMMAND_NONE)

    def invoke(self, argument, from_tty):
        global ranks, shoal_program
        host = gdb.current_progspace().filename
        shown = quiet("show args")  # gdb 13 does not give the parameter
        words = shlex.split(shown[shown.index('"') + 1:shown.rindex('"')])
        at = next(i for i in range(2, len(words)) if not words[i].startswith("--"))
        ranks, program = int(words[0]), words[at]
        try:
            folder = tempfile.mkdtemp(prefix="shoal-debug-")
            atexit.register(shutil.rmtree, folder, True)
            # One folder each: the program may have the host's name.
            shoal_program = view(program, folder, hide_data)
            os.mkdir(os.path.join(folder, "host"))
            shown_host = view(host, os.path.join(folder, "host"), hide_main)
        except (OSError, ValueError, struct.error) as e:
            raise gdb.GdbError("gdb cannot be made ready for ranks: %s; TMPDIR names another folder" % e)
        own = [host] + words[:at] + ["--debug=" + shoal_program, program]
        quiet("file " + shown_host)
        gdb.events.new_objfile.connect(on_file)
        gdb.events.exited.connect(lambda event: forget_marks())
        gdb.events.stop.connect(lambda event: read_copies())
        # So `run ARGS` and `set args` are about the program's arguments.
        script = "exec " + " ".join(shlex.quote(w) for w in own) + ' "$@"'
        quiet("set exec-wrapper sh -c " + shlex.quote(script))
        quiet("set args " + " ".join(shlex.quote(w) for w in words[at + 1:]))
        quiet("set environment LD_AUDIT " + os.path.join(HERE, "shoal-debug-names.so"))
        gdb.write("%s of %s in one process. run starts %s, with the program's arguments or others (run ARGS).\n"
                  "Where it stops: shoal ranks, shoal rank 3, shoal ranks print EXPRESSION; help shoal says more.\n" %
                  ("1 rank" if ranks == 1 else "%d ranks" % ranks, program, "it" if ranks == 1 else "them"))


def quiet(command):
    return gdb.execute(command, to_string=True)


class Mark(gdb.Breakpoint):
    """At a function that libshoal calls for us. By address: gdb looks functions up again for each copy that it sees."""

    def __init__(self, symbol, stop):
        super().__init__("*%d" % address_of(symbol), internal=True)
        self.silent = True
        self.do = stop

    def stop(self):
        return self.do()


def read_copies():
    global unread
    if unread:
        unread = False
        quiet("set auto-solib-add on")
        quiet("sharedlibrary")


def at_end():
    read_copies()
    gdb.write("The job is about to end; its ranks are still there: shoal ranks, shoal ranks bt.\n")
    return True


def at_loaded():
    read_copies()
    return False


def forget_marks():
    while marks:
        mark = marks.pop()
        if mark.is_valid():
            mark.delete()


def on_file(event):
    global unread
    if not os.path.basename(event.new_objfile.filename).startswith("libshoal.so"):
        return
    forget_marks()
    marks.extend([Mark("shoal_debug_stop", at_end), Mark("shoal_debug_loaded", at_loaded)])
    if ranks > MANY and gdb.parameter("auto-solib-add"):
        unread = True
        quiet("set auto-solib-add off")


class Forget(gdb.Command):
    """Deletes the breakpoints at addresses of a process that is about to end. For the hooks of run and its kind."""

    def __init__(self):
        super().__init__("shoal forget", gdb.COMMAND_NONE)

    def invoke(self, argument, from_tty):
        forget_marks()


quiet("set print symbol-loading off")
quiet("set breakpoint pending on")
try:
    if str(gdb.parameter("debuginfod enabled")) == "ask":
        quiet("set debuginfod enabled off")
except RuntimeError:  # gdb before 12
    pass
quiet("source " + os.path.join(HERE, "shoal-ranks-gdb.py"))
Prepare()
Forget()
for name in ("run", "start", "starti", "kill"):
    quiet("define hook-%s\nshoal leave\nshoal forget\nend" % name)
