/* factory/upload.h - sends ads of the factory to the collector.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FACTORY_UPLOAD_H
#define FACTORY_UPLOAD_H

#include <stdbool.h>

struct ad;
struct factory;

/* Sends an ad.  is_whole: it replaces the one of its name; else it has only what has changed.
 * Without a connection nothing is sent: when there is one again, all ads are. */
void upload_ad(struct factory *factory, const struct ad *ad, bool is_whole);
/* Says that an ad is gone.  is_offline: it is a sample. */
void upload_gone(struct factory *factory, const char *type, const char *name, bool is_offline);
/* Says that all ads of that type that this factory has sent before are gone. */
void upload_all_gone(struct factory *factory, const char *type);

#endif
