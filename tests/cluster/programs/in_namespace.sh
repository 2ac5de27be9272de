#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# As ssh does for a machine: runs a command in a network namespace.    in_namespace.sh NAMESPACE COMMAND...
namespace=$1
shift
exec ip netns exec "$namespace" /bin/sh -c "$*"
