/* schedd/requests/request_news.h - which of the ads that the collector has of us are not the
 * newest, and when that is told.
 *
 * Whoever changes jobs, claims or what is asked for marks it here; request_ads.c, which makes the
 * ads, is woken by a timer and sends what is marked.
 *
 * A request asks for no more jobs than MAX_JOBS_RUNNING leaves room for: a match beyond it would be
 * refused, and machines be woken for nothing.  So each claim that begins or ends changes all of
 * them, once there is less room than there are idle jobs: they are told at once when room appears
 * or is gone, and else once in ROOM_MS.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_REQUESTS_REQUEST_NEWS_H
#define SCHEDD_REQUESTS_REQUEST_NEWS_H

#include <stdint.h>

struct autocluster;
struct schedd;

/* publish(arg) is called by a timer, some time after something has changed. */
void request_news_init(struct schedd *schedd, void (*publish)(void *arg), void *arg);
void request_news_fini(struct schedd *schedd);

/* Some autocluster or owner is dirty. */
void request_news_changed(struct schedd *schedd);
/* The same, but nobody waits to hear it: a claim took its next job while others are idle, or the
 * numbers of a submitter changed.  It is told with the next change, or soon. */
void request_news_drained(struct schedd *schedd);
/* A claim has begun or ended: MAX_JOBS_RUNNING may leave room for another number of jobs. */
void request_news_room(struct schedd *schedd);
/* Address or certificate are others now: all are told anew. */
void request_news_moved(struct schedd *schedd);
/* Marks all requests and submitters. */
void request_news_mark_all(struct schedd *schedd);

/* For how many jobs the autocluster asks now: its idle ones, as far as MAX_JOBS_RUNNING leaves
 * room. */
int64_t request_news_wanted(const struct schedd *schedd, const struct autocluster *autocluster);

/* What is marked is about to be sent; it was sent. */
void request_news_send(struct schedd *schedd);
void request_news_sent(struct schedd *schedd);

#endif
