/* transfer/transfer_walk.h - what is in a directory that travels, and where a name in a sandbox
 * leads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TRANSFER_TRANSFER_WALK_H
#define TRANSFER_TRANSFER_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct os;
struct vec;

enum transfer_type { TRANSFER_FILE, TRANSFER_DIRECTORY, TRANSFER_LINK };

/* Something that travels. */
struct transfer_entry {
    char *name; /* relative to the sandbox */
    char *path; /* where it is read: see transfer_walk() */
    enum transfer_type type;
    int64_t size_bytes; /* of a file */
    mode_t mode;        /* permission bits */
    char *target;       /* of a link */
    bool is_url;        /* path is one: the starter fetches it, from elsewhere */
    bool is_spooled;    /* an earlier run of the job made it */
    bool is_executable; /* made so at the other side, whatever its mode */
};
struct transfer_entry *transfer_entry_create(enum transfer_type type, const char *name,
                                             const char *path);
void transfer_entry_destroy(void *entry); /* for vec_fini() */

/* How links are treated that do not lead into the directory with which they travel. */
enum transfer_links {
    TRANSFER_LINKS_FOLLOWED,  /* they are the owner's own: a file travels in the link's place */
    TRANSFER_LINKS_CONTAINED, /* the same, but only for files below root */
};

/* Appends struct transfer_entry for all that is in the directory root/path, in an order in which a
 * directory comes before what is in it, each under the name `name`/... ("" : no prefix).  Their
 * `path` is absolute when links are followed, else relative to root.  Links that lead to a
 * directory elsewhere, out of root, and what is neither file, directory nor link, are left out;
 * *left_out, if given, counts these. -ENOENT: a followed link leads to nothing; -E2BIG: more than
 * TRANSFER_FILES_MAX entries, or too deep. */
int transfer_walk(struct os *os, const char *root, const char *path, const char *name,
                  enum transfer_links links, struct vec *entries, size_t *left_out,
                  struct err *err);

/* Where path leads in the directory root, with all links followed that stay in it: a path below
 * root that has no link, in ret (size bytes).  -EXDEV: it leads out; -ELOOP; -ENOENT; -ENOTDIR. */
int transfer_resolve(struct os *os, const char *root, const char *path, char *ret, size_t size);

#endif
