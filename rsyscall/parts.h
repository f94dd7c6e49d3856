/* rsyscall/parts.h - parts of the offered files that are read-only or hidden.
 *
 * Design note: whether a file is in a part is decided by where a descriptor is now (/proc/self/fd),
 * not by the client's path, which may have been renamed since.  A part has three kinds of places:
 * - where its name led when the job came, and the rest of the name behind each link on the way.
 *   These stay part of it whatever is there now.  Otherwise a job that removes such a link, or an
 *   owner whose editor replaces the file, would leave the name unprotected;
 * - where the file that was first found by the name is now, because it may be moved;
 * - where the name leads now.
 *
 * The last two are looked up once a second, on a lane (worker thread), because that may wait for a
 * file server.
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
    RSYS_CHANGE_NOTHING, /* only asks whether the file is hidden */
    RSYS_CHANGE_FILE,    /* changes contents or attributes, or makes a new name */
    RSYS_CHANGE_PLACE    /* changes what a name stands for, or removes the name */
};

struct rsys_parts *rsys_parts_create(size_t count_max);
/* Adds a part.  path is absolute; it need not exist.  Looks the path up at once, so it may
 * block. */
void rsys_parts_add(struct rsys_parts *parts, const char *path, bool hidden);
void rsys_parts_destroy(struct rsys_parts *parts); /* NULL is allowed */

/* Whether the change is allowed to `name` in the directory fd or, with name NULL, to fd's own file.
 * Returns 0; -EROFS; -EBUSY: it is above a part; -ENOENT: hidden; -EACCES: a hidden name would be
 * made.  With cached, -EAGAIN when the places have to be looked up again first. */
int rsys_parts_judge(struct rsys_parts *parts, int fd, const char *name, enum rsys_change change,
                     bool cached);

/* The descriptor's path from the real root.  Returns 0 or -errno. */
int rsys_fd_where(int fd, char *ret, size_t size);
/* True when path `inner` is `outer` or below it.  Both begin at the root and have no '/' at the end
 * (except "/"). */
bool rsys_is_below(const char *inner, const char *outer);

#endif
