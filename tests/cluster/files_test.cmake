# SPDX-License-Identifier: Apache-2.0
set(over_networks "*/array_files.any*/2_nodes_2_workers_messages:*/array_files.damage*/2_nodes_2_workers_messages")
