/* schedd/shadow_hello.h - what a shadow that says hello is told to keep.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_SHADOW_HELLO_H
#define SCHEDD_SHADOW_HELLO_H

struct ad;
struct owner;
struct schedd;
struct strbuf;

/* Into answer: Runs, which are those of known ("12.3.1,12.4.2"; changed) and those whose results
 * still wait for their place; Spooled, what evicted jobs have left; Checkpoints.  All else of that
 * owner is of no more use.  Also, of the tokens that it says its clients have (args: of the hello),
 * those that were revoked.  O(jobs). */
void shadow_hello_put(struct schedd *schedd, const struct owner *owner, const struct ad *args,
                      struct strbuf *known, struct ad *answer);

#endif
