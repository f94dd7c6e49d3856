/* rsyscall_fuse/keeper_linux.h - what the two sides of the cage say to each other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RSYSCALL_FUSE_KEEPER_LINUX_H
#define RSYSCALL_FUSE_KEEPER_LINUX_H

#include <stdint.h>

#include "rsyscall_fuse/cage_linux.h"

enum keeper_word {
    KEEPER_GO,      /* to it: uid, gid, max_read; the namespaces' maps are written */
    KEEPER_SERVED,  /* to it: the file system answers */
    KEEPER_SIGNAL,  /* to it: value */
    KEEPER_MOUNTED, /* from it: with the descriptors of /dev/fuse and perhaps /proc */
    KEEPER_STARTED,
    KEEPER_ENDED,   /* value: as wait(2) tells it */
    KEEPER_FAILED,  /* value: errno; text: what could not be done */
    KEEPER_REFUSED, /* the same, and it is the job's own fault */
};

struct keeper_message {
    int32_t word, value;
    uint32_t uid, gid, max_read;
    char text[200];
};

/* The keeper's life, in a process of its own.  home: a directory at which it may mount. */
_Noreturn void keeper_run(int socket, const struct rfs_cage_options *options, const char *home);

#endif
