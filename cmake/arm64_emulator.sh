#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a program for arm64 on another processor: arm64_emulator.sh SYSROOT PROGRAM [ARGUMENTS]. The program finds a script
# as argv[0] that runs it under the emulator again: death tests start themselves anew, and the kernel of this machine may not
# know what to do with the program itself.
set -eu
sysroot=$1
program=$(realpath "$2")
shift 2
again=$program.emulated
if [ ! -x "$again" ]; then
  made=$(mktemp "$again.XXXXXX")
  printf '#!/bin/sh\nexec "%s" "%s" "%s" "$@"\n' "$(realpath "$0")" "$sysroot" "$program" >"$made"
  chmod 755 "$made"
  mv "$made" "$again"  # another test may be at it
fi
exec qemu-aarch64-static -L "$sysroot" -0 "$again" "$program" "$@"
