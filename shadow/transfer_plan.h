/* shadow/transfer_plan.h - decides which files go to a job's sandbox and come back, and under which
 * names.
 *
 * Pure.  The names that a starter sends cannot be trusted.  transfer_plan_output() is the only way
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
    char *path;       /* absolute path, or a URL */
    char *name;       /* name in the sandbox; "": contents go to the sandbox's top directory */
    bool is_contents; /* true: the contents of a directory, without the directory itself */
    bool is_executable;
    bool is_url; /* true: path is a URL, which the starter fetches */
};

/* Returns whether files are transferred for the job.  False with ShouldTransferFiles "NO" and with
 * remote system calls: the job then uses the files where they are. */
bool transfer_plan_is_wanted(const struct ad *job);
/* Replaces ShouldTransferFiles "IF_NEEDED" by "YES" or "NO" for a machine with this
 * FileSystemDomain (may be NULL). */
void transfer_plan_settle(struct ad *job, const char *machine_domain);

/* Returns how many bytes may be transferred; -1: no limit.  The limit in MB is the value of the
 * job's attribute with this name; if that is not a number, site_mb.  Negative values: no limit. */
int64_t transfer_plan_limit(const struct ad *job, const char *attribute, int64_t site_mb);

/* Appends to inputs a struct transfer_input (freed with transfer_input_destroy()) for the program,
 * for the job's standard input (In), and for each entry of TransferInput.  Returns 0; -EINVAL with
 * err for two inputs of the same name, or a name that is not valid in the sandbox; -E2BIG for too
 * many. */
int transfer_plan_inputs(const struct ad *job, struct vec *inputs, struct err *err);
void transfer_input_destroy(void *input); /* frees one input; for vec_fini() */

/* Returns a copy of the job's ad in which the program and the standard files have the names that
 * they have in the sandbox.  Owned by the caller. */
struct ad *transfer_plan_sandbox_ad(const struct ad *job);

/* Where an output file goes: a path that the owner named, and below it names that the job made. */
struct transfer_place {
    /* absolute path; NULL: not stored here (/dev/null, or sent to a URL by the starter) */
    char *base;
    /* path relative to base, "" for base itself; missing directories in this path are made */
    char *below;
    /* PreserveRelativePaths is set: missing directories of base are made, too */
    bool is_kept;
};
/* Finds where the output with this name in the sandbox goes.  Returns 0 and fills *ret, to be freed
 * with transfer_place_fini(); -EPERM with err when the job may not create a file of this name;
 * -ENOTSUP with err when the place that the owner named for the file is not usable. */
int transfer_plan_output(const struct ad *job, const char *name, struct transfer_place *ret,
                         struct err *err);
void transfer_place_fini(struct transfer_place *place);
/* Returns what transfer_plan_output() would return for this name, but does not compute the
 * place. */
int transfer_plan_check_output(const struct ad *job, const char *name, struct err *err);

#endif
