/* tests/support/negotiator_bed.h - a negotiator that leads, with a real collector.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_SUPPORT_NEGOTIATOR_BED_H
#define TESTS_SUPPORT_NEGOTIATOR_BED_H

#include "negotiator/negotiator.h"
#include "tests/support/collector_bed.h"

struct negotiator_bed {
    char config_text[1024];
    struct daemon_rig daemon;
    struct negotiator *negotiator; /* its state */
};

static inline bool negotiator_bed_leads(struct negotiator_bed *rig)
{
    return rig->negotiator->lease.leads;
}

/* bed: its collector runs, and its address is known. */
static inline void negotiator_bed_start(struct negotiator_bed *rig, struct bed *bed)
{
    struct client *token =
        client_dial(bed, SCOPE_READ | SCOPE_NEGOTIATOR | SCOPE_ADVERTISE, "", NULL, NULL);
    client_give_token(token, "negotiator.token");
    (void)snprintf(rig->config_text, sizeof rig->config_text,
                   "LOCAL_DIR = \"%s\"\nSPOOL = \"%s\"\nSEC_DIRECTORY = \"%s\"\n"
                   "TOKEN_FILE = \"%s/negotiator.token\"\nCOLLECTOR_HOST = \"%s\"\n",
                   bed->dir, bed->dir, bed->dir, bed->dir, bed->tcp + 4);
    daemon_rig_load(&rig->daemon, &negotiator_daemon, rig->config_text);
    rig->negotiator = daemon_rig_start(&rig->daemon, bed->loop, bed->os, bed->log);
    LOOP_RIG_UNTIL(bed->loop, negotiator_bed_leads(rig), "%s", "it does not lead");
}

#endif
