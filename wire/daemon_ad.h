/* wire/daemon_ad.h - what every daemon says of itself in its ad.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_DAEMON_AD_H
#define WIRE_DAEMON_AD_H

#include <stdint.h>

struct ad;
struct os;
struct os_machine;
struct wire_context;

/* MyType, Name, Machine (this host; a caller that has another name for it sets that afterwards),
 * DaemonStartTime, RoostVersion, RoostPlatform.  Address and LastHeardFrom are the collector's to
 * say. */
void daemon_ad_put(struct ad *ad, struct os *os, const char *type, const char *name,
                   int64_t started_s);
/* Of these only DaemonStartTime, RoostVersion, RoostPlatform: for who has many ads of one host. */
void daemon_ad_put_program(struct ad *ad, const struct os_machine *machine, int64_t started_s);

/* What connections cost it and which limits were crossed (wire_context_figures()): names with Wire.
 */
void daemon_ad_put_wire(struct ad *ad, const struct wire_context *context);

#endif
