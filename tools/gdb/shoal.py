# SPDX-License-Identifier: Apache-2.0
"""Commands for gdb: the tasks of programs that use Shoal. `source` loads it; see docs/debugging.md, `help shoal`."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
if HERE not in sys.path:
    sys.path.insert(0, HERE)
import shoal_gdb.commands  # noqa: E402,F401  the path is set before
