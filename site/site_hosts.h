/* site/site_hosts.h - sites that are hosts: this one, or others that a shell is started on.
 *
 * On each host a pclient starts glideins as detached jobs (docs/protocol/pclient.md), so they go on
 * without roost-site and without the factory.  What is done on a host is a script for `sh` on its
 * standard input: so neither words of a command line nor the environment hold a secret, and any
 * transport that starts a shell will do.
 *
 * Each host has a directory of its own, also where hosts share a file system, with files NAME.token
 * (the secret, from before the start until the glidein has ended), NAME.out (what it prints) and
 * NAME.end (its exit status, kept for an hour).
 *
 * After the deadline nothing may go on.  A network that stands still can deliver late what was sent
 * early: so jobs are sent only to a pclient that has answered, whose lease ends before the deadline
 * and is not renewed (request `follow`).
 *
 * Rejected: to remember here what was started where.  This process may be killed at any moment; the
 * hosts know it anyway.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SITE_SITE_HOSTS_H
#define SITE_SITE_HOSTS_H

#include "site/site.h"

/* Options that both types have. */
#define SITE_HOSTS_OPTIONS "directory", "per_host", "pilot", "pclient"

/* The functions of struct site_type. */
enum site_result site_hosts_begin_local(struct site *site, json_t *answer, struct err *err);
enum site_result site_hosts_begin_remote(struct site *site, json_t *answer, struct err *err);
enum site_result site_hosts_submit(struct site *site, const struct site_request *request,
                                   json_t *answer, struct err *err);
enum site_result site_hosts_look(struct site *site, json_t *answer, struct err *err);
enum site_result site_hosts_remove(struct site *site, const struct site_request *request,
                                   json_t *answer, struct err *err);
enum site_result site_hosts_log(struct site *site, const char *name, char **text, struct err *err);
void site_hosts_end(struct site *site);

#endif
