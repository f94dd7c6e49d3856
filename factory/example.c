/* factory/example.c - see example.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "factory/example.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "classad/ad.h"
#include "factory/site_section.h"
#include "wire/daemon_ad.h"

#define DISK_KIB ((int64_t)10 << 20) /* unless the example says */

static int set_line(struct ad *ad, const char *line, const char *site, struct err *err)
{
    const char *equals = strchr(line, '=');
    size_t length = equals != NULL ? (size_t)(equals - line) : 0;
    while (length > 0 && text_is_blank(line[length - 1])) {
        length--;
    }
    struct err why = {"it is not of the form ATTRIBUTE = EXPRESSION"};
    char *name = mem_strndup(line, length);
    int rc = length > 0 && ad_name_is_valid(name) ? ad_set_expr_old(ad, name, equals + 1, &why)
                                                  : -EINVAL;
    mem_free(name);
    return rc == 0 ? 0 : err_set(err, -EINVAL, "site %s: example: '%s': %s", site, line, why.text);
}

/* What a pilot's slot has, as far as jobs ask for it. */
static void put_usual(struct ad *ad, const struct site_settings *settings)
{
    ad_set_string(ad, "Arch", "X86_64");
    ad_set_string(ad, "OpSys", "LINUX");
    ad_set_string(ad, "CondorVersion", DAEMON_AD_CONDOR_VERSION);
    ad_set_string(ad, "RoostVersion", ROOST_VERSION);
    ad_set_bool(ad, "HasFileTransfer", true);
    ad_set_bool(ad, "HasJobDeferral", true);
    ad_set_bool(ad, "IsGlidein", true);
    ad_set_string(ad, "SlotType", "Partitionable");
    ad_set_bool(ad, "PartitionableSlot", true);
    ad_set_int(ad, "SlotID", 1);
    ad_set_int(ad, "SlotTypeID", 1);
    ad_set_string(ad, "MachineResources", "Cpus Memory Disk");
    ad_set_int(ad, "TotalSlotCpus", settings->cpus);
    ad_set_int(ad, "TotalSlotMemory", settings->memory_mib);
    ad_set_int(ad, "TotalSlotDisk", DISK_KIB);
    ad_set_bool(ad, "Start", true);
    ad_set_int(ad, "Rank", 0);
    (void)ad_set_expr_old(ad, "Requirements", "Start", NULL);
    (void)ad_set_expr_old(ad, "SlotWeight", "Cpus", NULL);
    (void)ad_set_expr_old(ad, "MODIFY_REQUEST_EXPR_REQUESTCpus", "quantize(RequestCpus,{1})", NULL);
    (void)ad_set_expr_old(ad, "MODIFY_REQUEST_EXPR_REQUESTMemory", "quantize(RequestMemory,{128})",
                          NULL);
    (void)ad_set_expr_old(ad, "MODIFY_REQUEST_EXPR_REQUESTDisk", "quantize(RequestDisk,{1024})",
                          NULL);
}

int example_make(const struct site_settings *settings, const char *site, const char *factory,
                 struct ad **ret, struct err *err)
{
    struct ad *ad = ad_create();
    int rc = 0;
    put_usual(ad, settings);
    for (size_t i = 0; i < settings->example.count && rc == 0; i++) {
        rc = set_line(ad, settings->example.items[i], site, err);
    }
    if (rc != 0) {
        ad_destroy(ad);
        return rc;
    }
    (void)ad_copy_attr(ad, "Cpus", ad, "TotalSlotCpus");
    (void)ad_copy_attr(ad, "Memory", ad, "TotalSlotMemory");
    (void)ad_copy_attr(ad, "Disk", ad, "TotalSlotDisk");
    (void)ad_copy_attr(ad, "TotalCpus", ad, "TotalSlotCpus");
    (void)ad_copy_attr(ad, "TotalMemory", ad, "TotalSlotMemory");
    ad_set_string(ad, "MyType", "Machine");
    ad_set_string(ad, "Name", EXAMPLE_NAME);
    ad_set_string(ad, "GLIDEIN_Factory", factory);
    ad_set_string(ad, "GLIDEIN_Site", site);
    *ret = ad;
    return 0;
}
