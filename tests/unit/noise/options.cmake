# SPDX-License-Identifier: Apache-2.0
set(one_thread TRUE)
