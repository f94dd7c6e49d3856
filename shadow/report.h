/* shadow/report.h - what the schedd is told, again until it answers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_REPORT_H
#define SHADOW_REPORT_H

#include "wire/verbs.h"

struct ad;
struct run;
struct shadow;

typedef void (*report_f)(struct run *run, void *arg, int status, const char *text,
                         const struct ad *answer);
/* args is taken; JobId and ClaimEpoch are added.  run may be NULL: then id and epoch are in args.
 */
void report_send(struct shadow *shadow, struct run *run, enum wire_verb verb, struct ad *args,
                 report_f answered, void *arg);
void reports_send_again(struct shadow *shadow); /* after SHADOW_HELLO */
void reports_end(struct shadow *shadow);        /* the process ends, lanes have stopped */
/* Hold: the job's own fault. */
void report_hold(struct run *run, int code, int subcode, const char *reason, report_f answered,
                 void *arg);

#endif
