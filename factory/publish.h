/* factory/publish.h - the ads by which the pool sees the factory: Factory, Site, Glidein.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FACTORY_PUBLISH_H
#define FACTORY_PUBLISH_H

struct factory;

/* Sends the ads that have changed since they were sent last, and takes back those that are gone. */
void publish_changes(struct factory *factory);
/* Forgets what was sent: the next publish_changes() sends everything. */
void publish_forget(struct factory *factory);
void publish_free(struct factory *factory);

#endif
