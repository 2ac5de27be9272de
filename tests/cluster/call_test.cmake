# SPDX-License-Identifier: Apache-2.0
set(over_networks "*/4_nodes_2_workers_messages:*/3_nodes_2_workers_mapped")
set(roles_over_networks server domain_0 helpers)
set(over_sim "*/4_nodes_2_workers_messages:*/3_nodes_2_workers_mapped")
