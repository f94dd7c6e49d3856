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

# guests_make PORT: what all guests boot, $WORK/initramfs; the pool has one node, wn01, which is asleep.  The pilot has three
# cores, which the guest does not have.  The button that a shutdown presses ends a guest, unless its command line has deaf=1.
# GUEST_AGENT=1: it has QEMU's guest agent.
guests_make() {
    local guest=$WORK/guest
    guest_tree "$guest" virtio_pci virtio_net button evdev ${GUEST_AGENT:+virtio_console}
    mkdir -p "$guest/etc/acpi/PWRF"
    printf '#!/bin/sh\necho "the button was pressed" >/dev/console\ngrep -q deaf=1 /proc/cmdline || poweroff -f\n' \
        >"$guest/etc/acpi/PWRF/00000080"
    chmod 0755 "$guest/etc/acpi/PWRF/00000080"
    if [ -n "${GUEST_AGENT:-}" ]; then
        guest_program "$guest" "$(command -v qemu-ga)"
        mkdir -p "$guest/sbin" "$guest/run"
        printf '#!/bin/sh\necho "the agent shuts down" >/dev/console\npoweroff -f\n' >"$guest/sbin/shutdown"
        chmod 0755 "$guest/sbin/shutdown"
    fi
    "$ROOST" token create --identity guest --scope ADVERTISE,READ --expires 1h --bundle --file "$guest/bundle" ||
        fail "roost token create --bundle"
    guest_init "$guest" guest <<INIT
for word in \$(cat /proc/cmdline); do case \$word in host=*) host=\${word#*=} ;; level=*) level=\${word#*=} ;; esac; done
hostname "\$host"
ip addr add 10.0.2.15/24 dev eth0
ip route add default via 10.0.2.2
acpid -d >/dev/null 2>&1 &
for port in /sys/class/virtio-ports/vport*; do
    [ ! -x /bin/qemu-ga ] || qemu-ga -m virtio-serial -p /dev/\${port##*/} -t /run >/dev/console 2>&1 &
done
roost-pilot --collector 10.0.2.2:$1 --token /bundle --name "\$host" --cpus 3 --idle-timeout 3600 POLLING_INTERVAL=1 \\
    MODIFY_REQUEST_EXPR_REQUESTMEMORY=RequestMemory POWER_METHOD=rooster HIBERNATE_CHECK_INTERVAL=1 HIBERNATE_MIN_UPTIME=8 \\
    HIBERNATE="ifThenElse(State == \"Unclaimed\" && time() - EnteredCurrentActivity >= 2, \"\$level\", \"NONE\")"
INIT
    guest_pack "$guest" "$WORK/initramfs"
    "$ROOST" status -constraint 'Machine == "wn01"' -l >"$WORK/asleep" || fail "roost status"
}
# guest_advertise NAME: an offline ad of a guest that was never seen.
guest_advertise() {
    {
        sed -e "s/wn01/$1/g" -e '/^\(HardwareAddress\|Subnet\|SubnetMask\|IsWake[A-Za-z]*\) =/d' \
            -e 's/^\(Cpus\|TotalCpus\|TotalSlotCpus\) = .*/\1 = 3/' -e 's/^SlotType = .*/SlotType = "Partitionable"/' \
            -e 's/^\(Memory\|TotalMemory\|TotalSlotMemory\) = .*/\1 = 200/' "$WORK/asleep"
        printf 'PartitionableSlot = true\nNumDynamicSlots = 0\nMODIFY_REQUEST_EXPR_REQUESTMEMORY = RequestMemory\nOfflineBootId = "before"\n'
    } | grep . >"$WORK/$1.ad"
    equals "the offline ad of $1" "$("$ROOST" advertise UPDATE_STARTD_AD "$WORK/$1.ad")" "Sent 1 of 1 ad to the collector."
}
# guest_define NAME WORDS: wxNN, with that number in its UUID and network address; WORDS go to its kernel's command line.
guest_define() {
    cat >"$VIRT/$1.xml" <<XML
<domain type='qemu'>
  <name>$1</name><uuid>11111111-1111-1111-1111-1111111111${1#wx}</uuid><memory unit='MiB'>256</memory><vcpu>1</vcpu>
  <os><type arch='x86_64' machine='pc'>hvm</type><kernel>$GUEST_KERNEL</kernel><initrd>$WORK/initramfs</initrd>
    <cmdline>console=ttyS0 quiet panic=-1 host=$1 $2</cmdline></os>
  <features><acpi/></features>
  <pm><suspend-to-mem enabled='yes'/></pm>
  <on_poweroff>destroy</on_poweroff><on_reboot>destroy</on_reboot><on_crash>destroy</on_crash>
  <devices><emulator>$(command -v qemu-system-x86_64)</emulator>
    <interface type='user'><mac address='52:54:00:77:00:${1#wx}'/><model type='virtio'/></interface>
    <serial type='file'><source path='$VIRT/$1.console' append='on'/><target port='0'/></serial>
    ${GUEST_AGENT:+<channel type='unix'><target type='virtio' name='org.qemu.guest_agent.0'/></channel>}
    <memballoon model='none'/></devices>
  <seclabel type='none'/>
</domain>
XML
    virsh_ define "$VIRT/$1.xml" >/dev/null || fail "virsh define $1"
}
guest_state() { virsh_ domstate "$1"; }
guest_is() { [ "$(guest_state "$1")" = "$2" ]; }
guest_is_saved() { virsh_ dominfo "$1" | grep -q '^Managed save: *yes'; }
