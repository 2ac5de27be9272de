# SPDX-License-Identifier: Apache-2.0
"""The memory of the program, and where members lie in it by the table of src/sched/debug_layout.hpp, which needs no
debug information."""
import struct

import gdb

VERSION = 1
ENTRY_BYTES, NAME_BYTES, MOST_ENTRIES = 40, 32, 128


def read(address, size):
    return gdb.selected_inferior().read_memory(address, size).tobytes()


def word(address):
    return int.from_bytes(read(address, 8), "little")


def number(address, size, signed=False):
    return int.from_bytes(read(address, size), "little", signed=signed)


def words(address, count):
    return struct.unpack("<%dQ" % count, read(address, 8 * count)) if count else ()


def text(address, most=200):
    """A string of C; None: there is none."""
    if address == 0:
        return None
    found = bytearray()
    try:
        while len(found) < most and b"\0" not in found:
            # Not across a page that may be missing.
            found += read(address + len(found), min(32, 4096 - (address + len(found)) % 4096))
    except gdb.MemoryError:
        return None
    return found.split(b"\0")[0].decode(errors="replace")


def address_of(symbol):
    """0: there is none."""
    # Without debug information a symbol is a word with an address and no type. The program may be in Fortran.
    language = gdb.parameter("language")
    try:
        gdb.execute("set language c", to_string=True)
        return int(gdb.parse_and_eval("(unsigned long)&" + symbol))
    except gdb.error:
        return 0
    finally:
        gdb.execute("set language " + language, to_string=True)


class Layout:
    """What the library says of itself, by name."""

    def __init__(self):
        at = address_of("shoal_debug_layout")
        if at == 0:
            raise gdb.GdbError("there are no tasks of Shoal: the program does not use it, has not loaded it yet, or "
                               "has no symbols any more (strip --strip-debug keeps them)")
        try:
            table = read(at, ENTRY_BYTES * MOST_ENTRIES)
        except gdb.MemoryError:
            raise gdb.GdbError("the table shoal_debug_layout cannot be read: start the program, or give gdb the "
                               "program that the core file is of")
        self.values = {}
        for entry in range(0, len(table), ENTRY_BYTES):
            name = table[entry:entry + NAME_BYTES].rstrip(b"\0").decode(errors="replace")
            if not name:
                break
            self.values[name], = struct.unpack_from("<Q", table, entry + NAME_BYTES)
        found = self.values.get("version", 0)
        if found != VERSION:
            raise gdb.GdbError("the program's Shoal has version %d of the debugger's table, and this script reads %d: "
                               "source the script of the same installation" % (found, VERSION))
        self.waits = {v: n[5:] for n, v in self.values.items() if n.startswith("wait.")}

    def __getitem__(self, name):
        return self.values[name]

    def has_registers(self):
        return "rsp" in self.values

    def field(self, of, name, size=8):
        return number(of + self.values[name], size)
