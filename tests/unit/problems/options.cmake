# SPDX-License-Identifier: Apache-2.0
set(unsanitized TRUE)  # slow to compile
