# SPDX-License-Identifier: Apache-2.0
set(over_networks "*/checkpoints.*/2_nodes_2_workers_messages")
set(libraries shoal_bench)
