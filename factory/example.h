/* factory/example.h - the ad of a glidein that a new site would start, as its section describes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FACTORY_EXAMPLE_H
#define FACTORY_EXAMPLE_H

struct ad;
struct err;
struct site_settings;

#define EXAMPLE_NAME "example" /* PreviousName of the sample that is made of it */

/* Makes the ad.  Returns 0 and sets *ret, owned by the caller; or -EINVAL with err, which names the
 * site and the line of the example. */
int example_make(const struct site_settings *settings, const char *site, const char *factory,
                 struct ad **ret, struct err *err);

#endif
