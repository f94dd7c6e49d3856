/* ckpt/files/kept_linux.h - decides which of a job's files need not be sent again.
 *
 * A mirror (mirror_linux.h) knows for each file whether it has changed since the mirror's index was
 * saved.  A receiver that has the archive of that time needs only the changed files.  Two lists are
 * written, with names as in archives: for tar the files to leave out (--exclude-from), and for the
 * receiver the files to keep from its archive (archive_linux.h).
 *
 * Some unchanged files are in neither list and so are sent: empty files, which cost nothing; files
 * with several names, because tar stores the second name as a link to the first, wherever that is;
 * and names that tar's list cannot express (an entry ends at the end of its line, without white
 * space).
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
    const char *name, *as; /* the directory's name in the mirror; its absolute path in archives */
};

struct kept_figures {
    uint64_t files, bytes;
};

struct kept_names { /* the directories of a mirror, and what to leave out of them */
    const struct kept_name *names;
    size_t count;
    const char *const *without; /* absolute paths that archives leave out, with all below them */
    size_t without_count;
};

/* Writes the two lists, FOLDER.unchanged and FOLDER.kept, of the files that have not changed since
 * the index `since` was saved. folder: the mirror's folder; *ret: number and bytes of the files in
 * the lists.  If that index cannot be read, all files count as changed.  0 or -errno. */
int kept_write(const struct mirror *mirror, const char *folder, const char *since,
               const struct kept_names *names, struct kept_figures *ret, struct err *err);

#endif
