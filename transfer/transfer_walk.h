/* transfer/transfer_walk.h - lists a directory that is to be sent, and finds where a path in a
 * sandbox leads.
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

/* A file, directory or link that is sent. */
struct transfer_entry {
    char *name; /* name relative to the sandbox */
    /* where to read the contents: an absolute path, a path relative to the root of transfer_walk(),
     * or a URL */
    char *path;
    enum transfer_type type;
    int64_t size_bytes; /* size of a file; unused for directories and links */
    mode_t mode;        /* permission bits */
    char *target;       /* target of a link; else NULL */
    bool is_url;        /* true: path is a URL, from which the starter fetches the file */
    /* true: an evicted run of the job sent this back to the shadow, which keeps it in SPOOL and
     * sends it to the next run instead of the input file of that name */
    bool is_spooled;
    bool is_executable; /* true: make the file executable on the other side, whatever its mode */
};
/* Makes an entry with copies of name and path, and mode 0755 for a directory, else 0644.  Owned by
 * the caller. */
struct transfer_entry *transfer_entry_create(enum transfer_type type, const char *name,
                                             const char *path);
void transfer_entry_destroy(void *entry); /* frees one entry; for vec_fini() */

/* What transfer_walk() does with a link that does not lead into the directory with which it is
 * sent. */
enum transfer_links {
    TRANSFER_LINKS_FOLLOWED, /* send the file that a link leads to, wherever it is */
    /* send the file that a link leads to, but only if it is below the directory `root` given to
     * transfer_walk() */
    TRANSFER_LINKS_CONTAINED,
};

/* Appends to entries a struct transfer_entry for each thing in the directory root/path; a directory
 * comes before its contents.  Each entry's name is `name`/... ("": without prefix).  Its path is
 * absolute when links are followed, else relative to root.  Left out, and counted in *left_out (may
 * be NULL), are: what is not a file, directory or link; and, among links that
 * transfer_link_is_safe() refuses, links to a directory and, with TRANSFER_LINKS_CONTAINED, links
 * that lead out of root or to nothing.  Returns 0; or, with err, -ENOENT (a followed link leads to
 * nothing), -E2BIG (more than TRANSFER_FILES_MAX entries, or a name that transfer_path_is_safe()
 * refuses), or another -errno of reading. */
int transfer_walk(struct os *os, const char *root, const char *path, const char *name,
                  enum transfer_links links, struct vec *entries, size_t *left_out,
                  struct err *err);

/* Follows all links of path within the directory root, and writes to ret (size bytes) the path
 * below root that has no links.  Returns 0; -EXDEV: path leads out of root; -ELOOP: too many
 * links; -ENOENT: nothing is there; -ENOTDIR: a name before the last is not a directory;
 * -ENAMETOOLONG: a path is too long, also for ret. */
int transfer_resolve(struct os *os, const char *root, const char *path, char *ret, size_t size);

#endif
