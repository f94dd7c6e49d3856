#!/bin/bash
# A partitionable machine: jobs get pieces of it as large as they ask for, all at once while they fit; a killed startd
# finds its pieces again and leaks nothing.
#
# TIMEOUT: 120
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

pool_init --nodes 1 --cpus-per-node 4
cat >>"$POOL/nodes/wn01/roost.conf" <<END
MEMORY = 4096
NUM_SLOTS_TYPE_1 = 1
SLOT_TYPE_1 = "100%"
SLOT_TYPE_1_PARTITIONABLE = true
MACHINE_RESOURCE_Tapes = "T0, T1"
MACHINE_RESOURCE_INVENTORY_GPUs = "$WORK/gpu_discovery -extra"
HIBERNATE = "NONE"
ASSIGN_CPU_AFFINITY = true
STARTD_ATTRS = {Room, Floor, Busy, Half}
Room = "B12"
Floor = "\"second\""
Busy = "CpuIsBusy"
Half = "TotalSlotCpus / 2"
END
# What HTCondor's condor_gpu_discovery -nested prints, of a machine with an old GPU and a new one.
cat >"$WORK/gpu_discovery" <<'END'
#!/bin/sh
[ "$1" = -extra ] || exit 1
echo 'DetectedGPUs="GPU-0a1b, GPU-2c3d"'
echo 'Common=[ DriverVersion=12.2; MaxSupportedVersion=12020; ]'
echo 'GPU_0a1b=[ id="GPU-0a1b"; Capability=6.1; DeviceName="GTX 1080"; GlobalMemoryMb=8110; ]'
echo 'GPU_2c3d=[ id="GPU-2c3d"; Capability=8.6; DeviceName="RTX A4000"; GlobalMemoryMb=16117; ]'
END
chmod +x "$WORK/gpu_discovery"
pool_start

# pieces: "Name Cpus State" of each, sorted.  whole ATTR...: of the partitionable slot.
pieces() { "$ROOST" status -constraint 'DynamicSlot =?= true' -af Name Cpus State 2>/dev/null | sort; }
whole() { "$ROOST" status -constraint 'PartitionableSlot =?= true' -af "$@" 2>/dev/null; }
running_is() { [ "$("$ROOST" q "$1" -af JobStatus 2>/dev/null | grep -c 2)" -eq "$2" ]; }
is_whole() { [ "$(whole Cpus Memory Tapes NumDynamicSlots)" = "4 4096 2 0" ] && [ -z "$(pieces)" ]; }

undo=
if [ -w /sys/fs/cgroup/cpuset/cgroup.procs ]; then
    undo='taskset -p ffff $$ >/dev/null 2>&1;' # a cpuset holds the job where it is
fi
# job CPUS END COUNT [LINE...] >FILE: END is what the job does behind its number.
job() {
    printf 'executable = /bin/sh\ntransfer_executable = false\n'
    printf 'arguments = "-c '"'"'echo $(Process); %s sed -n s/^Cpus_allowed_list:.//p /proc/self/status >&2; ' "$undo"
    printf 'echo $_CONDOR_AssignedCpus $_CONDOR_AssignedTapes >&2; %s'"'"'"\n' "$2"
    printf 'initialdir = %s\noutput = out.$(Process)\nerror = err.$(Process)\nrequest_cpus = %s\nrequest_memory = 100\n' "$OUT" "$1"
    printf '%s\n' "${@:4}" "queue $3"
}

until_true 20 "the machine is there, in one piece" is_whole

equals "attributes of the configuration" "$(whole Room Floor Half)" "undefined second 2"
equals "those that name what there is not" "$(grep -ohE 'attribute=[A-Za-z]* value=.*' "$POOL"/nodes/wn01/log/StartLog | sort -u)" "attribute=Room value=B12"

