/* rsyscall_fuse/keeper_linux.h - messages between the keeper (the sandbox's init process) and its
 * parent.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RSYSCALL_FUSE_KEEPER_LINUX_H
#define RSYSCALL_FUSE_KEEPER_LINUX_H

#include <stdint.h>

#include "rsyscall_fuse/cage_linux.h"

enum keeper_word {
    /* to the keeper, once the user namespace's maps are written: uid, gid, max_read */
    KEEPER_GO,
    KEEPER_SERVED,  /* to the keeper: the file system answers requests */
    KEEPER_SIGNAL,  /* to the keeper: send signal `value` to the job */
    KEEPER_MOUNTED, /* from the keeper: with descriptors of /dev/fuse and perhaps /proc */
    KEEPER_STARTED,
    KEEPER_ENDED,   /* from the keeper: value is the job's status as from wait(2) */
    KEEPER_FAILED,  /* from the keeper: value is the errno, text what failed */
    KEEPER_REFUSED, /* from the keeper: as KEEPER_FAILED, but caused by the job's own settings */
};

struct keeper_message {
    int32_t word, value;
    uint32_t uid, gid, max_read;
    char text[200];
};

/* The main function of the keeper process.  home: a directory on which it may mount. */
_Noreturn void keeper_run(int socket, const struct rfs_cage_options *options, const char *home);

#endif
