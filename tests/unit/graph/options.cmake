# SPDX-License-Identifier: Apache-2.0
set(definitions SHOAL_SOURCE_DIR="${PROJECT_SOURCE_DIR}")  # some tests read data that the repository ships
set(one_thread TRUE)