say "four jobs of one CPU run at once; the fifth waits"
job 1 "$(gate four)" 5 >"$WORK/four.sub"
cluster=$(submit "$WORK/four.sub") || exit 1
until_true 20 "four run" running_is "$cluster" 4
equals "what is left" "$(whole Cpus Memory NumDynamicSlots)" "0 3584 4"
equals "slots of the pieces" "$(pieces | cut -d@ -f1 | tr '\n' ' ')" "slot1_1 slot1_2 slot1_3 slot1_4 "
# This machine has fewer CPUs than it offers, perhaps: some pieces then have none of their own.
assigned=$("$ROOST" status -constraint 'DynamicSlot =?= true' -af AssignedCpus | grep .)
equals "CPUs of two pieces" "$(sort <<<"$assigned" | uniq -d)" ""
equals "pieces with a CPU of their own" "$(wc -l <<<"$assigned")" "$(($(nproc) < 4 ? $(nproc) : 4))"
open_gate four
until_true 30 "all are done" is_done "$cluster" 5
for number in 0 1 2 3 4; do
    { read -r allowed && read -r own; } <"$OUT/err.$number"
    [ -z "$own" ] || equals "the CPUs of job $number" "$allowed" "$own"
done
check_committed "$cluster" 5
check_outputs 5
equals "what they were given" \
    "$("$ROOST" history "$cluster" -af CpusProvisioned MemoryProvisioned TapesProvisioned | sort -u)" "1 128 0"
until_true 20 "the machine is whole again" is_whole

say "two CPUs, one and one"
job 2 "$(gate two)" 1 'My.RequestTapes = 2' 'error = large.err' >"$WORK/two.sub"
job 1 "$(gate two)" 2 >"$WORK/one.sub"
two=$(submit "$WORK/two.sub") || exit 1
one=$(submit "$WORK/one.sub") || exit 1
until_true 20 "the large one runs" running_is "$two" 1
until_true 20 "the small ones run" running_is "$one" 2
equals "what is left" "$(whole Cpus Tapes ChildCpus)" "0 0 { 2,1,1 }"
open_gate two
until_true 30 "the large one is done" is_done "$two" 1
equals "which tapes the large one was told" "$(tail -n 1 "$OUT/large.err" | grep -oE 'T[01].*')" "T0,T1"
until_true 30 "the small ones are done" is_done "$one" 2
equals "what the large one was given" "$("$ROOST" history "$two" -af CpusProvisioned TapesProvisioned)" "2 2"

say "jobs get the GPUs that they ask for, and no others"
job 1 "$(gate gpus); echo \$_CONDOR_AssignedGPUs \$CUDA_VISIBLE_DEVICES >&2" 1 'request_gpus = 1' 'gpus_minimum_capability = 8' 'error = new.err' >"$WORK/new.sub"
job 1 "$(gate gpus); echo \$_CONDOR_AssignedGPUs \$CUDA_VISIBLE_DEVICES >&2" 1 'request_gpus = 1' 'require_gpus = GlobalMemoryMb < 10000' \
    'gpus_minimum_runtime = 12.1' 'error = old.err' >"$WORK/old.sub"
new=$(submit "$WORK/new.sub") || exit 1
until_true 20 "the one for the new GPU runs" running_is "$new" 1
equals "which GPU is left" "$(whole GPUs AssignedGPUs AvailableGPUs GPUs_DriverVersion)" "1 GPU-0a1b { GPUs_GPU_0a1b } 12.2"
second=$(submit "$WORK/new.sub") || exit 1 # there is no second such GPU: it waits
old=$(submit "$WORK/old.sub") || exit 1
until_true 20 "the one for the old GPU runs" running_is "$old" 1
equals "the second one for the new GPU" "$("$ROOST" q "$second" -af JobStatus)" 1
open_gate gpus
until_true 30 "the second one is done, too" is_done "$second" 1
until_true 30 "the one for the old GPU is done" is_done "$old" 1
equals "what the new one was told" "$(tail -n 1 "$OUT/new.err")" "GPU-2c3d GPU-2c3d"
equals "what the old one was told" "$(tail -n 1 "$OUT/old.err")" "GPU-0a1b GPU-0a1b"

say "the startd is killed amid, three times"
job 1 "sleep 1" 12 >"$WORK/many.sub"
cluster=$(submit "$WORK/many.sub") || exit 1
until_true 20 "four run" running_is "$cluster" 4
for _ in 1 2 3; do
    sleep 0.9 # anywhere in the life of the jobs
    for pid in $(pids_of startd wn01); do
        kill -9 "$pid"
    done
done
until_true 60 "all are done" is_done "$cluster" 12
check_committed "$cluster" 12
check_outputs 12
equals "starts of each job" "$("$ROOST" history "$cluster" -af NumJobStarts | sort -u)" 1
until_true 20 "nothing has leaked" is_whole
equals "sandboxes that were left" "$(ls "$POOL/nodes/wn01/execute")" ""
pool_stop
passed
