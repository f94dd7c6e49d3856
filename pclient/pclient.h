/* pclient/pclient.h - requests on standard input, answers on standard output: see
 * docs/protocol/pclient.md.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PCLIENT_PCLIENT_H
#define PCLIENT_PCLIENT_H

#include <stddef.h>
#include <stdint.h>

#include "pclient/job.h"

struct pclient;

#define PCLIENT_MARK_NAME "PCLIENT_MARK=" /* in the environment of each job */

#define PCLIENT_BUFFER_BYTES ((size_t)64 << 20) /* of each stream that is kept */

enum pclient_status {
    PCLIENT_ENDED = 0,
    PCLIENT_FAILED = 1,
    PCLIENT_USAGE = 2,
    PCLIENT_LEASE_OVER = 3,
};

struct pclient_options {
    int64_t lease_s;
    size_t buffer_bytes; /* most bytes of each stream that are kept */
    bool no_namespaces;  /* for detached jobs */
};

/* Begins to read requests.  When there is nothing more to do, the loop is stopped with the exit
 * status.  options and host are copied.  Returns 0 or -errno. */
int pclient_create(const struct job_host *host, const struct pclient_options *options,
                   struct pclient **ret, struct err *err);
void pclient_destroy(struct pclient *pclient); /* NULL is allowed */

#endif
