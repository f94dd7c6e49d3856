/* ckpt/follow/follow_linux.h - the follower: finds out which memory of a job changes between its
 * images.
 *
 * The follower needs no help of the job.  The job's memory is write-protected with a userfaultfd
 * whose faults the kernel resolves by itself (UFFD_FEATURE_WP_ASYNC), and PAGEMAP_SCAN reports
 * which pages were written to since then.  Only a process itself can make its userfaultfd: the
 * follower makes the process do so, and fetches the descriptor.  Nothing of this stays in the job:
 * the kernel ends the protection when the follower ends.  Soft-dirty bits, the older way, are
 * missing in many kernels that claim to have them.
 *
 * What is not followed counts as changed: memory that appeared or was moved (mremap ends the
 * protection), the memory of a new process, memory shared between processes, private mappings of
 * files with written pages or of a file that changed.  If the kernel lacks one of these features,
 * or the job may not make a userfaultfd, all images are whole.
 *
 * Effects on the job: the first write to each page after an image takes a microsecond more.  The
 * job has more mappings, because the kernel does not merge protected and unprotected memory.
 * mremap() moves one mapping: a program that maps part of a region again and then moves the whole
 * region, which works only because the kernel merges both, gets EFAULT.  No allocator does that.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_FOLLOW_FOLLOW_LINUX_H
#define CKPT_FOLLOW_FOLLOW_LINUX_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct dump;
struct err;
struct follow; /* the follower's state, for one job */

struct follow *follow_create(void);
/* Stops following the job's memory, and frees the state.  NULL is allowed. */
void follow_destroy(struct follow *follow);

/* Returns the id of the base, the image that the next delta will build upon; 0: there is none, so
 * the next image will be whole. */
uint64_t follow_base_id(const struct follow *follow);

/* ---- parts of a dump (dump_linux.c), in this order */

/* To be called before the job is stopped: reserves memory for the contents of its changed pages. */
void follow_expect(struct follow *follow);
/* To be called while the job stands still: finds the pages that have changed since the last image
 * (subject.runs), and protects them again, to find later changes.  Sets dump.is_delta if there is a
 * base image and not too much memory has changed. */
void follow_look(struct follow *follow, struct dump *dump);
/* To be called while the job stands still: copies the changed pages to the follower's memory, so
 * that the job can continue at once.  Returns false if that failed, or if so many pages have
 * changed that it is faster to copy (fork) the processes. */
bool follow_take(struct follow *follow, struct dump *dump);
/* Writes the base's id and name to the head of the new image. */
void follow_base(const struct follow *follow, struct dump *dump);
/* To be called after the dump. ok: true: the new image `image` becomes the base of the next delta;
 * false: the base stays the same. */
void follow_done(struct follow *follow, const struct dump *dump, const char *image, bool ok);

#endif
