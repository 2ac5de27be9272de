# SPDX-License-Identifier: Apache-2.0
set(over_networks "*/2_nodes_2_workers_messages:*no_put_is_lost*/2_nodes_1_workers_messages")
