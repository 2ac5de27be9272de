# SPDX-License-Identifier: Apache-2.0
set(libraries shoal_tune)
set(unsanitized FALSE)
