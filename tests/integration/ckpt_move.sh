#!/bin/bash
# Jobs move between machines that are not alike: guests with two kernels and three processors, and this machine.  Each job
# looks itself whether it has what it had (jobs/move.c); where one cannot go on, a line says why.
#
#     guest A (Haswell)  --plain-->  guest B (max, no MPX), other kernel right: clocks, registers, threads
#                                    guest C (Nehalem)                   refused: avx
#                        --static->  this machine                        right: other registers, no dynamic linker
#                        --masked->  this machine  --again-->  guest C   right: it was told to do without
#     this machine       --masked->  guest B                             right
#     guest C            --last->    itself: no XSAVE, no namespaces of time
#
# TIMEOUT: 240
# SPDX-License-Identifier: Apache-2.0
[ -x "$ROOST_BIN/roost-ckpt" ] || { echo "skipped: roost-ckpt is made for x86-64 only"; exit 77; }
[ -x "$ROOST_BIN/roost-pilot" ] || { echo "skipped: programs with sanitizers do not run in the guests"; exit 77; }
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_guest.sh"

CKPT=$ROOST_BIN/roost-ckpt
JOBS=$WORK/jobs # in the guests, too: jobs know their files by name
this=$GUEST_KERNEL
other=$(find "$KERNEL_ROOT/boot" -maxdepth 1 -name 'vmlinuz-*' ! -name '*cloud*' 2>/dev/null | sort -V | tail -n 1)
other=${other:-$this}
mkdir -m 0777 "$JOBS" "$WORK/bin"
cc -O2 -D_GNU_SOURCE -pthread -o "$WORK/bin/move" "$ROOST_SRC/tests/integration/jobs/move.c" -lm || fail "move.c does not compile"
cc -O2 -D_GNU_SOURCE -pthread -static -o "$WORK/bin/move.static" "$ROOST_SRC/tests/integration/jobs/move.c" -lm || fail "move.c"

# What the guests and this machine do alike.
cat >"$WORK/bin/moves.sh" <<'END'
wait_until() { i=0; until eval "$1"; do i=$((i + 1)); [ $i -lt 1200 ] || { echo "TOO LATE: $1"; return 1; }; sleep 0.05; done; }
find_job() { keeper='' job=''; read -r keeper _ </proc/$1/task/$1/children; read -r job _ </proc/$keeper/task/$keeper/children; }
start() { # NAME PROGRAM avx|sse [OPTION...]: it runs
    name=$1 program=$2 kind=$3
    shift 3
    mkdir "$JOBS/$name" && chmod 0777 "$JOBS/$name" && cd "$JOBS"
    roost-ckpt run "$@" -- "$program" "$JOBS/$name" "$kind" >"$JOBS/$name/out" 2>&1 </dev/null &
    outer=$!
    wait_until "grep -qs ready '$JOBS/$name/out'"
}
resume() { # NAME [IMAGE]: it runs here
    >"$JOBS/$1/alive"
    "${2:-$JOBS/$1.image}" >>"$JOBS/$1/out" 2>&1 </dev/null &
    outer=$!
    wait_until "[ ! -e '$JOBS/$1/alive' ]"
}
dump() { # NAME [IMAGE]: the job that runs, to its image; it ends
    find_job $outer
    roost-ckpt dump "$job" "${2:-$JOBS/$1.image}" --kill || echo "NO IMAGE of $1"
    wait $outer
}
finish() { # NAME [IMAGE]: it goes on here to its end
    >"$JOBS/$1/go"
    text=$("${2:-$JOBS/$1.image}" 2>&1 </dev/null)
    echo "MOVED $1: $text $?"
}
END
say_moved() { echo "$1" | tr -d '\r' | grep '^MOVED\|^NO IMAGE\|^TOO LATE'; }

