#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes a folder with the arm64 libraries of Debian packages, for cross compilers and the emulator:
#   cmake/arm64_sysroot.sh build/arm64-sysroot libhwloc-dev libfmt-dev
# The packages and all that they depend on are downloaded and unpacked, not installed: apt works on a list of packages
# that is empty, in that folder, so that no package of this machine changes and no root is needed.
# Needs apt, the sources of a distribution whose archive has arm64 (Debian's), and 1.5 GB. A folder that was made of the
# same packages is kept.
set -euo pipefail

(($# >= 2)) || { printf 'usage: %s FOLDER PACKAGE...\n' "$0" >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
fail() { printf 'arm64_sysroot: %s\n' "$*" >&2; exit 1; }

made="$folder/packages.txt"
[[ -e "$made" && "$(<"$made")" == "$*" ]] && exit 0

apt=$(mktemp -d)
trap 'rm -rf "$apt"' EXIT
mkdir -p "$apt"/{lists,archives}/partial
: >"$apt/status"
options=(-q -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o APT::Sandbox::User=root
         -o APT::Get::AllowUnauthenticated=false -o Debug::NoLocking=true
         -o "Dir::State::status=$apt/status" -o "Dir::State::lists=$apt/lists" -o "Dir::Cache::archives=$apt/archives"
         -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)
apt-get "${options[@]}" update || fail "the package lists of arm64 cannot be had; do this machine's sources have it?"
apt-get "${options[@]}" install -y --no-install-recommends --download-only "$@" || fail "apt-get could not download: $*"

rm -rf "${folder:?}"/*
for package in "$apt"/archives/*.deb; do dpkg-deb -x "$package" "$folder"; done
# Links to absolute places would lead out of the folder.
find "$folder" -type l -lname '/*' -print0 | while IFS= read -r -d '' link; do
  ln -snfr "$folder$(readlink "$link")" "$link"
done
printf '%s' "$*" >"$made"
