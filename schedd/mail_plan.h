/* schedd/mail_plan.h - decides whether a job's owner gets a mail, and writes the text of the mail.
 * Pure.
 *
 * The layout is that of HTCondor's mails: the job, how it ended, when, and what it used.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_MAIL_PLAN_H
#define SCHEDD_MAIL_PLAN_H

#include <stdbool.h>
#include <stdint.h>

struct ad;
struct strbuf;

#define MAIL_BYTES_MAX 32768 /* most bytes of a mail, without the terminating zero */

enum mail_occasion { MAIL_ENDED, MAIL_HELD, MAIL_REMOVED, MAIL_STARTED };

enum mail_wish { /* values of the attribute JobNotification */
                 MAIL_NEVER = 0,
                 MAIL_ALWAYS = 1,
                 MAIL_COMPLETE = 2,
                 MAIL_ERROR = 3,
                 MAIL_START = 4
};

struct mail_facts {
    enum mail_occasion occasion;
    const char *reason;  /* why the job was held or removed; "" for other mails */
    const char *machine; /* host name of the schedd */
    const char *domain;  /* appended to a mail address without a domain */
    int64_t now_s;
    int32_t zone_s; /* by how many seconds local time is ahead of UTC */
};

/* Returns whether the job's JobNotification asks for a mail on this occasion. */
bool mail_plan_is_wanted(const struct ad *job, enum mail_occasion occasion);
/* Appends to out the whole message with its headers, as `sendmail -t` reads it; at most
 * MAIL_BYTES_MAX bytes. */
void mail_plan_message(const struct ad *job, const struct mail_facts *facts, struct strbuf *out);

#endif
