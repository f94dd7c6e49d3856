/* wire/daemon_ad.h - attributes that the ad of every daemon has.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_DAEMON_AD_H
#define WIRE_DAEMON_AD_H

#include <stddef.h>
#include <stdint.h>

struct ad;
struct os;
struct os_machine;
struct wire_context;

/* The version of HTCondor whose words these ads are: Requirements that condor_submit makes ask it.
 */
#define DAEMON_AD_CONDOR_VERSION "$CondorVersion: 25.14.0 2026-01-12 Roost " ROOST_VERSION " $"

/* Sets MyType, Name, Machine (the name of this host), DaemonStartTime, RoostVersion and
 * RoostPlatform.  type: value of MyType.  started_s: when the daemon started, seconds since 1970.
 * A caller whose host has another name in the pool sets Machine again afterwards.
 * The collector adds Address and LastHeardFrom. */
void daemon_ad_put(struct ad *ad, struct os *os, const char *type, const char *name,
                   int64_t started_s);
/* Sets only DaemonStartTime, RoostVersion and RoostPlatform: for daemons with many ads of one
 * host. */
void daemon_ad_put_program(struct ad *ad, const struct os_machine *machine, int64_t started_s);

/* Sets the attributes Wire*: the memory and connections in use, and how often limits were crossed
 * (wire_context_figures()). */
void daemon_ad_put_wire(struct ad *ad, const struct wire_context *context);
/* Sets what is wrong with the daemon's store, if `problem` is not "": StoreProblem and
 * StoreDamagedRows. */
void daemon_ad_put_store(struct ad *ad, const char *problem, size_t damaged_rows);

#endif
