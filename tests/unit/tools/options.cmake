# SPDX-License-Identifier: Apache-2.0
set(label cluster)  # they start the command, and with it jobs
set(needs shoal_command plugins)
