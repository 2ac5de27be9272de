#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# As ssh does for a machine: runs a command in a network namespace, under a host name of its own.
#     in_namespace.sh [-OPTION...] HOST COMMAND...
# HOST is the namespace, or NAMESPACE_OF="HOST=NAMESPACE ..." says which it is.
while [ "${1#-}" != "$1" ]; do shift; done
namespace=$1
shift
for known in $NAMESPACE_OF; do
  if [ "${known%%=*}" = "$namespace" ]; then namespace=${known#*=} && break; fi
done
exec ip netns exec "$namespace" unshare --uts /bin/sh -c "hostname $namespace; $*"
