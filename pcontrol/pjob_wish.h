/* pcontrol/pjob_wish.h - what the user of pcontrol asks for with the command "job".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PCONTROL_PJOB_WISH_H
#define PCONTROL_PJOB_WISH_H

#include <stdint.h>

enum pjob_place {
    PJOB_ANYWHERE,
    PJOB_PREFERS, /* -host NAME */
    PJOB_NEEDS,   /* +host NAME */
};

struct pjob_wish { /* what the user asked for */
    char *command; /* the words of the command, quoted for a pclient */
    enum pjob_place place;
    char *host;          /* NULL for PJOB_ANYWHERE */
    uint64_t timeout_ms; /* of a run; 0: none */
    int32_t priority;    /* the higher, the sooner */
    uint32_t retries;    /* so often the job runs again when it has not ended with EXIT 0 */
    char *paths[2];      /* files for standard output and standard error; NULL: a buffer */
};
void pjob_wish_fini(struct pjob_wish *wish);

#endif
