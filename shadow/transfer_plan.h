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

struct ad;
struct err;
struct vec;

#define TRANSFER_FILES_MAX 4000 /* input files of a job */
#define TRANSFER_NAME_MAX  255

#define TRANSFER_EXECUTABLE "condor_exec.exe"
#define TRANSFER_STDOUT     "_condor_stdout"
#define TRANSFER_STDERR     "_condor_stderr"

struct transfer_input {
    char *path; /* absolute */
    char *name; /* in the sandbox */
    bool is_executable;
};

/* False with ShouldTransferFiles "NO": the job uses the files where they are. */
bool transfer_plan_is_wanted(const struct ad *job);

/* Appends struct transfer_input (transfer_input_destroy) for the program, In and TransferInput.
 * 0; -EINVAL (two files of one name, an empty name), -ENOTSUP (a URL, a directory's contents),
 * -E2BIG. */
int transfer_plan_inputs(const struct ad *job, struct vec *inputs, struct err *err);
void transfer_input_destroy(void *input);

/* The job ad as it is to run in the sandbox; owned by the caller. */
struct ad *transfer_plan_sandbox_ad(const struct ad *job);

/* Where the output file of that name goes: an absolute path, owned by the caller (mem_free); NULL
 * with 0 where it is to be dropped (/dev/null).  -EPERM: the job may not produce a file of that
 * name; -ENOTSUP: its destination is a URL. */
int transfer_plan_output(const struct ad *job, const char *name, char **ret, struct err *err);

#endif
