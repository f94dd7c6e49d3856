/* What the ads of all slots have in common is put together once, and anew when it has changed.
 *
 * LINK: startd collector drain
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include "tests/unit/startd/startd_rig.h"

static const char *shown(const struct rig *rig, const char *name)
{
    return ad_string_or(rig->startd->slots[0]->ad, name, "");
}

static bool knows_toy(struct rig *rig)
{
    return strstr(shown(rig, "HasFileTransferPluginMethods"), "toy") != NULL;
}

static void what_plugins_say_later_is_in_the_ads_then(void **state)
{
    static const char PLUGIN[] =
        "#!/bin/sh\nprintf 'PluginType = \"FileTransfer\"\\nSupportedMethods = \"toy\"\\n'\n";
    struct rig *rig = *state;
    char path[300], more[400];
    bed_path(rig->bed, "toy_plugin", path);
    MUST(os_write_file(rig->bed->os, path, PLUGIN, strlen(PLUGIN), 0755, false, err));
    (void)snprintf(more, sizeof more, "FILETRANSFER_PLUGINS = \"%s\"\n", path);
    stop(rig);
    load(rig, more);
    start(rig);
    assert_false(knows_toy(rig)); /* it is still being asked */
    until(rig, knows_toy);
}

static void a_reload_changes_the_owners_attributes_and_policy(void **state)
{
    struct rig *rig = *state;
    stop(rig);
    load(rig, "STARTD_ATTRS = Room\nRoom = \"\\\"B12\\\"\"\nRANK = 7\n");
    start(rig);
    assert_string_equal(shown(rig, "Room"), "B12");
    reload(rig, "STARTD_ATTRS = Room\nRoom = \"\\\"C3\\\"\"\nRANK = 8\nUID_DOMAIN = \"lab\"\n");
    assert_string_equal(shown(rig, "Room"), "C3");
    assert_string_equal(shown(rig, "UidDomain"), "lab");
    assert_int_equal(ad_int_or(rig->startd->slots[0]->ad, "Rank", 0), 8);
}

static void the_owners_attributes_are_above_the_slots_own(void **state)
{
    struct rig *rig = *state;
    stop(rig);
    load(rig, "STARTD_ATTRS = Memory\nMemory = 5\n");
    start(rig);
    assert_int_equal(ad_int_or(rig->startd->slots[0]->ad, "Memory", 0), 5);
}

UNIT_TESTS(RIG(what_plugins_say_later_is_in_the_ads_then),
           RIG(a_reload_changes_the_owners_attributes_and_policy),
           RIG(the_owners_attributes_are_above_the_slots_own))
