# SPDX-License-Identifier: Apache-2.0
"""What `source shoal.py` loads into gdb."""
