/* ckpt/follow/follow_linux.h - finds out which memory of a job changes between its images (the
 * follower).
 *
 * It needs no help of the job.  Its memory is write-protected with a userfaultfd whose faults the
 * kernel resolves by itself (UFFD_FEATURE_WP_ASYNC), and PAGEMAP_SCAN reports which pages were
 * written to since.  Only a process itself can make its userfaultfd: we make it do so and fetch the
 * descriptor.  Nothing stays in the job, and when we end the kernel removes all of it.  Soft-dirty
 * bits, the older way, are missing in many kernels that claim to have them.
 *
 * What is not followed counts as changed: memory that appeared or was moved (mremap ends the
 * protection), the memory of a new process, memory shared between processes, private mappings of
 * files with written pages or of a file that changed.  If the kernel lacks one of these features,
 * or the job may not make a userfaultfd, all images are whole.
 *
 * Effects on the job: the first write to each page after an image takes a microsecond more.  It has
 * more mappings, because memory that is not yet followed does not merge with memory that is.
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
void follow_destroy(struct follow *follow); /* ends following; NULL is allowed */

/* Returns the id of the image that the next delta is made against; 0: none, the next image is
 * whole. */
uint64_t follow_base_id(const struct follow *follow);

/* ---- parts of a dump (dump_linux.c), in this order */

/* Before the job is stopped: reserves memory for its changed pages. */
void follow_expect(struct follow *follow);
/* While the job stands still: finds the changed pages (subject.runs) and starts to follow anew.
 * Sets dump.is_delta if there is a base and a delta is worth it. */
void follow_look(struct follow *follow, struct dump *dump);
/* While the job stands still: copies the changed pages to our memory, so that the job can continue
 * at once.  False: too many have changed; copying the processes is faster. */
bool follow_take(struct follow *follow, struct dump *dump);
/* Writes the base's id and name to the head of the new image. */
void follow_base(const struct follow *follow, struct dump *dump);
/* After the dump. ok: the new image is the base of the next delta; otherwise the base stays. */
void follow_done(struct follow *follow, const struct dump *dump, const char *image, bool ok);

#endif
