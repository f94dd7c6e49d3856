/* schedd/requests/request_news.h - marks which ads in the collector are out of date, and decides
 * when to send new ones.
 *
 * Whoever changes jobs, claims or requests calls a function of this file.  A timer then calls
 * request_ads.c, which makes and sends the marked ads.
 *
 * The requests ask for no more jobs than MAX_JOBS_RUNNING leaves room for.  Otherwise matches would
 * be refused, and machines would be woken for nothing.  So, while there is less room than there are
 * idle jobs, each claim that begins or ends changes all requests.  They are then sent at once when
 * the room appears or is used up, and else once in ROOM_MS.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_REQUESTS_REQUEST_NEWS_H
#define SCHEDD_REQUESTS_REQUEST_NEWS_H

#include <stdint.h>

struct autocluster;
struct schedd;

/* Creates the timer for sending ads.  The timer calls publish(arg) each time when ads that this
 * file has marked as out of date must be sent; publish makes and sends them. */
void request_news_init(struct schedd *schedd, void (*publish)(void *arg), void *arg);
void request_news_fini(struct schedd *schedd);

/* To be called when an autocluster or a submitter was marked as changed: plans to send its ad
 * soon. */
void request_news_changed(struct schedd *schedd);
/* To be called for changes that nobody waits for: a claim took its next job while other jobs are
 * idle, or the counts of a submitter changed.  Such a change is sent together with the next other
 * change, or a little later. */
void request_news_drained(struct schedd *schedd);
/* To be called when a claim has begun or ended, which changes how many more jobs MAX_JOBS_RUNNING
 * allows. */
void request_news_room(struct schedd *schedd);
/* To be called when the schedd's address, its certificate or the list of avoided machines has
 * changed: sends all requests and submitters again. */
void request_news_moved(struct schedd *schedd);
/* Marks all requests and submitters as changed, without sending them. */
void request_news_mark_all(struct schedd *schedd);

/* Returns for how many jobs the autocluster asks now: its idle jobs, limited by the room that
 * MAX_JOBS_RUNNING leaves. */
int64_t request_news_wanted(const struct schedd *schedd, const struct autocluster *autocluster);

/* request_news_send() and request_news_sent() are only for request_ads.c.  request_news_send() is
 * to be called before the marked ads are sent: if MAX_JOBS_RUNNING allows another number of further
 * jobs than when request_news_send() last marked all requests and submitters, request_news_send()
 * marks all of them again.  Between two such marks at least ROOM_MS pass, unless the number became
 * 0 or was 0.  request_news_sent() is to be called after the marked ads were sent, and plans the
 * next sending if needed. */
void request_news_send(struct schedd *schedd);
void request_news_sent(struct schedd *schedd);

#endif
