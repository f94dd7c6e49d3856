/* rsyscall/view.h - resolves paths and decides which files of this machine a job may reach.
 *
 * Design note: the kernel resolves a path in one call from a descriptor that the server holds:
 * openat2() with RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS and RESOLVE_NO_MAGICLINKS.  So nothing can
 * change between checking a name and using it.  On a kernel without openat2(), the server opens
 * the names of the path one after another through descriptors, which follows no link either.  A
 * change of a directory is done by (descriptor of the directory, one name).
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

/* Gets the effective user and group id of this process. */
void rsys_view_who(uint32_t *uid, uint32_t *gid);

/* Returns how many descriptors this process may have open (RLIMIT_NOFILE). */
uint32_t rsys_view_descriptors_max(void);

uint32_t rsys_view_root_count(const struct rsys_view *view);
/* Returns the descriptor of a root directory, owned by the view. number: less than
 * rsys_view_root_count(). */
int rsys_view_root_fd(const struct rsys_view *view, uint32_t number);

/* Opens a path below the directory `from` as an O_PATH descriptor *ret; the last name of the path
 * may be that of a symbolic link.  path must be valid (rsys_path_is_good()) and not empty. *stat:
 * the attributes of the file; cached: do not block: returns -EAGAIN if that might be necessary.
 * Returns 0; -ELOOP: there is a symbolic link in place of a directory; -EXDEV: the path leads to a
 * file system that is not entered; -ENOENT: the file is missing or hidden; or another -errno. */
int rsys_view_find(struct rsys_view *view, int from, const char *path, bool cached, int *ret,
                   struct stat *stat);
/* Opens the directory that contains the last name of a path below the directory `from` as the
 * descriptor *ret; *name points to that last name, in path.  Returns 0 or -errno. */
int rsys_view_find_parent(struct rsys_view *view, int from, const struct rsys_text *path, int *ret,
                          const char **name);
/* To be called after -ELOOP: finds the first symbolic link in a path below the directory
 * `from`, and writes the link's text
 * to `text`, which has room for RSYS_PATH_MAX + 1 bytes. *used: length of the path up to and
 * including the link's name.  Returns the length of the link's text, or -errno. */
int rsys_view_find_link(struct rsys_view *view, int from, const struct rsys_text *path,
                        size_t *used, char *text);

/* Decides whether the job may make a change to `name` in the directory fd or, if name is NULL, to
 * the file of fd itself.  Returns -EROFS if the root with the number `root`, through which the file
 * was reached, is read-only; otherwise the result of rsys_parts_judge() or, if that is 0, of
 * rsys_grants_judge(). cached: do not block: returns -EAGAIN if that might be necessary. */
int rsys_view_judge(struct rsys_view *view, uint32_t root, int fd, const char *name,
                    enum rsys_change change, bool cached);

/* Returns whether the file of descriptor fd existed before the job began, as far as is known;
 * always false if the job may change everything (struct rsys_offer, guarded). */
bool rsys_view_is_old(struct rsys_view *view, int fd);

/* Remembers that the job has just made the file of descriptor fd. */
void rsys_view_made(struct rsys_view *view, int fd);

/* Returns whether a read-only or hidden part is in the directory of descriptor fd or below it. */
bool rsys_view_is_above_part(struct rsys_view *view, int fd);

/* Makes other requests that remove or replace names wait until rsys_view_unlock_names(), for a
 * caller that must know what its own change of a name has removed. */
void rsys_view_lock_names(struct rsys_view *view);
void rsys_view_unlock_names(struct rsys_view *view);

/* Returns whether reading in the file system with the device number dev (st_dev) never waits for a
 * network, as far as is known.  Does not block. */
bool rsys_view_is_local(struct rsys_view *view, uint64_t dev);
/* Returns whether the file system with the device number dev (st_dev) keeps its files only in
 * memory and swap space. */
bool rsys_view_is_memory(struct rsys_view *view, uint64_t dev);

/* bytes of a path in /proc/self/fd, with the terminating zero */
#define RSYS_FD_PATH_SIZE 40
/* Writes "/proc/self/fd/N" to ret: a path of the open file of descriptor fd, for system calls that
 * take no descriptor. */
void rsys_fd_path(int fd, char ret[RSYS_FD_PATH_SIZE]);

#endif
