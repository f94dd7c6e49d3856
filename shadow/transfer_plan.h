/* shadow/transfer_plan.h - which files go to the sandbox and come back, under which names.
 *
 * Pure.  Names that come from a starter are a stranger's: transfer_plan_output() is the only way
 * from such a name to a path of the owner (docs/protocol/claim.md, section 5).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_TRANSFER_PLAN_H
#define SHADOW_TRANSFER_PLAN_H

#include <stdbool.h>
#include <stdint.h>

struct ad;
struct err;
struct vec;

#define TRANSFER_EXECUTABLE "condor_exec.exe"
#define TRANSFER_STDOUT     "_condor_stdout"
#define TRANSFER_STDERR     "_condor_stderr"

struct transfer_input {
    char *path;       /* absolute, or a URL */
    char *name;       /* in the sandbox; "" for contents that go to its top */
    bool is_contents; /* of a directory: what is in it, without itself */
    bool is_executable;
    bool is_url; /* fetched by the starter */
};

/* False with ShouldTransferFiles "NO", and with remote system calls: the job uses the files where
 * they are. */
bool transfer_plan_is_wanted(const struct ad *job);
/* Makes of IF_NEEDED what it means for a machine of that FileSystemDomain (may be NULL). */
void transfer_plan_settle(struct ad *job, const char *machine_domain);

/* How many bytes may be transferred: the job's attribute, or site_mb, in MB; -1: any number. */
int64_t transfer_plan_limit(const struct ad *job, const char *attribute, int64_t site_mb);

/* Appends struct transfer_input (transfer_input_destroy) for the program, In and TransferInput.
 * 0; -EINVAL: two of one name, no name, a name that leads up. */
int transfer_plan_inputs(const struct ad *job, struct vec *inputs, struct err *err);
void transfer_input_destroy(void *input);

/* The job ad as it is to run in the sandbox; owned by the caller. */
struct ad *transfer_plan_sandbox_ad(const struct ad *job);

/* Where something goes: what the owner named, and what is below that by the job's doing. */
struct transfer_place {
    char *base;   /* absolute; NULL: it is dropped (/dev/null) */
    char *below;  /* relative to base, "" for base itself; the directories in it may be made */
    bool is_kept; /* base is a path that is kept (PreserveRelativePaths): it may be made, too */
};
/* Where the output of that path in the sandbox goes; transfer_place_fini().  -EPERM: the job may
 * not produce it; -ENOTSUP: its destination is a URL. */
int transfer_plan_output(const struct ad *job, const char *name, struct transfer_place *ret,
                         struct err *err);
void transfer_place_fini(struct transfer_place *place);
/* The same, for who wants to know no more than whether it may be: 0, or as above. */
int transfer_plan_check_output(const struct ad *job, const char *name, struct err *err);

#endif
