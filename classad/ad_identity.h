/* classad/ad_identity.h - attributes that say who a daemon or user is; these are never expressions.
 *
 * Design.  An expression may have a different value beside each ad that it is evaluated with.  The
 * value checked when an ad arrives could then differ from the value used later to match, charge or
 * run a job. A daemon that takes ads from others (the collector, the schedd) therefore sets these
 * attributes itself or accepts them only as string literals.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_IDENTITY_H
#define CLASSAD_AD_IDENTITY_H

struct ad;

/* Index of each identity attribute: Name, Machine, StartdUplink, ... */
enum ad_identity {
    AD_IDENTITY_NAME,
    AD_IDENTITY_MACHINE,
    AD_IDENTITY_STARTD_UPLINK,
    AD_IDENTITY_SCHEDD_NAME,
    AD_IDENTITY_UID_DOMAIN,
    AD_IDENTITY_FILE_SYSTEM_DOMAIN,
    AD_IDENTITY_OWNER,
    AD_IDENTITY_USER,
    AD_IDENTITY_AUTHENTICATED_IDENTITY,
};
#define AD_IDENTITY_COUNT 9u

struct ad_identity_texts {
    /* indexed by enum ad_identity; "": absent, or not a string literal */
    const char *text[AD_IDENTITY_COUNT];
};

/* Sets *ret to all identity attributes of the ad or of its chained parents; the texts live as long
 * as the ad's values.  Returns NULL when each of them is a string literal or absent, otherwise the
 * name of the first that has another expression. */
const char *ad_identity_read(const struct ad *ad, struct ad_identity_texts *ret);

#endif
