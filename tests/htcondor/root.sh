#!/bin/bash
# tests/htcondor/root.sh DIRECTORY - makes DIRECTORY a root directory with HTCondor, of Debian trixie: Debian 12 has none.
#
# apt has a configuration of its own, below DIRECTORY.apt, so that nothing on this machine changes.  No script of a package
# is run: the packages are unpacked, and what their scripts would do is done here where HTCondor needs it.
#
# SPDX-License-Identifier: Apache-2.0
set -eu
root=$1
apt=$root.apt
[ ! -e "$root/.complete" ] || exit 0
rm -rf "$root" "$apt"
mkdir -p "$apt"/etc/{apt.conf.d,preferences.d,sources.list.d,trusted.gpg.d} "$apt/state/lists/partial" "$apt/cache/archives/partial" "$root"
apt=$(realpath "$apt") root=$(realpath "$root")
: >"$apt/state/status"
# The mirror that this machine uses.
mirror=$(sed -n 's/^URIs: *\([^ ]*\/debian\) *$/\1/p; s/^deb .*\(https\?:[^ ]*\/debian\)\/\? .*/\1/p' /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | head -n 1)
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${mirror:-http://deb.debian.org/debian} trixie main" >"$apt/sources.list"
own=(-o "Dir::Etc=$apt/etc" -o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State=$apt/state"
    -o "Dir::State::status=$apt/state/status" -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root)
apt-get "${own[@]}" -qq update
# What scripts of jobs call, too.
apt-get "${own[@]}" -qq -y --no-install-recommends --download-only install condor bash coreutils sed grep mawk findutils util-linux procps \
    base-files base-passwd hostname
for package in "$apt"/cache/archives/*.deb; do
    dpkg-deb -x "$package" "$root"
done
cp "$root/usr/share/base-passwd/passwd.master" "$root/etc/passwd"
cp "$root/usr/share/base-passwd/group.master" "$root/etc/group"
echo 'condor:x:990:990::/var/lib/condor:/usr/sbin/nologin' >>"$root/etc/passwd"
echo 'condor:x:990:' >>"$root/etc/group"
ln -sf bash "$root/usr/bin/sh"
mkdir -p "$root/proc" "$root/dev" "$root/tmp"
rm -rf "$apt"
touch "$root/.complete"
