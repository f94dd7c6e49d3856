/* collector/collector_prototype.h - packs ads for the disk, as their difference to a prototype.
 *
 * Ten thousand sleeping machines of a few kinds have nearly the same ads: five KB each, of which
 * four hundred bytes are a machine's own.  The bytes written decide how many machines can fall
 * asleep at once and how soon a collector is back.  So an ad is stored as the values in which it
 * differs from another ad, its prototype, which was stored whole.  Rejected: a general compressor
 * (ten microseconds per ad, and only half the size).
 *
 * A prototype is written in the transaction of the first ad that needs it.  It stays until the
 * collector starts and finds that no ad needs it any more.
 *
 * Format of a packed ad: the byte COLLECTOR_PACKED; the prototype's number, 4 bytes, low byte
 * first; then repeatedly a varint, the number of values equal to the prototype's, and, unless these
 * were the last, a value of the ad's own with its length before it, as in the binary form of ads
 * (version 2).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COLLECTOR_COLLECTOR_PROTOTYPE_H
#define COLLECTOR_COLLECTOR_PROTOTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COLLECTOR_PROTOTYPES_MAX 64
/* first byte of a packed ad; other ads begin with their version */
#define COLLECTOR_PACKED 0xfe

struct err;
struct prototypes;
struct strbuf;

struct prototypes *prototypes_create(void);
void prototypes_destroy(struct prototypes *prototypes); /* NULL is allowed */

/* Adds a prototype that is already on disk.  Ignored when there are too many. */
void prototypes_add(struct prototypes *prototypes, uint32_t number, const void *bytes,
                    size_t length);

/* Appends the packed form of an ad to out and returns true.  The ad must be in binary form, version
 * 2, encoded by ourselves and not by a stranger.  *is_new: the ad itself becomes prototype *number,
 * and the caller must store it as such.  Returns false, and the ad is to be stored unpacked, when
 * it is like no prototype and there are COLLECTOR_PROTOTYPES_MAX already. */
bool prototypes_pack(struct prototypes *prototypes, const void *bytes, size_t length,
                     struct strbuf *out, bool *is_new, uint32_t *number);

/* Appends the unpacked ad to out.  Returns 0; -ENOENT: its prototype is missing; -EBADMSG:
 * malformed. */
int prototypes_unpack(struct prototypes *prototypes, const void *bytes, size_t length,
                      struct strbuf *out, struct err *err);

/* Forgets the prototypes that no ad was packed or unpacked with, and calls `each` for their
 * numbers. */
void prototypes_drop_unused(struct prototypes *prototypes, void (*each)(void *arg, uint32_t number),
                            void *arg);

#endif
