# SPDX-License-Identifier: Apache-2.0
set(libraries shoal_bench)
set(needs plugins)  # it measures over the networks that there are
set(unsanitized TRUE)  # as slow to compile as all the rest
