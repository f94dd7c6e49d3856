/* schedd/request_ads.h - what the collector knows of us: request, submitter and scheduler ads.
 *
 * The first change after a quiet time goes out at once, later ones are gathered for a moment
 * (REQUEST_AD_GATHER); when the uplink comes up everything is sent anew, and all of it again now
 * and then, so that the collector does not let the ads expire.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_REQUEST_ADS_H
#define SCHEDD_REQUEST_ADS_H

#include <stdint.h>

struct ad;
struct autocluster;
struct schedd;
struct wire;

void request_ads_init(struct schedd *schedd);
void request_ads_fini(struct schedd *schedd);
/* Some autocluster or owner is dirty. */
void request_ads_changed(struct schedd *schedd);
/* The same, but nobody waits to hear it: a claim took its next job while others are idle, or the
 * numbers of a submitter changed.  It is told with the next change, or soon. */
void request_ads_drained(struct schedd *schedd);
/* A claim has begun or ended: MAX_JOBS_RUNNING may leave room for another number of jobs. */
void request_ads_room(struct schedd *schedd);
/* Address or certificate are others now: all are told anew. */
void request_ads_moved(struct schedd *schedd);
/* The uplink is up (again): everything is news. */
void request_ads_up(struct schedd *schedd, struct wire *wire);
/* For how many jobs the autocluster asks now: its idle ones, as far as MAX_JOBS_RUNNING leaves
 * room. */
int64_t request_ads_wanted(const struct schedd *schedd, const struct autocluster *autocluster);
/* Our Scheduler ad as it is now; owned by the caller. */
struct ad *request_ads_scheduler(const struct schedd *schedd);

#endif
