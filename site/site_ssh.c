/* site/site_ssh.c - the type `ssh`: glideins on hosts where we have nothing but ssh, or another
 * command that starts a shell there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "site/site_hosts.h"
#include "site/site_types.h"

static const char *const OPTIONS[] = {SITE_HOSTS_OPTIONS, "hosts",        "ssh", "copy",
                                      "connects",         "host_timeout", NULL};

const struct site_type site_ssh = {.name = "ssh",
                                   .options = OPTIONS,
                                   .begin = site_hosts_begin_remote,
                                   .submit = site_hosts_submit,
                                   .look = site_hosts_look,
                                   .remove = site_hosts_remove,
                                   .log = site_hosts_log,
                                   .end = site_hosts_end};
