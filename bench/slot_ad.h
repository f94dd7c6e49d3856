/* bench/slot_ad.h - slot ads as a startd of HTCondor sends them: 168 attributes, 5 KB of text.
 *
 * Each slot has its own names and addresses.  Its times, load averages, idle times, and disk and
 * memory figures change from update to update.  The description of the machine and its
 * policy is the same in a pool of identical machines.  In a pool where all machines differ, every
 * number, text and expression is the slot's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BENCH_SLOT_AD_H
#define BENCH_SLOT_AD_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "classad/ad.h"

#define SLOT_AD_ATTRIBUTES 168
#define SLOT_AD_EPOCH_S    1763632474

/* Attributes with equal values in a pool of identical machines: name, and value in new syntax. */
static const char *const SLOT_AD_SAME[][2] = {
    {"MyType", "\"Machine\""},
    {"TargetType", "\"Job\""},
    {"AcceptedWhileDraining", "false"},
    {"Activity", "\"Idle\""},
    {"Arch", "\"X86_64\""},
    {"AuthenticationMethod", "\"IDTOKENS\""},
    {"CanHibernate", "true"},
    {"CheckpointPlatform",
     "\"LINUX X86_64 6.1.0-18-amd64 normal N/A avx avx2 ssse3 sse4_1 sse4_2\""},
    {"COLLECTOR_HOST_STRING", "\"cm.pool.example.org:9618\""},
    {"CondorPlatform", "\"$CondorPlatform: x86_64_Debian12 $\""},
    {"CondorVersion",
     "\"$CondorVersion: 25.14.0 2026-01-12 BuildID: 859213 PackageID: 25.14.0-1 $\""},
    {"CpuBusy", "((LoadAvg - CondorLoadAvg) >= 0.5)"},
    {"CpuCacheSize", "36608"},
    {"CpuFamily", "6"},
    {"CpuIsBusy", "false"},
    {"CpuModel", "\"Intel(R) Xeon(R) Gold 6248R CPU @ 3.00GHz\""},
    {"CpuModelNumber", "85"},
    {"Cpus", "8"},
    {"CurrentRank", "0.0"},
    {"DetectedCpus", "96"},
    {"DetectedMemory", "385416"},
    {"EnvironmentModules", "\"gcc/12.2 openmpi/4.1.5 cuda/12.3 python/3.11 root/6.30\""},
    {"ExpectedMachineGracefulDrainingBadput", "0"},
    {"ExpectedMachineGracefulDrainingCompletion", "SlotAdBase"},
    {"ExpectedMachineQuickDrainingBadput", "0"},
    {"ExpectedMachineQuickDrainingCompletion", "SlotAdBase"},
    {"FileSystemDomain", "\"pool.example.org\""},
    {"HasCheckpointing", "true"},
    {"HasEncryptExecuteDirectory", "true"},
    {"HasFileTransfer", "true"},
    {"HasFileTransferPluginMethods",
     "\"box,data,dav,davs,file,ftp,gdrive,http,https,onedrive,osdf,s3,stash\""},
    {"HasIOProxy", "true"},
    {"HasJICLocalConfig", "true"},
    {"HasJICLocalStdin", "true"},
    {"HasJobDeferral", "true"},
    {"HasJobTransferPlugins", "true"},
    {"HasMPI", "true"},
    {"HasPerFileEncryption", "true"},
    {"HasReconnect", "true"},
    {"HasSelfCheckpointTransfers", "true"},
    {"HasSingularity", "true"},
    {"HasTDP", "true"},
    {"HasTransferInputRemaps", "true"},
    {"HasUserNamespaces", "true"},
    {"HasVM", "false"},
    {"HibernationLevel", "0"},
    {"HibernationState", "\"NONE\""},
    {"HibernationSupportedStates", "\"S3,S4,S5\""},
    {"HibernationMethod", "\"/sys/power/state\""},
    {"IsLocalStartd", "false"},
    {"IsWakeAble", "true"},
    {"IsWakeOnLanEnabled", "true"},
    {"IsWakeOnLanSupported", "true"},
    {"JobPreemptions", "0"},
    {"JobRankPreemptions", "0"},
    {"JobUserPrioPreemptions", "0"},
    {"MachineMaxVacateTime", "10 * 60"},
    {"MachineResources", "\"Cpus Memory Disk Swap GPUs\""},
    {"MaxJobRetirementTime", "ifThenElse(TARGET.WantLongRetirement =?= true, 24 * 3600, 0)"},
    {"Memory", "32118"},
    {"Microarch", "\"x86_64-v4\""},
    {"Mips", "26013"},
    {"NextFetchWorkDelay", "-1"},
    {"NumPids", "0"},
    {"OpSys", "\"LINUX\""},
    {"OpSysAndVer", "\"Debian12\""},
    {"OpSysLegacy", "\"LINUX\""},
    {"OpSysLongName", "\"Debian GNU/Linux 12 (bookworm)\""},
    {"OpSysMajorVer", "12"},
    {"OpSysName", "\"Debian\""},
    {"OpSysShortName", "\"Debian\""},
    {"OpSysVer", "1200"},
    {"PslotRollupInformation", "true"},
    {"Rank", "(TARGET.Owner == \"group_atlas\") * 10 + (TARGET.RequestCpus == 8)"},
    {"RecentJobPreemptions", "0"},
    {"RecentJobRankPreemptions", "0"},
    {"RecentJobUserPrioPreemptions", "0"},
    {"Requirements",
     "START && (TARGET.RequestCpus <= MY.Cpus) && (TARGET.RequestMemory <= MY.Memory) && "
     "(TARGET.RequestDisk <= MY.Disk) && WithinResourceLimits"},
    {"RetirementTimeRemaining", "0"},
    {"SingularityVersion", "\"apptainer version 1.2.5-1.el9\""},
    {"SlotType", "\"Static\""},
    {"SlotTypeID", "1"},
    {"SlotWeight", "Cpus"},
    {"Start", "((KeyboardIdle > 15 * 60) && (CpuBusy =!= true || State == \"Claimed\")) || "
              "(TARGET.AcctGroup =?= \"group_admin\")"},
    {"StarterAbilityList",
     "\"HasFileTransfer,HasJobDeferral,HasReconnect,HasSingularity,HasTDP,HasVM,HasMPI,"
     "HasPerFileEncryption,HasTransferInputRemaps,HasSelfCheckpointTransfers\""},
    {"State", "\"Unclaimed\""},
    {"SubnetMask", "\"255.255.240.0\""},
    {"Suspend",
     "(KeyboardIdle < 60) || ((CpuBusyTime > 2 * 60) && ((CurrentTime - JobStart) > 90))"},
    {"TimeToLive", "2147483647"},
    {"TotalCondorLoadAvg", "0.0"},
    {"TotalCpus", "96.0"},
    {"TotalGPUs", "0"},
    {"TotalMemory", "385416"},
    {"TotalSlotCpus", "8"},
    {"TotalSlotMemory", "32118"},
    {"TotalSlots", "12"},
    {"UidDomain", "\"pool.example.org\""},
    {"Unhibernate", "MY.MachineLastMatchTime =!= undefined"},
    {"UpdateInterval", "300"},
    {"UtsnameMachine", "\"x86_64\""},
    {"UtsnameRelease", "\"6.1.0-18-amd64\""},
    {"UtsnameSysname", "\"Linux\""},
    {"UtsnameVersion", "\"#1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 (2024-02-01)\""},
    {"VM_AvailNum", "0"},
    {"VM_GAHP_VERSION", "\"\""},
    {"WakeOnLanSupportedFlags",
     "\"Physical Packet,UniCast Packet,MultiCast Packet,BroadCast Packet,Magic Packet\""},
    {"WakeOnLanEnabledFlags", "\"Magic Packet\""},
    {"WakePort", "9"},
    {"WithinResourceLimits",
     "(MY.Cpus > 0 && TARGET.RequestCpus <= MY.Cpus && MY.Memory > 0 && "
     "TARGET.RequestMemory <= MY.Memory && MY.Disk > 0 && TARGET.RequestDisk <= MY.Disk)"},
    {"HasContainer", "true"},
    {"HasDockerURL", "false"},
    {"HasSIF", "true"},
    {"HasSandboxImage", "true"},
    {"HasRotationalScratch", "false"},
    {"IsEnforcingDiskUsage", "false"},
    {"DockerOfflineReason", "\"docker is not installed\""},
    {"has_avx", "true"},
    {"has_avx2", "true"},
    {"has_avx512f", "true"},
    {"has_sse4_1", "true"},
    {"has_sse4_2", "true"},
    {"has_ssse3", "true"},
};

