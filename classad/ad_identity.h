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

/* The first of Name, Machine, StartdUplink, ScheddName, UidDomain, FileSystemDomain, Owner, User
 * and AuthenticatedIdentity that the ad (or what it is chained to) has and that is not a literal
 * string; NULL when there is none. */
const char *ad_identity_not_literal(const struct ad *ad);

/* The text of such an attribute; "" when it is absent or not a literal string. */
const char *ad_identity_text(const struct ad *ad, const char *name);

#endif
