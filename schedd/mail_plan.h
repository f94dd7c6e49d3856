/* schedd/mail_plan.h - whether a job's owner wants mail, and what it says.  Pure.
 *
 * The layout is that of HTCondor's mails: what the job was, how it ended, when, what it used.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_MAIL_PLAN_H
#define SCHEDD_MAIL_PLAN_H

#include <stdbool.h>
#include <stdint.h>

struct ad;
struct strbuf;

#define MAIL_BYTES_MAX 32768

enum mail_occasion { MAIL_ENDED, MAIL_HELD, MAIL_REMOVED, MAIL_STARTED };

enum mail_wish { /* JobNotification */
                 MAIL_NEVER = 0,
                 MAIL_ALWAYS = 1,
                 MAIL_COMPLETE = 2,
                 MAIL_ERROR = 3,
                 MAIL_START = 4
};

struct mail_facts {
    enum mail_occasion occasion;
    const char *reason;  /* of a hold or removal */
    const char *machine; /* the schedd's */
    const char *domain;  /* of addresses that name none */
    int64_t now_s;
    int32_t zone_s;
};

bool mail_plan_is_wanted(const struct ad *job, enum mail_occasion occasion);
/* The whole message with its header, for a sendmail -t; at most MAIL_BYTES_MAX bytes. */
void mail_plan_message(const struct ad *job, const struct mail_facts *facts, struct strbuf *out);

#endif
