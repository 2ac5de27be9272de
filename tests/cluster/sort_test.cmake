# SPDX-License-Identifier: Apache-2.0
set(over_networks "*/3_nodes_2_workers_mapped")
