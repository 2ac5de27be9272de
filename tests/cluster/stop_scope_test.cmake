# SPDX-License-Identifier: Apache-2.0
set(over_networks "*/4_nodes_2_workers_messages:*/3_nodes_2_workers_mapped")
set(over_sim "*/4_nodes_2_workers_messages:*/3_nodes_2_workers_mapped")
