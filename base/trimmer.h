/* base/trimmer.h - gives memory back to the kernel when much of it was freed and no more moves.
 *
 * A daemon that held a hundred thousand jobs or ads keeps their memory when they have left, as the
 * allocator does not return pages by itself.  To return them takes milliseconds, and they would be
 * asked for again while jobs still come and go.  So the owner counts what leaves (or what else
 * makes free memory), and when enough has left and nothing more within a second, mem_trim() is
 * called.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_TRIMMER_H
#define BASE_TRIMMER_H

#include <stdint.h>

struct loop;
struct loop_timer;

struct trimmer {
    struct loop_timer *timer;
    uint64_t moved, before, enough;
};

/* enough: the weights of what moves must add up to this before memory is given back. */
void trimmer_init(struct trimmer *trimmer, struct loop *loop, uint64_t enough);
void trimmer_fini(struct trimmer *trimmer);
/* Counts something that has moved. */
void trimmer_moved(struct trimmer *trimmer, uint64_t weight);

#endif
