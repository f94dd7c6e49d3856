/* rsyscall/parts.h - parts of the offered files that are read-only or hidden.
 *
 * Design note: a part is given by its name, a path.  Whether an open file is in a part is decided
 * by the path that its descriptor has now (/proc/self/fd), not by the client's path, because files
 * may have been renamed since.  A part has three kinds of places:
 * - where its name led when the job came; if there were symbolic links on the way, also where the
 *   name would lead after each of them.  These places stay in the part, whatever files are there
 *   later.  Otherwise a job that removes such a link, or an owner whose editor replaces the file,
 *   would leave the name unprotected;
 * - where the file to which the name led first is now, because that file may have been moved;
 * - where the name leads now.
 *
 * The last two are looked up once a second, on a lane (worker thread), because looking them up may
 * wait for a file server.
 *
 * A job can neither move nor remove a directory above a part, nor make a link there.  So it cannot
 * move a descriptor's file across the border of a part.
 *
 * Rejected: a mount namespace of the server, which a submit host may forbid.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RSYSCALL_PARTS_H
#define RSYSCALL_PARTS_H

#include <stdbool.h>
#include <stddef.h>

struct rsys_parts;

enum rsys_change {
    RSYS_CHANGE_NOTHING, /* no change: asks only whether the file is hidden */
    RSYS_CHANGE_FILE,    /* a change of contents or attributes, or a new name */
    RSYS_CHANGE_PLACE    /* a name is removed, or becomes the name of another file (rename) */
};

struct rsys_parts *rsys_parts_create(size_t count_max);
/* Adds a part.  path is absolute and need not exist.  It is looked up at once, so this call may
 * block.  hidden: true: the part is hidden; false: it is read-only. */
void rsys_parts_add(struct rsys_parts *parts, const char *path, bool hidden);
void rsys_parts_destroy(struct rsys_parts *parts); /* NULL is allowed */

/* Decides whether the job may make a change to `name` in the directory fd or, if name is NULL, to
 * the file of fd itself.  Returns 0: it may; -EROFS: the file is in a read-only part; -EBUSY: the
 * file is a directory above a part, and must stay; -ENOENT: the file is hidden; -EACCES: the change
 * would make a hidden name. cached: do not block: returns -EAGAIN if the parts have to be looked up
 * again first. */
int rsys_parts_judge(struct rsys_parts *parts, int fd, const char *name, enum rsys_change change,
                     bool cached);

/* Writes to ret the absolute path that the file of descriptor fd has now.  Returns 0 or -errno. */
int rsys_fd_where(int fd, char *ret, size_t size);
/* Returns whether the path `inner` is equal to `outer` or below it.  Both are absolute and have no
 * '/' at the end (except "/" itself). */
bool rsys_is_below(const char *inner, const char *outer);

#endif
