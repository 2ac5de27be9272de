# SPDX-License-Identifier: Apache-2.0
"""Sources of applications, fetched once and kept in a folder; commands with their output; skipping with a reason."""
import glob
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.error
import urllib.request

SKIPPED = 77  # the status that ctest takes for it


def skip(reason):
    print(f"[  SKIPPED ] 1 test: {reason}", flush=True)
    sys.exit(SKIPPED)


def run(command, log, timeout=900, may_fail=False, **options):
    """Runs a command; its output is in the file `log`. Returns that and the status; says the end of it if it failed."""
    with open(log, "w", encoding="utf-8") as file:
        try:
            status = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, timeout=timeout,
                                    check=False, **options).returncode
        except subprocess.TimeoutExpired:
            status = 124
    with open(log, encoding="utf-8", errors="replace") as file:
        text = file.read()
    if status != 0 and not may_fail:
        print("\n".join(text.splitlines()[-40:]))
        sys.exit(f"status {status}: {' '.join(command)}")
    return text, status


def unpacked(archive, folder):
    """Unpacks a source archive anew; the folder that it has at its top."""
    with tarfile.open(archive) as tar:
        top = os.path.join(folder, tar.getnames()[0].split("/")[0])
        shutil.rmtree(top, ignore_errors=True)
        tar.extractall(folder)
    return top


def debian_source(package, folder):
    """The archive of the authors in Debian's source package, whose hash apt has checked."""
    pattern = os.path.join(folder, package + "_*.orig.tar.*")
    if glob.glob(pattern):
        return glob.glob(pattern)[0]
    if shutil.which("apt-get") is None:
        skip("there is no apt-get to fetch Debian's source packages with")
    with tempfile.TemporaryDirectory() as lists:
        os.makedirs(os.path.join(lists, "partial"))
        with open("/etc/os-release", encoding="utf-8") as file:
            release = dict(line.rstrip().split("=", 1) for line in file if "=" in line)
        if release.get("ID", "").strip('"') != "debian":
            skip("the system is not Debian, of whose source packages one is built")
        key = "/usr/share/keyrings/debian-archive-keyring.gpg"
        with open(os.path.join(lists, "sources.list"), "w", encoding="utf-8") as file:
            file.write(f"deb-src {f'[signed-by={key}] ' if os.path.exists(key) else ''}http://deb.debian.org/debian "
                       f"{release['VERSION_CODENAME']} main\n")
        own = ["-o", f"Dir::Etc::sourcelist={lists}/sources.list", "-o", "Dir::Etc::sourceparts=-", "-o", f"Dir::State::lists={lists}",
               "-o", "Dir::Cache::srcpkgcache=", "-o", "Dir::Cache::pkgcache=", "-o", "APT::Sandbox::User="]
        log = os.path.join(folder, package + ".fetch.log")
        # Those of the system first: an update fetches a list of all packages.
        for options, update in (([], False), (own, True)):
            if update:
                run(["apt-get", *options, "update"], log, timeout=300, may_fail=True)
            run(["apt-get", *options, "source", "--download-only", "--tar-only", package], log, timeout=300, may_fail=True, cwd=folder)
            if glob.glob(pattern):
                return glob.glob(pattern)[0]
    skip(f"Debian's source package {package} cannot be fetched (see {log})")
    return None


def reaches(address):
    try:
        urllib.request.urlopen(address, timeout=20).close()
        return True
    except (urllib.error.URLError, OSError):
        return False
