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
 * first; then pairs of a varint, the number of the next values that are equal to the prototype's,
 * and one value of the ad itself with its length before it, as in the binary form of ads
 * (version 2).  The last pair has no second part if the ad ends with equal values.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COLLECTOR_COLLECTOR_PROTOTYPE_H
#define COLLECTOR_COLLECTOR_PROTOTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COLLECTOR_PROTOTYPES_MAX 64
/* first byte of a packed ad; an ad that is stored whole begins with its format version */
#define COLLECTOR_PACKED 0xfe

struct err;
struct prototypes;
struct strbuf;

struct prototypes *prototypes_create(void);
void prototypes_destroy(struct prototypes *prototypes); /* NULL is allowed */

/* Adds a prototype that is already on disk.  Does nothing if there are COLLECTOR_PROTOTYPES_MAX. */
void prototypes_add(struct prototypes *prototypes, uint32_t number, const void *bytes,
                    size_t length);

/* Appends the packed form of an ad to out and returns true.  bytes, length: the ad in binary form,
 * version 2, as ad_encode() of this process made it, not as a peer sent it.  Sets *is_new to true
 * if the ad itself becomes prototype *number; the caller must then store it as a prototype.
 * Returns false when the ad is like no prototype and there are COLLECTOR_PROTOTYPES_MAX already;
 * the caller must then store the ad unpacked. */
bool prototypes_pack(struct prototypes *prototypes, const void *bytes, size_t length,
                     struct strbuf *out, bool *is_new, uint32_t *number);

/* Appends to out the ad whose packed form is bytes[0..length).  Returns 0; -ENOENT: its prototype
 * is missing; -EBADMSG: the packed form is malformed. */
int prototypes_unpack(struct prototypes *prototypes, const void *bytes, size_t length,
                      struct strbuf *out, struct err *err);

/* Frees the prototypes with which no ad was packed or unpacked, and calls `each` with the number of
 * each of them. */
void prototypes_drop_unused(struct prototypes *prototypes, void (*each)(void *arg, uint32_t number),
                            void *arg);

#endif
