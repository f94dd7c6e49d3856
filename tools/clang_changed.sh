#!/bin/bash
# tools/clang_changed.sh [COMMIT]: clang compiles each C file that has changed since COMMIT
#
# Without COMMIT: since the branch origin/main, or, on that branch itself, in the newest 10 commits.  A file also counts
# as changed when a header has changed that it includes directly.  Warnings are errors.  lint.clang looks at every file,
# but without the optimizer, which finds more.
#
# SPDX-License-Identifier: Apache-2.0
set -eu
. "$(dirname "$0")/lib.sh"
cd "$ROOST_SRC"
NEWEST=10
git() { command git -c safe.directory='*' "$@"; }

if ! git rev-parse -q --verify HEAD >/dev/null 2>&1; then
    echo "clang_changed: skipped, because this is not a git clone"
    exit 0
fi
since=${1:-$(git merge-base origin/main HEAD 2>/dev/null || true)}
if [ -z "$since" ] || [ "$(git rev-parse "$since^{commit}")" = "$(git rev-parse HEAD)" ]; then
    since=$(git rev-list --max-count=$((NEWEST + 1)) HEAD | tail -n 1)
fi
mapfile -t changed < <(git diff --name-only --diff-filter=d "$since" -- '*.c' '*.h')
mapfile -t files < <(
    for file in "${changed[@]}"; do
        case $file in
        *.c) printf '%s\n' "$file" ;;
        *.h) git grep -lF "#include \"$file\"" -- '*.c' || true ;;
        esac
    done | sort -u
)
[ ${#files[@]} -gt 0 ] || { echo "clang_changed: no C file has changed since ${since:0:12}"; exit 0; }
cmake --preset clang -G Ninja >/dev/null
# This build does not compile every file; an example are the jobs of tests.
mapfile -t known < <(comm -12 <(printf '%s\n' "${files[@]/#/$PWD/}") \
    <(ninja -C build/clang -t compdb | sed -nE 's/^ *"file": "(.*\.c)".*/\1/p' | sort -u))
[ ${#known[@]} -gt 0 ] || { echo "clang_changed: no C file of the build has changed since ${since:0:12}"; exit 0; }
ninja -C build/clang --quiet "${known[@]/%/^}"
echo "clang_changed: no warnings in ${#known[@]} files"
