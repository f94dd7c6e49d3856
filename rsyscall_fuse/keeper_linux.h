/* rsyscall_fuse/keeper_linux.h - messages between the keeper (the sandbox's init process) and its
 * parent.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RSYSCALL_FUSE_KEEPER_LINUX_H
#define RSYSCALL_FUSE_KEEPER_LINUX_H

#include <stdint.h>

#include "rsyscall_fuse/cage_linux.h"

/* Kinds of messages.  The words value, text, uid, gid, max_read are fields of keeper_message. */
enum keeper_word {
    /* To the keeper: the ids of its user namespace are mapped, so it may mount the file system.
     * uid, gid: as which the job runs; max_read: most bytes of one read. */
    KEEPER_GO,
    KEEPER_SERVED, /* to the keeper: the file system answers requests, so start the job */
    KEEPER_SIGNAL, /* to the keeper: send the signal `value` to the job */
    /* From the keeper: the file system is mounted; comes with the descriptors of /dev/fuse and, if
     * it could be opened, of the sandbox's /proc. */
    KEEPER_MOUNTED,
    KEEPER_STARTED,
    KEEPER_ENDED,  /* from the keeper: the job has ended with the wait status `value` */
    KEEPER_FAILED, /* from the keeper: what `text` says has failed, with the errno `value` */
    /* From the keeper: what `text` says has failed, with the errno `value`, because of the job's
     * own settings, such as its program's path. */
    KEEPER_REFUSED,
};

struct keeper_message {
    int32_t word, value;
    uint32_t uid, gid, max_read;
    char text[200];
};

/* The main function of the keeper process. socket: its connection to its parent; home: a directory
 * of this machine on which the keeper may mount. */
_Noreturn void keeper_run(int socket, const struct rfs_cage_options *options, const char *home);

#endif
