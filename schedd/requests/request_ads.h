/* schedd/requests/request_ads.h - what the collector knows of us: request, submitter and scheduler
 * ads.
 *
 * The first change after a quiet time goes out at once, later ones are gathered for a moment
 * (REQUEST_AD_GATHER); when the uplink comes up everything is sent anew, and all of it again now
 * and then, so that the collector does not let the ads expire.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_REQUESTS_REQUEST_ADS_H
#define SCHEDD_REQUESTS_REQUEST_ADS_H

struct ad;
struct schedd;
struct wire;

void request_ads_init(struct schedd *schedd);
void request_ads_fini(struct schedd *schedd);
/* The uplink is up (again): everything is news. */
void request_ads_up(struct schedd *schedd, struct wire *wire);
/* Our Scheduler ad as it is now; owned by the caller. */
struct ad *request_ads_scheduler(const struct schedd *schedd);

#endif
