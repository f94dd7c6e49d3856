#!/bin/bash
# docs/LIMITS.md says what users are told: each message there is provoked, as an ordinary user, and is what is said.
#
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
[ -x "$ROOST_BIN/roost-ckpt" ] || { echo "skipped: roost-ckpt is made for x86-64 only"; exit 77; }
AS=()
[ "$(id -u)" != 0 ] || AS=(setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs)
"${AS[@]}" unshare --user true 2>/dev/null || { echo "skipped: user namespaces are forbidden here"; exit 77; }

mkdir "$WORK/bin"
mkdir -m 0777 "$WORK/files"
cp "$ROOST_BIN/roost-ckpt" "$ROOST_SRC"/tests/integration/lib_{checkpoint,checkpoint_refused,limits}.py "$ROOST_SRC/docs/LIMITS.md" "$WORK/bin/"
(cd "$WORK/files" && ROOST_BIN="$WORK/bin" timeout 100 "${AS[@]}" /usr/bin/python3 "$WORK/bin/lib_limits.py" "$WORK/bin/LIMITS.md" .) ||
    fail "messages"
# What takes other machines, or a pool: other tests provoke it; here, that the page and the source have the same words.
words() { # FILE WORDS
    local file
    for file in "$1" docs/LIMITS.md; do
        grep -qF -- "$2" "$ROOST_SRC/$file" || fail "the page and the source have other words: $file has not: $2"
    done
}
words ckpt/stub/start.c "this machine lacks features that the job may use:"
words ckpt/stub/start.c "this machine lacks features that the job uses:"
words ckpt/xstate.c "AMX tiles"
words ckpt/stub/start.c "this processor has more registers than the job's dynamic linker makes "
words ckpt/dump/dump_memory_linux.c "shadow stacks are not supported"
words ckpt/dump/dump_fd_pipe_linux.c "the pipe holds more bytes than a new pipe may hold"
words shadow/ckpt/ckpt_room.c "would take more than CHECKPOINT_QUOTA_PER_OWNER ("
passed
