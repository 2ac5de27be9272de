# SPDX-License-Identifier: Apache-2.0
set(over_networks "*/4_nodes_2_workers_messages:*/3_nodes_2_workers_mapped")
# A member that computes for real time keeps all of a simulated machine waiting.
set(over_sim "*/4_nodes_2_workers_messages:*/3_nodes_2_workers_mapped-*before_the_member_computes*")
