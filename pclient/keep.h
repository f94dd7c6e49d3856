/* pclient/keep.h - detached jobs: the process that keeps one, and what others ask it.
 *
 * A detached job has a pclient of its own, the keeper, outside of all namespaces of the pclient
 * that was asked for it, in a session of its own, with a lease of its own (base/os/os_enclose.h).
 * It is found by its name (base/os/os_post.h), which holds the uid and the mark: nothing is stored.
 *
 * Whatever concerns detached jobs is done by a program that the watcher starts outside
 * (keep_outside()): the process that holds the jobs cannot see, and may not ask, what is outside of
 * its namespaces.  What that program prints is the answer to the request.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PCLIENT_KEEP_H
#define PCLIENT_KEEP_H

#include <stdbool.h>

#include "base/vec.h"
#include "pclient/request_plan.h"

/* Appends the arguments, each in a block of its own, of the program that answers the request
 * outside; no_namespaces: as the option -subreaper. */
void keep_words(const struct request *request, bool no_namespaces, struct vec *ret);
/* Returns whether these are such arguments. */
bool keep_is_outside(int argc, char **argv);
/* Does what they say, and prints the answer.  Returns the exit status. */
int keep_outside(int argc, char **argv);

#endif
