/* factory/site_section.h - reads and checks the `site` sections of the configuration.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FACTORY_SITE_SECTION_H
#define FACTORY_SITE_SECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "factory/grow_plan.h"

struct config_section;
struct err;

#define SITE_NAME_LENGTH 20 /* most letters of the name of a site or factory */

/* What a section says. */
struct site_settings {
    struct vec argv; /* of the site's program, ended by NULL */
    struct vec options;
    char *pilot;
    char *token; /* path of the bundle that all glideins get; "": each gets a ticket */
    int64_t cpus, memory_mib, lifetime_s, idle_timeout_s, shrink_s, timeout_s;
    int64_t queue_timeout_s, start_timeout_s;
    struct grow_limits limits;
    int64_t samples; /* so many are kept */
    struct vec example;
    bool learn;
};

void site_section_read(const struct config_section *section, struct site_settings *ret);
void site_settings_fini(struct site_settings *settings);
/* Returns whether text can be the name of a site or factory: 1 to SITE_NAME_LENGTH letters and
 * digits; of a site also '-', but not first, so that no two names of glideins are alike. */
bool site_section_is_name(const char *text, bool is_site);
/* Checks a section by what its type needs.  context: not used.  Returns 0; or -EINVAL with err,
 * which names the site and the option. */
int site_section_check(void *context, const struct config_section *section, struct err *err);

#endif
