/* shadow/knobs.c - see knobs.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/knobs.h"

#include "base/check.h"

static const struct knob KNOBS[] = {
    {.name = "SHADOW_LANES",
     .type = KNOB_INT,
     .fallback = "8",
     .min = 1,
     .max = 64,
     .unit = "threads",
     .help = "Threads for file operations of a shadow: a hung file server blocks only the jobs of "
             "those that wait for it."},
    {.name = "MAX_TRANSFER_INPUT_MB",
     .type = KNOB_INT,
     .fallback = "-1",
     .min = -1,
     .max = 1000000000,
     .unit = "MB",
     .help =
         "How much input may be transferred for a job that does not say (max_transfer_input_mb) "
         "itself; one with more is held; -1: any."},
    {.name = "MAX_TRANSFER_OUTPUT_MB",
     .type = KNOB_INT,
     .fallback = "-1",
     .min = -1,
     .max = 1000000000,
     .unit = "MB",
     .help = "The same of its output."},
    {.name = "SPOOL_QUOTA_PER_OWNER",
     .type = KNOB_SIZE_BYTES,
     .fallback = "50 GiB",
     .help = "What the spooled files of an owner, input and output, may take before more input is "
             "refused; 0: no limit."},
    {.name = "SPOOL_RESERVE",
     .type = KNOB_SIZE_BYTES,
     .fallback = "256 MiB",
     .help = "So much of SPOOL's disk is left to the queue: output that would take of it is "
             "refused (after some tries its job is held, codes 12 and 28), and so is spooled "
             "input; as much of the disk that checkpoints go to, if that is another; 0: none."},
    {.name = "CHECKPOINT_QUOTA_PER_OWNER",
     .type = KNOB_SIZE_BYTES,
     .fallback = "0",
     .help = "What the checkpoints of an owner's jobs may take of SPOOL; one that would be more is "
             "refused, and its job goes on without it; 0: no limit but SPOOL_RESERVE."},
    {.name = "REMOTE_SYSCALL_ROOTS",
     .type = KNOB_LIST,
     .fallback = "/",
     .help = "Directories that jobs with remote system calls may see, as their owner: those that "
             "do not say (remote_root) see all of them, another's root is to be in one; ~ is the "
             "owner's home, also in the next two."},
    {.name = "REMOTE_SYSCALL_READONLY",
     .type = KNOB_LIST,
     .fallback = "~/.bashrc, ~/.bash_profile, ~/.bash_login, ~/.bash_logout, ~/.profile, "
                 "~/.zshrc, ~/.zshenv, ~/.zprofile, ~/.zlogin, ~/.kshrc, ~/.cshrc, ~/.tcshrc, "
                 "~/.login, ~/.xsession, ~/.xsessionrc, ~/.xprofile, ~/.xinitrc, ~/.forward, "
                 "~/.procmailrc, ~/.gitconfig, ~/.vimrc, ~/.emacs, ~/.config, "
                 "~/.local/share/systemd, ~/.local/bin",
     .help =
         "Files and directories that they cannot change, with all below, also where the job was "
         "given them (its initial directory, remote_write, outputs): what is run when the "
         "owner logs in.  All that it was not given is read-only in any case."},
    {.name = "REMOTE_SYSCALL_HIDDEN",
     .type = KNOB_LIST,
     .fallback = "~/.ssh, ~/.gnupg, ~/.netrc, ~/.aws, ~/.kube, ~/.docker, ~/.password-store, "
                 "~/.pgpass, ~/.mozilla, ~/.roost, ~/.condor",
     .help = "Files and directories that they do not see: the owner's keys.  The schedd's own "
             "(SPOOL, SEC_DIRECTORY, TOKEN_FILE, EXECUTE, LOG, LOCK, RUN) are hidden in any case."},
    {.name = "REMOTE_SYSCALL_QUOTA",
     .type = KNOB_SIZE_BYTES,
     .fallback = "0",
     .help = "What a run of such a job may write in all; then it is told that its quota is "
             "exceeded; 0: no limit but the file system's."},
    {.name = "REMOTE_SYSCALL_MAX_FILES",
     .type = KNOB_INT,
     .fallback = "0",
     .min = 0,
     .max = 1000000000,
     .unit = "files",
     .help = "How many more files such a run may make than it removes; 0: no limit."},
    {.name = "REMOTE_SYSCALL_LEASE",
     .type = KNOB_DURATION_S,
     .fallback = "20m",
     .min = 1,
     .max = 86400,
     .help = "How long such a job waits for its shadow when the network is cut; then it is begun "
             "again elsewhere, from its last checkpoint."},
    {.name = "CHECKPOINT_DESTINATION",
     .type = KNOB_PATH,
     .help =
         "Directory for checkpoints of jobs that name none themselves (checkpoint_destination): "
         "of a shared file system, or a larger disk; every submitting user must be able to "
         "make directories there; unset: SPOOL."},
    {.name = "SENDMAIL",
     .type = KNOB_STRING,
     .fallback = "/usr/sbin/sendmail",
     .help =
         "Program that sends the mail which jobs with `notification` ask for; it is called with "
         "-oi -t, and gets no privilege by its set-user-id or set-group-id bit (one that speaks "
         "SMTP, such as msmtp, needs none); empty: none is sent."},
    {.name = "SHADOW_ORPHAN_TIMEOUT",
     .type = KNOB_DURATION_S,
     .fallback = "20m",
     .min = 1,
     .max = 86400,
     .help = "How long a shadow waits for its schedd to come back before it ends."},
};

const struct knob_table shadow_knobs = {.owner = "SHADOW",
                                        .knobs = KNOBS,
                                        .knob_count = ARRAY_COUNT(KNOBS)};
