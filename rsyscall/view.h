/* rsyscall/view.h - resolves paths and decides which files of this machine a job may reach.
 *
 * Design note: the kernel resolves a path in one call from a descriptor that we hold: openat2()
 * with RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS and RESOLVE_NO_MAGICLINKS.  So nothing can change
 * between checking a name and using it.  On a kernel without openat2(), each name of the path is
 * opened in turn through descriptors, which follows no link either.  A change of a directory is
 * done by (descriptor of the directory, one name).
 *
 * File systems that show the kernel's data (proc, sysfs, ...) are never entered: with the user's
 * rights on /proc/PID/mem, a job could act as the user.
 *
 * All functions may block as the file systems do.  The loop thread creates and destroys a view;
 * many lanes (worker threads) use it at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RSYSCALL_VIEW_H
#define RSYSCALL_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "rsyscall/grants.h"
#include "rsyscall/parts.h"
#include "rsyscall/rsys.h"

struct err;
struct rsys_offer;
struct rsys_view;
struct stat;

/* Opens the roots of the offer.  Returns 0; or -errno, with the directory that failed named in
 * err. */
int rsys_view_create(const struct rsys_offer *offer, struct rsys_view **ret, struct err *err);
void rsys_view_destroy(struct rsys_view *view); /* NULL is allowed */

/* The effective user and group of this process. */
void rsys_view_who(uint32_t *uid, uint32_t *gid);

/* The limit of descriptors of this process. */
uint32_t rsys_view_descriptors_max(void);

uint32_t rsys_view_root_count(const struct rsys_view *view);
/* descriptor of a root; number < rsys_view_root_count() */
int rsys_view_root_fd(const struct rsys_view *view, uint32_t number);

/* Opens path below the directory `from` as an O_PATH descriptor *ret; the last name may be a
 * symbolic link.  path must be valid (rsys_path_is_good()) and not empty.  With cached, -EAGAIN
 * when that could block.  -ELOOP: a link in place of a directory; -EXDEV: in a file system that is
 * not entered; -ENOENT: missing or hidden. */
int rsys_view_find(struct rsys_view *view, int from, const char *path, bool cached, int *ret,
                   struct stat *stat);
/* Opens the directory that contains the path's last name; *name points into path. */
int rsys_view_find_parent(struct rsys_view *view, int from, const struct rsys_text *path, int *ret,
                          const char **name);
/* Call after -ELOOP: finds the path's first link and writes its text (RSYS_PATH_MAX + 1 bytes of
 * room) to text. *used is the length of the path up to the link, or the whole length.  Returns the
 * length of text, or -errno. */
int rsys_view_find_link(struct rsys_view *view, int from, const struct rsys_text *path,
                        size_t *used, char *text);

/* Whether a change is allowed, by rsys_parts_judge(), rsys_grants_judge() and the root through
 * which the file was reached (-EROFS).  With cached, -EAGAIN also when the file must be examined
 * first. */
int rsys_view_judge(struct rsys_view *view, uint32_t root, int fd, const char *name,
                    enum rsys_change change, bool cached);

/* Like rsys_grants_is_old(); false when everything may be changed. */
bool rsys_view_is_old(struct rsys_view *view, int fd);

/* Records that the job has just made fd's file. */
void rsys_view_made(struct rsys_view *view, int fd);

/* True when a read-only or hidden part is in that directory or below it. */
bool rsys_view_is_above_part(struct rsys_view *view, int fd);

/* Locks out other calls that remove or replace names, for a caller that must know what its own
 * change of a name removed. */
void rsys_view_lock_names(struct rsys_view *view);
void rsys_view_unlock_names(struct rsys_view *view);

/* True when reading on the file system with that st_dev never waits for a network, as far as known.
 * Does not block. */
bool rsys_view_is_local(struct rsys_view *view, uint64_t dev);
/* True when the file system keeps its files only in memory (and swap). */
bool rsys_view_is_memory(struct rsys_view *view, uint64_t dev);

#define RSYS_FD_PATH_SIZE 40
/* Writes "/proc/self/fd/N" to ret: a path to an open file, for calls that take no descriptor. */
void rsys_fd_path(int fd, char ret[RSYS_FD_PATH_SIZE]);

#endif