# ---- the guests
guest() { # NAME KERNEL <TEXT: what it does
    # shellcheck disable=SC2034 # for lib_guest.sh
    local GUEST_KERNEL=$2 GUEST_RELEASE=${2##*/vmlinuz-}
    guest_tree "$WORK/$1" virtio_pci virtio_blk
    guest_program "$WORK/$1" "$CKPT" "$WORK/bin/move"
    cp "$WORK/bin/move.static" "$WORK/bin/moves.sh" "$WORK/$1/bin/"
    {
        printf 'mkdir -p "%s" && chmod 0777 "%s"\nJOBS=%s\n. /bin/moves.sh\n' "$JOBS" "$JOBS" "$JOBS"
        cat
    } | guest_init "$WORK/$1" "$1"
    guest_pack "$WORK/$1" "$WORK/$1.initramfs"
}
boot() { # NAME PROCESSOR KERNEL: its console is what this prints
    (GUEST_KERNEL=$3; guest_run "" "$WORK/$1.initramfs" -cpu "$2" -drive "file=$WORK/$1.disk,format=raw,if=virtio") 2>&1
}
as_nobody="su nobody -s /bin/sh -c"

guest a "$other" <<END
cat >/bin/all <<'ALL'
JOBS=$JOBS
. /bin/moves.sh
start plain /bin/move avx && dump plain
start static /bin/move.static avx && dump static
start masked /bin/move sse --cpu x86-64-v2 && dump masked
ALL
$as_nobody '. /bin/all'
cd "\$JOBS" && tar cf /dev/vda . && sync
END
truncate -s 64M "$WORK/a.disk"
console=$(boot a Haswell "$other")
say_moved "$console"
tar xf "$WORK/a.disk" --no-same-owner -C "$JOBS" || fail "guest A: $console"
chmod -R 0777 "$JOBS"
for name in plain static masked; do
    [ -x "$JOBS/$name.image" ] || fail "no image of $name: $console"
done
"$CKPT" info "$JOBS/masked.image" | grep -qx '  processor x86-64-v2' || fail "masked: $("$CKPT" info "$JOBS/masked.image")"
"$CKPT" info "$JOBS/plain.image" | grep -q '  processor x86-64-v3' || fail "plain: $("$CKPT" info "$JOBS/plain.image")"

# ---- this machine
PATH=$ROOST_BIN:$PATH
. "$WORK/bin/moves.sh"
has() { grep -qw "$1" /proc/cpuinfo; }
masked=masked.image
if has sse4_2 && has ssse3; then
    resume masked || fail "masked: $(cat "$JOBS/masked/out")"
    dump masked "$JOBS/again.image"
    masked=again.image
    ROOST_CKPT_CPU=x86-64-v2 start here "$WORK/bin/move" sse || fail "here: $(cat "$JOBS/here/out")"
    dump here
    for name in again here; do
        "$CKPT" info "$JOBS/$name.image" | grep -qx '  processor x86-64-v2' || fail "$name: $("$CKPT" info "$JOBS/$name.image")"
    done
fi
if has avx2 && has fma && has bmi2 && has xsaveopt && has rdtscp && has fsgsbase && has rdrand; then
    equals "a static program here" "$(finish static)" "MOVED static: right 7"
fi
if has avx2 && has avx512f; then
    finish plain | grep -q 'more registers than the job.s dynamic linker makes room for' || fail "plain: $(finish plain)"
    rm "$JOBS/plain/go"
fi

# ---- images that nobody can go on from: a line each
cannot() { # TEXT COMMAND...: it ends with another status than 0, and says that in one line
    local text=$1 said
    shift
    said=$("$@" 2>&1 </dev/null) && fail "$*: $said"
    [[ $said = *"$text"* && $said != *$'\n'* ]] || fail "$*: $said, and not $text"
}
image=$JOBS/masked.image
bytes=$(stat -c %s "$image")
head -c $((bytes - 5000)) "$image" >"$WORK/cut" && chmod 0755 "$WORK/cut"
cannot "cannot resume: damaged image: the file is cut off" "$WORK/cut"
cannot "damaged image: its tables are cut off" "$CKPT" info "$WORK/cut"
spoil() { # NAME OFFSET BYTES: a copy of the image, with these there
    cp "$image" "$WORK/$1"
    printf '%b' "$3" | dd of="$WORK/$1" bs=1 seek="$2" conv=notrunc status=none
}
# A number of the heap's, which no file has.
number=$(LC_ALL=C grep -obaP -m1 '\xb0\x15\xde\xfb\x75\x09\x69\x79' "$image" | head -n 1 | cut -d: -f1)
[ -n "$number" ] || fail "the heap of the job is not in its image"
spoil damaged "$number" '\x00'
! has sse4_2 || cannot "cannot resume: damaged image: bad checksum of the bytes at " "$WORK/damaged"
cannot "damaged image: bad checksum of the bytes at " "$CKPT" info "$WORK/damaged" --verify
# A byte of a library's, which the image maps rather than reads.
code=$(LC_ALL=C grep -obaP -m1 'GNU C Library' "$image" | head -n 1 | cut -d: -f1)
[ -n "$code" ] || fail "the libraries of the job are not in its image"
spoil mapped "$code" '\x00'
! has sse4_2 || cannot "cannot resume: damaged image: bad checksum of the bytes at " "$WORK/mapped"
tables=$(od -An -t u8 -j 128 -N 8 "$image") # where they begin: of the second program header
spoil tables $((tables + 1000)) '\x55'
cannot "cannot resume: damaged image: bad checksum of its tables" "$WORK/tables"
spoil foreign 18 '\xb7' # EM_AARCH64
cannot "the image was made on another kind of processor" "$CKPT" info "$WORK/foreign"
cannot "xec format error" "$WORK/foreign"
cannot "unknown processor level 'i586'; expected x86-64, x86-64-v2" "$CKPT" run --cpu i586 -- true
cannot "unknown processor level 'x86-64-v'; expected x86-64, x86-64-v2" env ROOST_CKPT_CPU=x86-64-v "$CKPT" run -- true
! has sse4_2 || has sse4a || "$image" --check || fail "--check"

# ---- and back to guests
cat >"$WORK/b.do" <<END
tar xf /dev/vda -C "\$JOBS" && chmod -R 0777 "\$JOBS"
$as_nobody '. /bin/moves.sh; JOBS=$JOBS; finish plain; [ ! -e $JOBS/here.image ] || finish here'
END
cat >"$WORK/c.do" <<END
tar xf /dev/vda -C "\$JOBS" && chmod -R 0777 "\$JOBS"
$as_nobody '. /bin/moves.sh; JOBS=$JOBS; finish plain; finish masked $JOBS/$masked; start last /bin/move sse && dump last'
echo 0 >/proc/sys/user/max_time_namespaces
$as_nobody '. /bin/moves.sh; JOBS=$JOBS; finish last'
echo 0 >/proc/sys/user/max_user_namespaces
$as_nobody '. /bin/moves.sh; JOBS=$JOBS; finish masked $JOBS/$masked'
END
guest b "$this" <"$WORK/b.do"
guest c "$other" <"$WORK/c.do"
for name in b c; do
    (cd "$JOBS" && tar cf "$WORK/$name.disk" -- *) && truncate -s 64M "$WORK/$name.disk"
done
boot b max,-mpx "$this" >"$WORK/b.console" &
boot c Nehalem "$other" >"$WORK/c.console" &
wait
b=$(say_moved "$(cat "$WORK/b.console")")
c=$(say_moved "$(cat "$WORK/c.console")")
right='MOVED plain: right 7'
[ ! -e "$JOBS/here.image" ] || right+=$'\nMOVED here: right 7'
[ "$b" = "$right" ] || fail "guest B: $(cat "$WORK/b.console")"
refused='roost-ckpt: cannot resume: this'
[[ $c = "MOVED plain: $refused machine lacks features that the job may use: "*": EOPNOTSUPP 125
MOVED masked: right 7
MOVED last: right 7
MOVED masked: roost-ckpt: cannot resume: ordinary users may create no namespaces "*": E"*" 125" ]] || fail "guest C: $(cat "$WORK/c.console")"
say "$c"
passed
