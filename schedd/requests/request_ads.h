/* schedd/requests/request_ads.h - sends the schedd's ads to the collector: requests, submitters,
 * and the schedd's own ad.
 *
 * The first change after a quiet time is sent at once; later changes are gathered for a moment
 * (REQUEST_AD_GATHER).  When the uplink to the collector comes up, all ads are sent.  They are also
 * sent again from time to time, so that they do not expire in the collector.
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
/* To be called when the uplink is up (again): sends all ads, and withdraws those that an earlier
 * run of the schedd has left. */
void request_ads_up(struct schedd *schedd, struct wire *wire);
/* Returns the schedd's own ad as it is now.  Owned by the caller. */
struct ad *request_ads_scheduler(const struct schedd *schedd);

#endif
