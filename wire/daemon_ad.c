/* wire/daemon_ad.c - see daemon_ad.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/daemon_ad.h"

#include <stdio.h>

#include "base/os/os.h"
#include "classad/ad.h"
#include "wire/wire.h"

void daemon_ad_put_program(struct ad *ad, const struct os_machine *machine, int64_t started_s)
{
    char platform[sizeof(machine->arch) + sizeof(machine->opsys) + 1];
    (void)snprintf(platform, sizeof(platform), "%s-%s", machine->arch, machine->opsys);
    ad_set_int(ad, "DaemonStartTime", started_s);
    ad_set_string(ad, "RoostVersion", ROOST_VERSION);
    ad_set_string(ad, "RoostPlatform", platform);
}

void daemon_ad_put(struct ad *ad, struct os *os, const char *type, const char *name,
                   int64_t started_s)
{
    struct os_machine machine;
    ad_set_string(ad, "MyType", type);
    ad_set_string(ad, "Name", name);
    if (os_machine(os, &machine, NULL) == 0) {
        ad_set_string(ad, "Machine", machine.hostname);
        daemon_ad_put_program(ad, &machine, started_s);
    }
}

void daemon_ad_put_wire(struct ad *ad, const struct wire_context *context)
{
    struct wire_figures figures;
    wire_context_figures(context, &figures);
    ad_set_int(ad, "WireStrangers", (int64_t)figures.strangers);
    ad_set_int(ad, "WireStrangersSentAway", (int64_t)figures.strangers_sent_away);
    ad_set_int(ad, "WireConnections", (int64_t)figures.connections);
    ad_set_int(ad, "WireIdentities", (int64_t)figures.identities);
    ad_set_int(ad, "WireFrameBytes", (int64_t)figures.frame_bytes);
    ad_set_int(ad, "WireRequestBytes", (int64_t)figures.request_bytes);
    ad_set_int(ad, "WireUnreadBytes", (int64_t)figures.unread_bytes);
    ad_set_int(ad, "WireLimitsCrossed", (int64_t)figures.complaints);
    if (figures.busiest[0] != '\0') {
        ad_set_string(ad, "WireBusiest", figures.busiest);
        ad_set_int(ad, "WireBusiestBytes", (int64_t)figures.busiest_bytes);
    }
    if (figures.last_offender[0] != '\0') {
        ad_set_string(ad, "WireLastOffender", figures.last_offender);
    }
}

void daemon_ad_put_store(struct ad *ad, const char *problem, size_t damaged_rows)
{
    if (problem[0] != '\0') {
        ad_set_string(ad, "StoreProblem", problem);
        ad_set_int(ad, "StoreDamagedRows", (int64_t)damaged_rows);
    }
}
