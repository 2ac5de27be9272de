# SPDX-License-Identifier: Apache-2.0
set(shards 2)  # a minute on one processor, with the thread sanitizer two
