/* schedd/policy/job_charge.c - see job_charge.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/policy/job_charge.h"

#include <errno.h>
#include <string.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"
#include "schedd/policy/charge_plan.h"
#include "schedd/queue/queue_table.h"
#include "schedd/schedd_state.h"
#include "user_maps/user_world.h"

#define LOOKUPS_MAX   2000    /* look-ups of accounts in one request */
#define MAP_STEPS_MAX 100000u /* steps for patterns in one look-up in the map */

static void forget_words(struct schedd *schedd)
{
    size_t at = 0;
    void *value = NULL;
    while (schedd->queue.owners != NULL && strmap_next(schedd->queue.owners, &at, NULL, &value)) {
        struct owner *owner = value;
        mem_free(owner->charge_words);
        owner->charge_words = NULL;
    }
}

void charge_init(struct schedd *schedd)
{
    user_world_destroy(schedd->users);
    schedd->users = user_world_create(schedd->os, schedd->config);
    forget_words(schedd);
}

void charge_fini(struct schedd *schedd)
{
    user_world_destroy(schedd->users);
    schedd->users = NULL;
}

void charge_begin(struct schedd *schedd)
{
    schedd->charge_lookups = 0;
}

int charge_check_settings(const struct config *config, struct err *err)
{
    const char *map = config_string(config, "ACCOUNTING_MAP");
    const char *const *names = config_list(config, "CLASSAD_USER_MAP_NAMES", NULL);
    if (map == NULL || map[0] == '\0') {
        return 0;
    }
    for (size_t i = 0; names != NULL && names[i] != NULL; i++) {
        if (text_equal_nocase(names[i], map)) {
            return 0;
        }
    }
    return err_set(err, -EINVAL, "ACCOUNTING_MAP '%.100s' is not one of CLASSAD_USER_MAP_NAMES",
                   map);
}

/* Returns the map's words for the owner; NULL: there is no map. */
static const char *words_of(struct schedd *schedd, struct owner *owner)
{
    const char *map = config_string(schedd->config, "ACCOUNTING_MAP");
    if (map == NULL || map[0] == '\0') {
        return NULL;
    }
    if (owner->charge_words == NULL) {
        struct strbuf words;
        uint32_t steps = MAP_STEPS_MAX;
        strbuf_init(&words, 0);
        strbuf_puts(&words, "");
        (void)user_world_map(schedd->users, map, owner->name, &words, &steps); /* nothing: none */
        owner->charge_words = strbuf_take(&words);
    }
    return owner->charge_words;
}

static bool is_account(void *arg, const char *name)
{
    struct schedd *schedd = arg;
    uid_t uid = 0;
    gid_t gid = 0;
    schedd->charge_lookups++;
    return schedd->charge_lookups > LOOKUPS_MAX || strmap_get(schedd->queue.owners, name) != NULL ||
           (owner_name_is_valid(name) && os_user_find(schedd->os, name, &uid, &gid, NULL) == 0);
}

int charge_check(struct schedd *schedd, struct owner *owner, const struct ad *job, struct err *err)
{
    if (!charge_plan_matters(job)) {
        return 0;
    }
    const char *nice = config_string(schedd->config, "NICE_USER_ACCOUNTING_GROUP_NAME");
    const struct charge_rules rules = {
        .owner = owner->name,
        .nice = nice != NULL ? nice : "",
        .words = words_of(schedd, owner),
        .is_account = is_account,
        .arg = schedd,
    };
    int rc = charge_plan_check(job, &rules, err);
    return rc == -EPERM && schedd->charge_lookups > LOOKUPS_MAX
               ? err_set(err, -E2BIG,
                         "more than %d different names in the AccountingGroup of one submission; "
                         "split the submission",
                         LOOKUPS_MAX)
               : rc;
}