static void slot_ad_text(struct ad *ad, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void slot_ad_text(struct ad *ad, const char *name, const char *format, ...)
{
    char text[300];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    ad_set_string(ad, name, text);
}

/* Sets the identity of slot `number` (of all slots); the 12 slots of a machine share its Machine
 * and addresses. */
static void slot_ad_identify(struct ad *ad, unsigned number)
{
    unsigned machine = number / 12, low = machine % 250, high = machine / 250;
    slot_ad_text(ad, "Name", "slot%u@wn%05u.pool.example.org", number % 12 + 1, machine);
    slot_ad_text(ad, "Machine", "wn%05u.pool.example.org", machine);
    slot_ad_text(ad, "UtsnameNodename", "wn%05u", machine);
    slot_ad_text(ad, "MyAddress", "<10.17.%u.%u:9618?alias=wn&noUDP&sock=startd_2210_ab12>", high,
                 low);
    slot_ad_text(ad, "AddressV1",
                 "{[ p=\"primary\"; a=\"10.17.%u.%u\"; port=9618; n=\"Internet\"; "
                 "spid=\"startd_2210_ab12\"; noUDP=true; ]}",
                 high, low);
    slot_ad_text(ad, "StartdIpAddr", "<10.17.%u.%u:9618>", high, low);
    slot_ad_text(ad, "HardwareAddress", "3c:ec:ef:11:%02x:%02x", high, low);
    slot_ad_text(ad, "BootId", "6f1d2c3e-0b7a-4d55-9c1e-%06x%06x", machine, 77);
    ad_set_int(ad, "SlotID", number % 12 + 1);
    ad_set_int(ad, "DaemonStartTime", SLOT_AD_EPOCH_S + (int64_t)machine * 7);
    ad_set_int(ad, "DaemonLastReconfigTime", SLOT_AD_EPOCH_S + (int64_t)machine * 7 + 2);
    ad_set_int(ad, "EnteredCurrentState", SLOT_AD_EPOCH_S + (int64_t)number * 13);
    ad_set_int(ad, "EnteredCurrentActivity", SLOT_AD_EPOCH_S + (int64_t)number * 13);
    ad_set_int(ad, "LastBenchmark", SLOT_AD_EPOCH_S + (int64_t)machine * 17);
    ad_set_int(ad, "KFlops", 2200000 + (int64_t)number % 1000);
    ad_set_int(ad, "TotalDisk", 1762334452 - (int64_t)number * 31);
    ad_set_int(ad, "TotalSlotDisk", 146861204 - (int64_t)number * 3);
    ad_set_int(ad, "TotalVirtualMemory", 402653184 - (int64_t)number * 5);
    ad_set_int(ad, "JobStarts", (int64_t)number % 97);
}

/* Sets the attributes of slot `number` that change with each update to their values in update
 * `round`. */
static void slot_ad_renew(struct ad *ad, unsigned number, unsigned round)
{
    int64_t now_s = SLOT_AD_EPOCH_S + 86400 + (int64_t)round * 300 + number % 300;
    double load = (double)((number * 7919 + round * 104729) % 1200) / 100;
    ad_set_int(ad, "MyCurrentTime", now_s);
    ad_set_int(ad, "ClockMin", now_s / 60 % 1440);
    ad_set_int(ad, "ClockDay", now_s / 86400 % 7);
    ad_set_int(ad, "KeyboardIdle", 3600 + (int64_t)round * 300 + number % 300);
    ad_set_int(ad, "ConsoleIdle", 7200 + (int64_t)round * 300 + number % 300);
    ad_set_real(ad, "LoadAvg", load);
    ad_set_real(ad, "TotalLoadAvg", load + 3.5);
    ad_set_real(ad, "CondorLoadAvg", load / 2);
    ad_set_int(ad, "CpuBusyTime", round % 7);
    ad_set_int(ad, "Disk", 146861204 - (int64_t)(number * 31 + round * 4099) % 1000000);
    ad_set_int(ad, "VirtualMemory", 33554432 - (int64_t)(number * 17 + round * 1021) % 100000);
    ad_set_int(ad, "TotalTimeUnclaimedIdle", (int64_t)round * 300 + number % 300);
    ad_set_int(ad, "TotalTimeOwnerIdle", number % 60);
    ad_set_int(ad, "MonitorSelfAge", (int64_t)round * 300 + number % 300);
    ad_set_int(ad, "MonitorSelfTime", now_s);
    ad_set_real(ad, "MonitorSelfCPUUsage", load / 1000);
    ad_set_int(ad, "MonitorSelfImageSize", 81236 + number % 512);
    ad_set_int(ad, "MonitorSelfRegisteredSocketCount", 2 + round % 2);
    ad_set_int(ad, "MonitorSelfResidentSetSize", 18432 + (number + round) % 512);
    ad_set_int(ad, "MonitorSelfSecuritySessions", 4 + round % 3);
    ad_set_real(ad, "DaemonCoreDutyCycle", load / 777);
    ad_set_real(ad, "RecentDaemonCoreDutyCycle", load / 555);
    ad_set_int(ad, "UpdateSequenceNumber", round);
    ad_set_int(ad, "UpdatesTotal", round + 1);
    ad_set_int(ad, "UpdatesSequenced", round);
    ad_set_int(ad, "UpdatesLost", 0);
    ad_set_string(ad, "UpdatesHistory", "00000000000000000000000000000000");
}

/* Gives attribute i of SLOT_AD_SAME a value that only slot `number` has. */
static void slot_ad_differ(struct ad *ad, size_t i, unsigned number)
{
    const char *name = SLOT_AD_SAME[i][0], *text = SLOT_AD_SAME[i][1];
    char own[600];
    size_t length = strlen(text);
    if (strcmp(name, "MyType") == 0) {
        return;
    }
    if (text[0] == '"') {
        (void)snprintf(own, sizeof own, "%.*s %u\"", (int)length - 1, text, number);
    } else if (text[0] >= '0' && text[0] <= '9') {
        (void)snprintf(own, sizeof own, "%u%s", number + 1, text);
    } else if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
        (void)snprintf(own, sizeof own, "%s", number >> i % 13 & 1 ? "true" : "false");
    } else {
        (void)snprintf(own, sizeof own, "(%s) + (%u > 0)", text, number);
    }
    CHECK(ad_set_expr(ad, name, own, NULL) == 0);
}

static inline struct ad *slot_ad_create(unsigned number, bool differs)
{
    struct ad *ad = ad_create();
    for (size_t i = 0; i < ARRAY_COUNT(SLOT_AD_SAME); i++) {
        CHECK(ad_set_expr(ad, SLOT_AD_SAME[i][0], SLOT_AD_SAME[i][1], NULL) == 0);
        if (differs) {
            slot_ad_differ(ad, i, number);
        }
    }
    slot_ad_identify(ad, number);
    slot_ad_renew(ad, number, 0);
    CHECK(ad_count(ad) == SLOT_AD_ATTRIBUTES);
    return ad;
}

#endif
