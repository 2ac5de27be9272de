# SPDX-License-Identifier: Apache-2.0
set(problem_libraries shoal_fmm)
