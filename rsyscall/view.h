/* rsyscall/view.h - what of this machine's files a job may reach.
 *
 * Design note: a path is resolved by the kernel in one call, openat2() with RESOLVE_BENEATH,
 * RESOLVE_NO_SYMLINKS and RESOLVE_NO_MAGICLINKS, from a descriptor that we hold: there is no moment
 * between checking a name and using it.  A kernel without that call is served by going from name to
 * name through descriptors, which follows no link either.  What changes a directory is done to
 * (descriptor of the directory, one name).
 *
 * File systems that are views of the kernel (proc, sysfs, ...) are never entered: with the user's
 * rights on /proc/PID/mem, a job would be the user.
 *
 * All of it blocks as the files do.  The loop thread makes and forgets a view; lanes use it, many
 * at once.
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

/* Opens the roots.  -errno with err: which could not be opened. */
int rsys_view_create(const struct rsys_offer *offer, struct rsys_view **ret, struct err *err);
void rsys_view_destroy(struct rsys_view *view); /* NULL is allowed */

/* With whose rights. */
void rsys_view_who(uint32_t *uid, uint32_t *gid);

/* How many descriptors this process may have. */
uint32_t rsys_view_descriptors_max(void);

uint32_t rsys_view_root_count(const struct rsys_view *view);
/* number < rsys_view_root_count() */
int rsys_view_root_fd(const struct rsys_view *view, uint32_t number);

/* What is at path below the directory `from`, as an O_PATH descriptor, which may be that of a link.
 * The path is good (rsys_path_is_good()) and not empty.  cached: -EAGAIN when that could block.
 * -ELOOP: a link where a directory should be; -EXDEV: into a file system that is not entered;
 * -ENOENT also for what is hidden. */
int rsys_view_find(struct rsys_view *view, int from, const char *path, bool cached, int *ret,
                   struct stat *stat);
/* The directory in which the path's last name is; *name points into path. */
int rsys_view_find_parent(struct rsys_view *view, int from, const struct rsys_text *path, int *ret,
                          const char **name);
/* After -ELOOP: the first link of the path, or its end (*used == length).  text holds
 * RSYS_PATH_MAX + 1 bytes; returns its length or -errno. */
int rsys_view_find_link(struct rsys_view *view, int from, const struct rsys_text *path,
                        size_t *used, char *text);

/* As rsys_parts_judge() and rsys_grants_judge(), and by the root that it was reached by: -EROFS.
 * cached: -EAGAIN also when what is to be changed has to be looked at. */
int rsys_view_judge(struct rsys_view *view, uint32_t root, int fd, const char *name,
                    enum rsys_change change, bool cached);

/* As rsys_grants_is_old(); false where all may be changed. */
bool rsys_view_is_old(struct rsys_view *view, int fd);

/* For what the job has just made. */
void rsys_view_made(struct rsys_view *view, int fd);

/* Is a part in that directory, or below it? */
bool rsys_view_is_above_part(struct rsys_view *view, int fd);

/* For who must know what removing a name, or taking it for another thing, did. */
void rsys_view_lock_names(struct rsys_view *view);
void rsys_view_unlock_names(struct rsys_view *view);

/* Does reading of files on the file system of that st_dev never wait for a network, as far as we
 * have seen?  Does not block. */
bool rsys_view_is_local(struct rsys_view *view, uint64_t dev);
/* Is there nothing behind it but memory (and swap)? */
bool rsys_view_is_memory(struct rsys_view *view, uint64_t dev);

#define RSYS_FD_PATH_SIZE 40
/* "/proc/self/fd/N": another way to an open file, for calls that take no descriptor. */
void rsys_fd_path(int fd, char ret[RSYS_FD_PATH_SIZE]);

#endif
