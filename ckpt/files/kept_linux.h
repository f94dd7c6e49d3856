/* ckpt/files/kept_linux.h - which of a job's files need not be sent again.
 *
 * A mirror (mirror_linux.h) knows of each file whether it is as it was when its index was saved.
 * Whoever has the archive that was made of it then needs the others only.  Two lists come of that:
 * for tar what to leave out (--exclude-from), and for who has the archive what of it stays
 * (archive_linux.h), by the names of archives.
 *
 * Left out of both, so that they are sent: files of no bytes, which cost nothing; files with
 * several names, because tar says the second as a link to the first, wherever that is; and names
 * that tar's list cannot say (it ends each at the end of its line, white space not counted).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_FILES_KEPT_LINUX_H
#define CKPT_FILES_KEPT_LINUX_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct mirror;

struct kept_name {         /* a directory of the mirror */
    const char *name, *as; /* in archives; absolute */
};

struct kept_figures {
    uint64_t files, bytes;
};

struct kept_names {
    const struct kept_name *names;
    size_t count;
    const char *const *without; /* paths that no archive has, nor what is below them */
    size_t without_count;
};

/* Writes FOLDER.unchanged and FOLDER.kept, of what has not changed in `mirror`, whose folder that
 * is, since its index was saved as `since`.  One that cannot be read: all has. */
int kept_write(const struct mirror *mirror, const char *folder, const char *since,
               const struct kept_names *names, struct kept_figures *ret, struct err *err);

#endif
