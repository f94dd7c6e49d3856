/* schedd/mail_plan.c - see mail_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/mail_plan.h"

#include <inttypes.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"

#define ARGUMENTS_SHOWN 1000
/* most bytes of an attribute's name, with the terminating zero */
#define NAME_BYTES   128
#define USER_REQUEST 1 /* HoldReasonCode of a hold by the user, who gets no mail about it */

bool mail_plan_is_wanted(const struct ad *job, enum mail_occasion occasion)
{
    switch (ad_int_or(job, "JobNotification", MAIL_NEVER)) {
    case MAIL_ALWAYS:
        return true;
    case MAIL_START:
        return occasion == MAIL_STARTED;
    case MAIL_COMPLETE:
        return occasion == MAIL_ENDED;
    case MAIL_ERROR:
        return (occasion == MAIL_ENDED &&
                (ad_bool_or(job, "ExitBySignal", false) || ad_int_or(job, "ExitCode", 0) != 0)) ||
               (occasion == MAIL_HELD && ad_int_or(job, "HoldReasonCode", 0) != USER_REQUEST);
    default:
        return false;
    }
}

/* Appends at most `most` bytes of text, with control characters replaced by blanks, because a
 * header must not contain a line break. */
static void put_plain(struct strbuf *out, const char *text, size_t most)
{
    for (size_t i = 0; text[i] != '\0' && i < most; i++) {
        unsigned char c = (unsigned char)text[i];
        strbuf_putc(out, c < ' ' || c == 127 ? ' ' : (char)c);
    }
}

static void put_date(struct strbuf *out, const char *title, int64_t at_s, int32_t zone_s)
{
    char date[TEXT_UTC_MAX];
    if (at_s > 0) {
        text_utc_s(at_s + zone_s, date);
        strbuf_printf(out, "%-21s%.10s %.8s\n", title, date, date + 11);
    }
}

static void put_duration(struct strbuf *out, const char *title, double seconds)
{
    int64_t whole = seconds > 0 && seconds < 1e15 ? (int64_t)seconds : 0;
    strbuf_printf(out, "%-25s%" PRId64 " %02" PRId64 ":%02" PRId64 ":%02" PRId64 "\n", title,
                  whole / 86400, whole / 3600 % 24, whole / 60 % 60, whole % 60);
}

static void put_header(const struct ad *job, const struct mail_facts *facts, struct strbuf *out)
{
    const char *to = ad_string_or(job, "NotifyUser", "");
    to = to[0] != '\0' ? to : ad_string_or(job, "Owner", "");
    strbuf_puts(out, "To: ");
    put_plain(out, to, 500);
    if (strchr(to, '@') == NULL) {
        strbuf_putc(out, '@');
        put_plain(out, facts->domain, 255);
    }
    strbuf_printf(out, "\nSubject: [Roost] Job %" PRId64 ".%" PRId64 "%s\n",
                  ad_int_or(job, "ClusterId", 0), ad_int_or(job, "ProcId", 0),
                  facts->occasion == MAIL_HELD      ? " held"
                  : facts->occasion == MAIL_STARTED ? " started"
                  : facts->occasion == MAIL_REMOVED ? " removed"
                                                    : "");
    strbuf_puts(out, "Auto-Submitted: auto-generated\nContent-Type: text/plain; charset=utf-8\n\n");
}

static void put_end(const struct ad *job, const struct mail_facts *facts, struct strbuf *out)
{
    if (facts->occasion == MAIL_STARTED) {
        strbuf_puts(out, "has started on ");
        put_plain(out, ad_string_or(job, "RemoteHost", "a slot"), 255);
        strbuf_puts(out, ".\n");
    } else if (facts->occasion != MAIL_ENDED) {
        strbuf_puts(out, facts->occasion == MAIL_HELD ? "is being held.\n\n    "
                                                      : "was removed.\n\n    ");
        put_plain(out, facts->reason, 2000);
        strbuf_putc(out, '\n');
    } else if (ad_bool_or(job, "ExitBySignal", false)) {
        strbuf_printf(out, "was ended by signal %" PRId64 "\n", ad_int_or(job, "ExitSignal", 0));
    } else {
        strbuf_printf(out, "exited normally with status %" PRId64 "\n",
                      ad_int_or(job, "ExitCode", 0));
    }
}

/* Appends the attributes that the owner wants to see in the mail, with their expressions. */
static void put_attributes(const struct ad *job, struct strbuf *out)
{
    const char *at = ad_string_or(job, "EmailAttributes", "");
    bool first = true;
    for (;;) {
        char name[NAME_BYTES];
        at += strspn(at, ", \t");
        size_t length = strcspn(at, ", \t");
        if (length == 0) {
            return;
        }
        bool fits = length < sizeof(name);
        memcpy(name, at, fits ? length : 0);
        name[fits ? length : 0] = '\0';
        at += length;
        const struct ad_expr *expr = ad_attr_is_private(name) ? NULL : ad_lookup(job, name);
        if (expr != NULL) {
            struct strbuf text;
            strbuf_init(&text, 0);
            ad_expr_print(expr, AD_OLD, &text);
            strbuf_puts(out, first ? "\n\n" : "");
            strbuf_printf(out, "%s = ", name);
            put_plain(out, strbuf_text(&text), ARGUMENTS_SHOWN);
            strbuf_putc(out, '\n');
            strbuf_fini(&text);
            first = false;
        }
    }
}

void mail_plan_message(const struct ad *job, const struct mail_facts *facts, struct strbuf *out)
{
    put_header(job, facts, out);
    strbuf_puts(out, "This is an automated email from the Roost system on machine \"");
    put_plain(out, facts->machine, 255);
    strbuf_printf(out, "\".  Do not reply.\n\nYour job %" PRId64 ".%" PRId64 "\n    ",
                  ad_int_or(job, "ClusterId", 0), ad_int_or(job, "ProcId", 0));
    put_plain(out, ad_string_or(job, "Cmd", ""), ARGUMENTS_SHOWN);
    const char *arguments = ad_string_or(job, "Arguments", ad_string_or(job, "Args", ""));
    if (arguments[0] != '\0') {
        strbuf_putc(out, ' ');
        put_plain(out, arguments, ARGUMENTS_SHOWN);
    }
    strbuf_putc(out, '\n');
    put_end(job, facts, out);
    strbuf_putc(out, '\n');
    int64_t submitted_s = ad_int_or(job, "QDate", 0);
    put_date(out, "Submitted at:", submitted_s, facts->zone_s);
    if (facts->occasion == MAIL_ENDED) {
        put_date(out, "Completed at:", facts->now_s, facts->zone_s);
        put_duration(out, "Real Time:", (double)(facts->now_s - submitted_s));
        strbuf_printf(out, "\nVirtual Image Size:  %" PRId64 " Kilobytes\n\n",
                      ad_int_or(job, "ImageSize", 0));
        double user_s = ad_real_or(job, "RemoteUserCpu", 0);
        double system_s = ad_real_or(job, "RemoteSysCpu", 0);
        strbuf_puts(out, "Statistics from last run:\n");
        put_duration(out, "Allocation/Run time:", ad_real_or(job, "LastRemoteWallClockTime", 0));
        put_duration(out, "Remote User CPU Time:", user_s);
        put_duration(out, "Remote System CPU Time:", system_s);
        put_duration(out, "Total Remote CPU Time:", user_s + system_s);
        strbuf_puts(out, "\nStatistics totaled from all runs:\n");
        put_duration(out, "Allocation/Run time:", ad_real_or(job, "RemoteWallClockTime", 0));
    }
    put_attributes(job, out);
}
