/* classad/ad_identity.h - attributes that name who one is: never expressions.
 *
 * Design.  An expression may have another value beside each ad that it is evaluated with, so what
 * is checked when an ad comes in would not be what is matched, charged or run later.  Whoever takes
 * ads from others (the collector, the schedd) sets these attributes itself or takes them as
 * literal strings only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_IDENTITY_H
#define CLASSAD_AD_IDENTITY_H

struct ad;

/* Name, Machine, StartdUplink, ... */
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
    const char *text[AD_IDENTITY_COUNT]; /* by enum ad_identity; "": absent, or no literal string */
};

/* Reads all of them of the ad (or of what it is chained to): the texts live as long as its values
 * do.  NULL, or the name of the first that is not a literal string. */
const char *ad_identity_read(const struct ad *ad, struct ad_identity_texts *ret);

#endif
