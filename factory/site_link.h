/* factory/site_link.h - the child process of a site, and one request to it at a time.
 *
 * The child is started with the first request.  When it does not answer within the deadline it is
 * killed with its process group; the next request starts another one.  Nothing blocks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FACTORY_SITE_LINK_H
#define FACTORY_SITE_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/loop.h"

struct daemon_env;
struct site_answer;
struct site_link;
struct site_request;

/* argv: the program, ended by NULL; borrowed, as is begin, the first request to each child, whose
 * texts live as long as the link, and whose deadline is that of all requests. ready(arg) is called
 * from the loop when site_link_take() has something. */
struct site_link *site_link_create(const struct daemon_env *env, const char *name,
                                   const char *const *argv, const struct site_request *begin,
                                   loop_f ready, void *arg);
/* Ends the child: its input ends, and it is killed when it does not end by that.  NULL is
 * allowed. */
void site_link_destroy(struct site_link *link);
/* Sends a request; no other may be open.  Its id and deadline are set here. */
void site_link_ask(struct site_link *link, const struct site_request *request);
/* Returns true and fills *ret, to be freed with site_answer_fini(), if the request is answered, or
 * given up: then outcome is SITE_FAILS, and text says why. */
bool site_link_take(struct site_link *link, struct site_answer *ret);
/* How long after a submission the site may not list it. */
uint64_t site_link_settle_ms(const struct site_link *link);

#endif
