#!/bin/bash
# Every pkg-config name that the top CMakeLists.txt asks for comes from a package that tools/deps.txt installs for the build: what is
# installed by hand on the machine of whoever added it is missed nowhere else.
#
# SPDX-License-Identifier: Apache-2.0
set -u
src=${ROOST_SRC:?}
names=$(sed -n '/PKGS/p' "$src/CMakeLists.txt" | sed 's/.*PKGS//; s/SYSTEM.*//; s/[)#].*//; s/[A-Z_]*PKGS//g' |
    tr ' ' '\n' | grep -E '^[a-z]' | sort -u)
names="$names $(sed -n '/^ *REAL_PKGS/,/)/p' "$src/CMakeLists.txt" | sed 's/REAL_PKGS//; s/)//' | tr '\n' ' ')"
count=0
status=0
for name in $names; do
    directory=$(pkg-config --variable=pcfiledir "$name") || {
        echo "CMakeLists.txt: pkg-config does not know '$name'"
        status=1
        continue
    }
    package=$(dpkg -S "$directory/$name.pc" 2>/dev/null | head -1 | cut -d: -f1)
    count=$((count + 1))
    if ! grep -qE "^build +$package( |\$)" "$src/tools/deps.txt"; then
        echo "CMakeLists.txt: $name is in the package $package: add it to tools/deps.txt"
        status=1
    fi
done
if [ "$count" -lt 8 ]; then
    echo "only $count names were found in CMakeLists.txt: this check no longer understands it"
    status=1
fi
exit $status
