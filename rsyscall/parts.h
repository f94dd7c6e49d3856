/* rsyscall/parts.h - parts of what a job may reach that are read-only, or hidden.
 *
 * Design note: a part is told by where a descriptor is now (/proc/self/fd), not by the client's
 * path, which may have been renamed since.  It is at three kinds of places:
 * - where its name led when the job came, and what is left of the name behind each link on that
 *   way.  Those stay parts, whatever is there: a job that could take a link of the way away, or
 *   an owner whose editor replaces the file, would else have the name without its protection;
 * - where the file is that was found by the name: it may be moved;
 * - where the name leads now.
 * The last two are looked at once a second, on a lane: that may wait for a file server.
 *
 * A job can neither move nor remove what is above a part, nor make a link there; so where a
 * descriptor is on one side of a part's edge, the job cannot bring it to the other.
 *
 * Rejected: a mount namespace of the server's, which a submit host may forbid.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RSYSCALL_PARTS_H
#define RSYSCALL_PARTS_H

#include <stdbool.h>
#include <stddef.h>

struct rsys_parts;

enum rsys_change {
    RSYS_CHANGE_NOTHING, /* is it hidden? */
    RSYS_CHANGE_FILE,    /* contents or attributes, or what is made by a name */
    RSYS_CHANGE_PLACE    /* a name comes to stand for another thing, or for none */
};

struct rsys_parts *rsys_parts_create(size_t count_max);
/* path is absolute; what it names need not be there.  Looks at once: it may block. */
void rsys_parts_add(struct rsys_parts *parts, const char *path, bool hidden);
void rsys_parts_destroy(struct rsys_parts *parts); /* NULL is allowed */

/* May that be done to the name in the directory fd, or, without a name, to fd's own file?  0,
 * -EROFS, -EBUSY (it is above a part), -ENOENT (hidden), -EACCES (a hidden name that would be
 * made).  cached: -EAGAIN when it is time to look. */
int rsys_parts_judge(struct rsys_parts *parts, int fd, const char *name, enum rsys_change change,
                     bool cached);

/* Where the descriptor is, from the real root.  0 or -errno. */
int rsys_fd_where(int fd, char *ret, size_t size);
/* Is path `inner` at or below `outer`?  Both from the root, without a '/' at the end but "/". */
bool rsys_is_below(const char *inner, const char *outer);

#endif
