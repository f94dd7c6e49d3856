#!/bin/bash
# tools/deps.sh PURPOSE... - installs the missing packages that tools/deps.txt lists for these purposes.
#
# Silent and quick when nothing is missing.  Works as root, or with sudo.
#
# SPDX-License-Identifier: Apache-2.0
set -u
cd "$(dirname "$0")/.." || exit 1

list=${ROOST_DEPS_LIST:-tools/deps.txt}
[ $# -gt 0 ] || { echo "usage: tools/deps.sh PURPOSE...   (build test lint fuzz)" >&2; exit 2; }

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "make deps: this system is not Debian; install the packages of $list yourself (the build names what is missing)" >&2
    exit 0
fi

declare -A installed reason
while read -r package status; do
    [ "$status" = "install ok installed" ] && installed[${package%%:*}]=1
done < <(dpkg-query -W -f '${Package} ${Status}\n')

missing=()
for purpose in "$@"; do
    known=
    while read -r of package why; do
        [ "$of" = "$purpose" ] || continue
        known=1
        if [ -z "${installed[$package]:-}" ] && [ -z "${reason[$package]:-}" ]; then
            missing+=("$package")
            reason[$package]="$purpose: $why"
        fi
    done < <(grep -v '^#' "$list")
    [ -n "$known" ] || { echo "make deps: unknown purpose '$purpose'; $list lists the purposes in its first column" >&2; exit 2; }
done
[ ${#missing[@]} -gt 0 ] || exit 0

if [ "$(id -u)" -eq 0 ]; then
    as_root=()
    how="as root"
elif command -v sudo >/dev/null; then
    as_root=(sudo)
    how="with sudo"
else
    echo "make deps: packages are missing, and you are not root and have no sudo. Run as root:" >&2
    echo "    apt-get install -y --no-install-recommends ${missing[*]}" >&2
    exit 1
fi

echo "make deps: installing $how:"
for package in "${missing[@]}"; do
    printf '    %-20s %s\n' "$package" "${reason[$package]}"
done

apt() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@"
}
install() {
    # apt-get is quiet about what goes well, dpkg is not.
    apt install -y --no-install-recommends "${missing[@]}" >/dev/null
}

# A fresh container has no package lists, an old machine outdated ones.
updated=
if ! compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null; then
    apt update || exit 1
    updated=1
fi
if ! install; then
    [ -z "$updated" ] || { echo "make deps: apt-get failed; see its messages above" >&2; exit 1; }
    echo "make deps: trying again with new package lists"
    { apt update && install; } || { echo "make deps: apt-get failed; see its messages above" >&2; exit 1; }
fi
