/* classad/ad_json.h - ads as JSON.
 *
 * Literals become JSON's own; lists and nested ads arrays and objects; undefined null; every other
 * expression a string
 * "\/Expr(...)\/" as HTCondor writes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_JSON_H
#define CLASSAD_AD_JSON_H

struct ad;
struct strbuf;

/* One object, without private attributes.  0, or -E2BIG when out failed. */
int ad_print_json(const struct ad *ad, struct strbuf *out);

#endif
