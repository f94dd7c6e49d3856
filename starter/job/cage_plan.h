/* starter/job/cage_plan.h - what a job gets to see of its machine, and when it has taken too much.
 *
 * Pure: names and figures in, mounts, names and verdicts out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_JOB_CAGE_PLAN_H
#define STARTER_JOB_CAGE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/os/os_cage.h"

struct ad;
struct strbuf;

#define CAGE_SCRATCH_MAX 8
#define CAGE_MOUNTS_MAX  112
#define CAGE_KEPT_MAX    32 /* of each list: ways, readonly */

struct cage_place {          /* all borrowed */
    const char *directory;   /* the starter's, below EXECUTE */
    const char *sandbox;     /* below it: all that the job sees of EXECUTE */
    const char *const *hide; /* directories of the daemons, EXECUTE among them */
    size_t hide_count;
    const char *secret;         /* a file that is hidden where it is not below these; may be NULL */
    const char *const *scratch; /* directories that the job has to itself: MOUNT_UNDER_SCRATCH */
    size_t scratch_count;
    bool private_shm;
    /* Of a job that has the daemons' account: directories that it must not rename, outermost first,
     * and in them files and directories that it must not change. */
    const char *const *ways;
    size_t way_count;
    const char *const *readonly;
    size_t readonly_count;
    const char *const *programs; /* directories of programs that it is begun with */
    size_t program_count;
    /* Of a job that is to be checkpointed; NULL: of another. */
    const char *home;      /* where it finds its sandbox, on every machine */
    const char *images;    /* the directory of its images */
    const char *images_at; /* where it finds that */
};

struct cage_view {
    struct os_mount mounts[CAGE_MOUNTS_MAX]; /* names are borrowed from the place, or of names */
    size_t mount_count;
    size_t kept_count; /* of them, the first: places that stay as they are */
    /* Directories to be made for the scratch ones, as DIRECTORY/scratch0/in: everybody may write
     * there (mode 1777), and none but the job's account may pass what is above; mem_ blocks. */
    char *names[CAGE_SCRATCH_MAX];
    size_t name_count;
    char *way; /* to the sandbox, in a scratch directory: its first name; NULL: none is needed */
};

/* What is mounted for a job, in order.  A scratch directory that the job itself names something
 * below (its program, its standard files, its Iwd where nothing is transferred) stays the
 * machine's: it is to find what it named.  Too many of anything are left out, the least important
 * (scratch) first.  Of a job with a home /dev/shm is a directory, too: its files go with it.  The
 * programs stay where they are, below a scratch directory or /dev/shm, too: who tries all
 * this out has it built in /tmp. */
void cage_plan_view(const struct ad *job, const struct cage_place *place, struct cage_view *ret);
void cage_view_fini(struct cage_view *view);

/* Is that path for the job's sandbox below one of the scratch directories, and do those stay its
 * own? */
bool cage_plan_home_fits(const struct ad *job, const char *const *scratch, size_t scratch_count,
                         const char *home);

/* The name of the job's cgroup: its directory, with _ for /, and its end only when it is long. */
void cage_plan_group_name(const char *directory, struct strbuf *ret);

/* The knob of a slot with that suffix: for "slot1_2@wn" and "USER" it is SLOT1_2_USER, or else
 * SLOT1_USER (of the whole slot).  Both into ret, the narrower first; "" where there is none. */
#define CAGE_KNOB_SIZE 80
void cage_plan_slot_knobs(const char *slot, const char *suffix, char ret[2][CAGE_KNOB_SIZE]);

/* "0,2,4-7" as bits.  False: it is no such list, or empty, or names a CPU from OS_CAGE_CPUS_MAX on;
 * *ret is untouched then. */
bool cage_plan_cpus(const char *list, uint64_t ret[OS_CAGE_CPUS_MAX / 64]);
/* The other way round, for a cpuset: "0,2,4". */
void cage_plan_cpus_text(const uint64_t cpus[OS_CAGE_CPUS_MAX / 64], struct strbuf *ret);
/* The n of "slot<n>@wn", which is a whole slot; 0: it is none. */
int64_t cage_plan_slot_number(const char *slot);

struct cage_taken {
    uint64_t oom_kills;
    int64_t memory_mib, memory_limit_mib; /* limit 0: none */
    int64_t disk_kib, disk_limit_kib;
    int64_t files, files_limit; /* of any kind; limit 0: none */
};
struct cage_verdict {
    int code,
        subcode; /* HoldReasonCode 34 with 102 (memory) or 104 (disk, files); 0: nothing is wrong */
    char reason[400];
};
void cage_plan_judge(const char *slot, const struct cage_taken *taken, struct cage_verdict *ret);

#endif
