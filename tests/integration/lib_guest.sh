# tests/integration/lib_guest.sh - a machine to switch on: a kernel, busybox and what a test puts beside them.
#
# Emulated without any help of the processor, it is up in a few seconds.  A test that boots guests sources this file after
# the checks of its own; what is missing here ends it with 77 (skipped).
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
PATH=$PATH:/sbin:/usr/sbin
for need in qemu-system-x86_64 busybox cpio modprobe; do
    command -v $need >/dev/null || { echo "skipped: no $need here (make deps)"; exit 77; }
done

# The newest kernel of the kind that guests of clouds have, here or unpacked elsewhere; if a test sets GUEST_REAL, one with drivers of
# real hardware.
KERNEL_ROOT=${ROOST_GUEST_ROOT:-}
if [ -n "${GUEST_REAL:-}" ]; then
    GUEST_KERNEL=$(find "$KERNEL_ROOT/boot" -maxdepth 1 -name 'vmlinuz-*' ! -name '*cloud*' 2>/dev/null | sort -V | tail -n 1)
    [ -n "$GUEST_KERNEL" ] || { echo "skipped: no linux-image-amd64 here (make deps)"; exit 77; }
else
    GUEST_KERNEL=$(find "$KERNEL_ROOT/boot" -maxdepth 1 -name 'vmlinuz-*cloud*' 2>/dev/null | sort -V | tail -n 1)
    [ -n "$GUEST_KERNEL" ] || { echo "skipped: no linux-image-cloud-amd64 here (make deps)"; exit 77; }
fi
[ -r "$GUEST_KERNEL" ] || { echo "skipped: $GUEST_KERNEL may not be read"; exit 77; }
GUEST_RELEASE=${GUEST_KERNEL##*/vmlinuz-}

# guest_tree DIR MODULE...: a root directory with busybox, the pilot and these kernel modules, with what they need.
guest_tree() {
    local dir=$1 number=10 wanted module
    shift
    mkdir -p "$dir/bin" "$dir/mod" "$dir/proc" "$dir/sys" "$dir/dev" "$dir/tmp"
    cp "$(command -v busybox)" "$dir/bin/busybox"
    cp "$ROOST_BIN/roost-pilot" "$dir/bin/" && strip "$dir/bin/roost-pilot"
    for wanted in "$@"; do
        modprobe ${KERNEL_ROOT:+-d "$KERNEL_ROOT"} -S "$GUEST_RELEASE" --show-depends "$wanted" 2>/dev/null
    done >"$dir.modules"
    while read -r _ module _; do
        case $module in
        *.xz) xz -dc "$module" >"$dir/mod/$number.ko" ;;
        *) cp "$module" "$dir/mod/$number.ko" ;;
        esac
        number=$((number + 1))
    done < <(grep '^insmod' "$dir.modules")
}

# guest_program DIR PROGRAM...: these, with the libraries that they are linked with, and the two accounts that there always are.
guest_program() {
    local dir=$1 program library
    shift
    mkdir -p "$dir/etc"
    echo "root:x:0:0::/:/bin/sh
nobody:x:65534:65534::/:/bin/sh" >"$dir/etc/passwd"
    echo "root:x:0:
nogroup:x:65534:" >"$dir/etc/group"
    for program in "$@"; do
        cp "$program" "$dir/bin/" && strip "$dir/bin/${program##*/}"
        for library in $(ldd "$program" | grep -o '/[^ ]*'); do
            mkdir -p "$dir${library%/*}" && cp -nL "$library" "$dir$library"
        done
    done
}

# guest_init DIR NAME <TEXT: what the guest does once its kernel is up and its modules are loaded; then it is switched off.
guest_init() {
    {
        cat <<INIT
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t cgroup2 none /sys/fs/cgroup
mount -t devtmpfs devtmpfs /dev
for module in /mod/*.ko; do insmod "\$module" 2>/dev/null; done
hostname $2
ip link set lo up
ip link set eth0 up
INIT
        cat
        echo "poweroff -f"
    } >"$1/init"
    chmod 0755 "$1/init"
}

# guest_pack DIR FILE: the initramfs.
guest_pack() { (cd "$1" && find . | cpio -o -H newc --quiet | gzip -1) >"$2" || fail "the initramfs could not be made"; }

# guest_run BY INITRAMFS OPTION...: the emulator, in place of the caller; BY: words of a command that runs it, "" for none.
guest_run() {
    local by initramfs=$2
    read -ra by <<<"$1"
    shift 2
    exec "${by[@]}" qemu-system-x86_64 -accel tcg -machine pc -m 384 -smp 1 -nographic -no-reboot -nodefaults -serial stdio \
        "$@" -kernel "$GUEST_KERNEL" -initrd "$initramfs" -append "console=ttyS0 quiet panic=-1" </dev/null
}
