/* shadow/report.h - reports to the schedd, which are repeated until the schedd answers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_REPORT_H
#define SHADOW_REPORT_H

#include "wire/verbs.h"

struct ad;
struct run;
struct shadow;

/* Callback with the schedd's answer: status 0 and the answer's arguments, or a negative status and
 * text. */
typedef void (*report_f)(struct run *run, void *arg, int status, const char *text,
                         const struct ad *answer);
/* Sends a report, now or when the schedd is connected again.  args is taken over.  With a run,
 * JobId and ClaimEpoch are added to args, and the run is kept until the answer; without one (NULL)
 * args must have them.  answered is called once, with -ESHUTDOWN if the shadow ends before. */
void report_send(struct shadow *shadow, struct run *run, enum wire_verb verb, struct ad *args,
                 report_f answered, void *arg);
/* repeats the reports not answered yet; to be called when the schedd has answered SHADOW_HELLO */
void reports_send_again(struct shadow *shadow);
/* Ends the reports that were not answered yet: their callbacks get -ESHUTDOWN (the shadow ends). To
 * be called after the lanes have stopped. */
void reports_end(struct shadow *shadow);
/* Reports that the job must be held, because of an error in the job itself.  code and subcode:
 * HTCondor's hold codes. */
void report_hold(struct run *run, int code, int subcode, const char *reason, report_f answered,
                 void *arg);

#endif
