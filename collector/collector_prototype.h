/* collector/collector_prototype.h - ads on disk as what they differ in from a prototype.
 *
 * Ten thousand sleeping machines of a few kinds say nearly the same of themselves: five KB each, of
 * which four hundred bytes are a machine's own.  What is written decides how many can fall asleep
 * at once and how soon a collector is back, so an ad is stored as the values in which it differs
 * from one that was stored whole before it, its prototype.  Rejected: a general compressor (ten
 * microseconds an ad, and half of the bytes).
 *
 * A prototype is written in the transaction of the first ad that needs it and stays until the
 * collector starts and finds that nobody needs it any more.
 *
 * Form of a packed ad: the byte COLLECTOR_PACKED; the prototype's number, 4 bytes, low first; then
 * again and again: a varint, how many values are the prototype's, and, unless that was the rest, a
 * value of its own with its length before it, as in the binary form of ads (version 2).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COLLECTOR_COLLECTOR_PROTOTYPE_H
#define COLLECTOR_COLLECTOR_PROTOTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COLLECTOR_PROTOTYPES_MAX 64
#define COLLECTOR_PACKED         0xfe /* the first byte; that of an ad is its version */

struct err;
struct prototypes;
struct strbuf;

struct prototypes *prototypes_create(void);
void prototypes_destroy(struct prototypes *prototypes); /* NULL is allowed */

/* One that is on disk already.  Ignored when there are too many. */
void prototypes_add(struct prototypes *prototypes, uint32_t number, const void *bytes,
                    size_t length);

/* Appends the packed form of an ad (binary form, version 2, its own encoding and not a stranger's)
 * to out and returns true.  *is_new: relative to itself, which is now the prototype *number and is
 * to be written as such.  False: it is like none, and there are as many as may be: to be stored as
 * it is. */
bool prototypes_pack(struct prototypes *prototypes, const void *bytes, size_t length,
                     struct strbuf *out, bool *is_new, uint32_t *number);

/* Appends the ad as it was.  -ENOENT: its prototype is missing; -EBADMSG: malformed. */
int prototypes_unpack(struct prototypes *prototypes, const void *bytes, size_t length,
                      struct strbuf *out, struct err *err);

/* Calls for each number that no ad was unpacked with or packed against, and forgets those. */
void prototypes_drop_unused(struct prototypes *prototypes, void (*each)(void *arg, uint32_t number),
                            void *arg);

#endif
