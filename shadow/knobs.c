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
     .help = "Number of threads for a shadow's file operations: a file server that hangs blocks "
             "only the jobs whose operations wait for that server."},
    {.name = "MAX_TRANSFER_INPUT_MB",
     .type = KNOB_INT,
     .fallback = "-1",
     .min = -1,
     .max = 1000000000,
     .unit = "MB",
     .help = "How many MiB of input may be transferred for a job that sets no "
             "max_transfer_input_mb; a job with more is held; -1: no limit."},
    {.name = "MAX_TRANSFER_OUTPUT_MB",
     .type = KNOB_INT,
     .fallback = "-1",
     .min = -1,
     .max = 1000000000,
     .unit = "MB",
     .help = "How many MiB of output may be transferred for a job that sets no "
             "max_transfer_output_mb; a job with more is held; -1: no limit."},
    {.name = "SPOOL_QUOTA_PER_OWNER",
     .type = KNOB_SIZE_BYTES,
     .fallback = "50 GiB",
     .help = "How many bytes the spooled files (input and output) of one owner may take; more "
             "input is refused; 0: no limit."},
    {.name = "CHECKPOINT_QUOTA_PER_OWNER",
     .type = KNOB_SIZE_BYTES,
     .fallback = "0",
     .help = "How many bytes the checkpoints of one owner's jobs may take in SPOOL. A checkpoint "
             "that would exceed it is refused, and its job goes on without it; 0: only "
             "SPOOL_RESERVE limits."},
    {.name = "REMOTE_SYSCALL_ROOTS",
     .type = KNOB_LIST,
     .fallback = "/",
     .help = "Directories of the submit machine that jobs with remote system calls may see, with "
             "their owner's rights. A job without remote_root sees all of them; the remote_root of "
             "a job must be inside one of them. `~` is the owner's home directory."},
    {.name = "REMOTE_SYSCALL_READONLY",
     .type = KNOB_LIST,
     .fallback = "~/.bashrc, ~/.bash_profile, ~/.bash_login, ~/.bash_logout, ~/.profile, "
                 "~/.zshrc, ~/.zshenv, ~/.zprofile, ~/.zlogin, ~/.kshrc, ~/.cshrc, ~/.tcshrc, "
                 "~/.login, ~/.xsession, ~/.xsessionrc, ~/.xprofile, ~/.xinitrc, ~/.forward, "
                 "~/.procmailrc, ~/.gitconfig, ~/.vimrc, ~/.emacs, ~/.config, "
                 "~/.local/share/systemd, ~/.local/bin",
     .help = "Files and directories, with all below them, that jobs with remote system calls "
             "cannot change, even where the job was given them (its initial directory, "
             "remote_write, outputs): those that run when the owner logs in. `~` is the owner's "
             "home directory.  All that a job was not given is read-only anyway."},
    {.name = "REMOTE_SYSCALL_HIDDEN",
     .type = KNOB_LIST,
     .fallback = "~/.ssh, ~/.gnupg, ~/.netrc, ~/.aws, ~/.kube, ~/.docker, ~/.password-store, "
                 "~/.pgpass, ~/.mozilla, ~/.roost, ~/.condor",
     .help = "Files and directories that jobs with remote system calls cannot see, such as the "
             "owner's keys. `~` is the owner's home directory.  The schedd's own directories "
             "(SPOOL, SEC_DIRECTORY, TOKEN_FILE, EXECUTE, LOG, LOCK, RUN) are always hidden."},
    {.name = "REMOTE_SYSCALL_QUOTA",
     .type = KNOB_SIZE_BYTES,
     .fallback = "0",
     .help = "How many bytes one run of a job with remote system calls may write; beyond it, "
             "writes fail with EDQUOT; 0: only the file system limits."},
    {.name = "REMOTE_SYSCALL_MAX_FILES",
     .type = KNOB_INT,
     .fallback = "0",
     .min = 0,
     .max = 1000000000,
     .unit = "files",
     .help = "How many files one run of a job with remote system calls may create more than it "
             "removes; 0: no limit."},
    {.name = "REMOTE_SYSCALL_LEASE",
     .type = KNOB_DURATION_S,
     .fallback = "20m",
     .min = 1,
     .max = 86400,
     .help = "How long a job with remote system calls waits for its shadow when the network is "
             "cut. After that it is evicted and goes on elsewhere from its last checkpoint."},
    {.name = "CHECKPOINT_DESTINATION",
     .type = KNOB_PATH,
     .help = "Directory for checkpoints of jobs that set no checkpoint_destination, on a shared "
             "file system or a larger disk; every submitting user must be able to create "
             "directories in it; unset: SPOOL."},
    {.name = "SENDMAIL",
     .type = KNOB_STRING,
     .fallback = "/usr/sbin/sendmail",
     .help = "Program that sends the mail for jobs with `notification`; its arguments begin with "
             "-oi -t. Its set-user-id or set-group-id bit has no effect, so use a program that "
             "needs none, for example one that speaks SMTP such as msmtp; empty: no mail is sent."},
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
