/* ckpt/follow/follow_linux.h - what of a job's memory changes between its images.
 *
 * Without the job's help: its memory is write-protected with a userfaultfd whose faults the kernel
 * resolves by itself (UFFD_FEATURE_WP_ASYNC), and PAGEMAP_SCAN tells which pages were written to
 * since.  The userfaultfd can only be made by a process itself, which is made to do so, and it is
 * fetched from there: nothing of it stays in the job, and when we end the kernel forgets it all.
 * Soft-dirty bits, the older way, are missing in many kernels that say they have them.
 *
 * What is not followed counts as changed: memory that appeared or was moved since (mremap ends the
 * protection), that of a process that is new, memory shared between processes, private mappings of
 * files of which pages were written to, or whose file was.  A kernel without one of these features,
 * or a job that may not make a userfaultfd, gives whole images always.
 *
 * What the job may notice: each first write to a page after an image costs it a microsecond; and
 * it has more mappings, for what is not followed yet does not merge with what is.  mremap() moves
 * one mapping: a program that maps a part of a region anew and then moves all of it, which works
 * only because the kernel had merged both again, is refused (EFAULT).  No allocator does that.
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
struct follow; /* of one job */

struct follow *follow_create(void);
void follow_destroy(struct follow *follow); /* the job is not followed any more; NULL is allowed */

/* Of the image that the next delta is against; 0: there is none, the next one is whole. */
uint64_t follow_base_id(const struct follow *follow);

/* ---- parts of a dump (dump_linux.c), in this order */

/* Before the job is held: makes room for what has changed. */
void follow_expect(struct follow *follow);
/* While it is held: what has changed (subject.runs), and follows it anew from here on.  Sets
 * dump.is_delta, if there is a base and it pays. */
void follow_look(struct follow *follow, struct dump *dump);
/* While it is held: copies what has changed, so that it can go on at once.  False: it is much; or
 * most of what there is, and a copy of the processes is made faster. */
bool follow_take(struct follow *follow, struct dump *dump);
/* Writes to the head which base it is. */
void follow_base(const struct follow *follow, struct dump *dump);
/* The image is there, and the base of the next one; or it is not, and the base stays. */
void follow_done(struct follow *follow, const struct dump *dump, const char *image, bool ok);

#endif
