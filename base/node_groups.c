/* base/node_groups.c - see node_groups.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/node_groups.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/daemon/daemon_checking.h"
#include "base/err.h"
#include "base/hostlist.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"

#define PREFIX   "NODE_GROUP_"
#define KNOB_MAX 160 /* bytes; longer than a name in a file may be */

/* Returns the name of the next group, as the knob spells it; NULL at the end. */
static const char *next_group(const struct config *config, size_t *at)
{
    const char *name = NULL;
    const struct knob *knob = NULL;
    while (config_next(config, at, &name, &knob)) {
        if (knob == NULL && text_glob(PREFIX "?*", name, true)) {
            return name + strlen(PREFIX);
        }
    }
    return NULL;
}

int node_groups_find(const struct config *config, const char *name, const char **ret,
                     struct err *err)
{
    char knob[KNOB_MAX];
    int length = snprintf(knob, sizeof knob, PREFIX "%s", name);
    const char *text =
        length > 0 && (size_t)length < sizeof knob ? config_text(config, knob) : NULL;
    if (text != NULL && text[0] != '\0') {
        *ret = text;
        return 0;
    }
    size_t at = 0, distance = text_near_enough(name) + 1;
    const char *nearest = NULL;
    for (const char *group = next_group(config, &at); group != NULL;
         group = next_group(config, &at)) {
        if (!text_equal_nocase(group, name)) {
            text_take_nearer(group, name, &nearest, &distance);
        }
    }
    return err_set(err, -EINVAL,
                   "no group '@%.60s': the configuration sets no " PREFIX "%.60s%s%.60s", name,
                   name, nearest != NULL ? "; did you mean @" : "", nearest != NULL ? nearest : "");
}

static int machines_of(void *arg, const char *name, const char **ret, struct err *err)
{
    return node_groups_find(arg, name, ret, err);
}

void node_groups_check(const struct daemon_checking *checking)
{
    const struct hostlist_groups groups = {.machines_of = machines_of,
                                           .arg = (void *)checking->config};
    size_t at = 0;
    for (const char *group = next_group(checking->config, &at); group != NULL;
         group = next_group(checking->config, &at)) {
        char knob[KNOB_MAX];
        struct vec names = {0};
        struct err err;
        (void)snprintf(knob, sizeof knob, PREFIX "%s", group);
        const char *text = config_text(checking->config, knob);
        if (text != NULL && text[0] != '\0' && hostlist_expand(text, &groups, &names, &err) != 0) {
            daemon_doubt(checking, knob, "%s: %s", knob, err.text);
        }
        vec_fini(&names, mem_free);
    }
}
