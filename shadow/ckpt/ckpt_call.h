/* shadow/ckpt/ckpt_call.h - what the parts that answer CKPT_... share: what a call is about.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_CKPT_CKPT_CALL_H
#define SHADOW_CKPT_CKPT_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ad;
struct run;

#define CKPT_PIECE_MAX    ((size_t)1 << 20)
#define CKPT_MANIFEST_MAX ((size_t)256 << 10)
#define CKPT_GENERATIONS  2 /* that are kept */
#define CKPT_NAMES_MAX    100000

/* What a call is about; on the lane with it. */
struct ckpt_call {
    int64_t sequence, previous;
    int64_t base; /* of a delta: what it changes; 0: it is none */
    int64_t offset, size, have;
    const char *name; /* of those that there are */
    bool is_damaged;
    bool is_kept; /* the schedd knows of one of that number */
    char *reason;
    struct ad *manifest; /* of CKPT_DONE; the lane's alone while it is there */
    char *bytes;         /* what was read */
    size_t length;
    char *found[CKPT_GENERATIONS]; /* manifests */
    size_t found_length[CKPT_GENERATIONS];
};

void ckpt_call_destroy(struct ckpt_call *call);
/* The directory of a generation; the caller owns it. */
char *ckpt_call_place(const struct run *run, int64_t sequence);
/* Of a plain file in a directory of ours; 0: there is none. */
int64_t ckpt_call_size_in(struct run *run, const char *directory, const char *name);

#endif
