/* site/site_process.c - the type `process`: glideins on this machine, as its own user.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "site/site_hosts.h"
#include "site/site_types.h"

static const char *const OPTIONS[] = {SITE_HOSTS_OPTIONS, NULL};

const struct site_type site_process = {.name = "process",
                                       .options = OPTIONS,
                                       .begin = site_hosts_begin_local,
                                       .submit = site_hosts_submit,
                                       .look = site_hosts_look,
                                       .remove = site_hosts_remove,
                                       .log = site_hosts_log,
                                       .end = site_hosts_end};
