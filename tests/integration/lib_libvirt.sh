# tests/integration/lib_libvirt.sh - a libvirt daemon of the test's own, and guests that are defined in it.
#
# It runs in a mount namespace in which libvirt's directories are the test's; its guests are emulated (QEMU without help of
# the processor), on the user-mode network, where 10.0.2.2 is this host.  Source lib.sh and lib_guest.sh before.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
[ "$(id -u)" = 0 ] || { echo "skipped: a libvirt daemon for the system is root's"; exit 77; }
for need in libvirtd virsh unshare; do
    command -v $need >/dev/null || { echo "skipped: no $need here (make deps)"; exit 77; }
done
unshare -m true 2>/dev/null || { echo "skipped: no mount namespaces here"; exit 77; }

VIRT=$WORK/virt
VIRT_URI="qemu:///system?socket=$VIRT/run/libvirt-sock"
answers() { virsh_ list --name >/dev/null 2>&1; }
virsh_() { virsh -q -c "$VIRT_URI" "$@"; }

# libvirtd_start: in the background; its guests outlive it, and the next one finds them.
libvirtd_start() {
    mkdir -p "$VIRT"/{etc,lib,run,log,cache} /run/libvirt /var/lib/libvirt /var/cache/libvirt
    cat >"$VIRT/etc/qemu.conf" <<CONF
stdio_handler = "file"
cgroup_controllers = [ ]
security_driver = "none"
user = "root"
group = "root"
dynamic_ownership = 0
remember_owner = 0
namespaces = [ ]
CONF
    cat >"$VIRT/etc/libvirtd.conf" <<CONF
unix_sock_group = "root"
auth_unix_rw = "none"
auth_unix_ro = "none"
log_outputs = "2:file:$VIRT/log/libvirtd.log"
CONF
    # The account of its guests, which libvirtd insists on even where they run as root, belongs to a package of services.
    local file
    for file in passwd group; do
        cp /etc/$file "$VIRT/etc/$file"
        grep -q '^libvirt-qemu:' /etc/$file || echo "libvirt-qemu:x:64055:$([ $file = group ] || echo 64055::/nonexistent:/bin/false)" >>"$VIRT/etc/$file"
    done
    # shellcheck disable=SC2016
    env -u ROOST_CONFIG setsid unshare -m sh -c 'mount --make-rprivate /
        mount --bind "$1/etc/passwd" /etc/passwd && mount --bind "$1/etc/group" /etc/group &&
        mount --bind "$1/etc" /etc/libvirt && mount --bind "$1/lib" /var/lib/libvirt && mount --bind "$1/run" /run/libvirt &&
        mount --bind "$1/cache" /var/cache/libvirt && exec libvirtd -p "$1/libvirtd.pid"' sh "$VIRT" \
        </dev/null >>"$VIRT/log/out" 2>&1 &
    until_true 60 "libvirtd answers" answers
}

libvirtd_stop() {
    local pid
    pid=$(cat "$VIRT/libvirtd.pid") || fail "libvirtd has no pid"
    kill "$pid" || fail "libvirtd (pid $pid) is gone"
    until_true 30 "libvirtd has ended" is_gone "$pid"
}
is_gone() { ! kill -0 "$1" 2>/dev/null; }

# guest_define NAME UUID MAC INITRAMFS WORDS: WORDS are for the guest, on its kernel's command line.
guest_define() {
    cat >"$VIRT/$1.xml" <<XML
<domain type='qemu'>
  <name>$1</name><uuid>$2</uuid><memory unit='MiB'>256</memory><vcpu>1</vcpu>
  <os><type arch='x86_64' machine='pc'>hvm</type><kernel>$GUEST_KERNEL</kernel><initrd>$4</initrd>
    <cmdline>console=ttyS0 quiet panic=-1 host=$1 $5</cmdline></os>
  <features><acpi/></features>
  <on_poweroff>destroy</on_poweroff><on_reboot>destroy</on_reboot><on_crash>destroy</on_crash>
  <devices><emulator>$(command -v qemu-system-x86_64)</emulator>
    <interface type='user'><mac address='$3'/><model type='virtio'/></interface>
    <serial type='file'><source path='$VIRT/$1.console' append='on'/><target port='0'/></serial>
    <memballoon model='none'/></devices>
  <seclabel type='none'/>
</domain>
XML
    virsh_ define "$VIRT/$1.xml" >/dev/null || fail "virsh define $1"
}
guest_state() { virsh_ domstate "$1"; }
guest_is() { [ "$(guest_state "$1")" = "$2" ]; }
guest_is_saved() { virsh_ dominfo "$1" | grep -q '^Managed save: *yes'; }
