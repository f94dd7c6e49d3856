/* factory/site_section.c - reads a `site` section.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "classad/ad.h"
#include "factory/example.h"
#include "factory/site_section.h"

/* A glidein on a host has a lease of a day, and ends before (site/README.md). */
#define HOSTS_LIFETIME_MAX_S 86100
#define MIB                  ((int64_t)1 << 20)

static void copy_list(const struct config_section *section, const char *option, struct vec *ret)
{
    size_t count = 0;
    const char *const *items = section_list(section, option, &count);
    for (size_t i = 0; i < count; i++) {
        vec_push(ret, mem_strdup(items[i]));
    }
}

static char *copy_text(const char *text)
{
    return mem_strdup(text != NULL ? text : "");
}

void site_section_read(const struct config_section *section, struct site_settings *ret)
{
    const char *type = section_string(section, "type");
    *ret = (struct site_settings){0};
    if (type != NULL && strcmp(type, "command") == 0) {
        vec_push(&ret->argv, copy_text(section_path(section, "program")));
    } else {
        vec_push(&ret->argv, copy_text(section_path(section, "helper")));
        vec_push(&ret->argv, copy_text(type));
    }
    vec_push(&ret->argv, NULL);
    copy_list(section, "options", &ret->options);
    copy_list(section, "example", &ret->example);
    ret->pilot = copy_text(section_path(section, "pilot"));
    ret->token = copy_text(section_path(section, "token"));
    ret->cpus = section_int(section, "cpus");
    ret->memory_mib = section_bytes(section, "memory") / MIB;
    ret->lifetime_s = section_duration_s(section, "lifetime");
    ret->idle_timeout_s = section_duration_s(section, "idle_timeout");
    ret->shrink_s = section_duration_s(section, "shrink_delay");
    ret->timeout_s = section_duration_s(section, "timeout");
    ret->queue_timeout_s = section_duration_s(section, "queue_timeout");
    ret->start_timeout_s = section_duration_s(section, "start_timeout");
    ret->limits = (struct grow_limits){.idle = section_int(section, "max_idle"),
                                       .queued = section_int(section, "max_queued"),
                                       .held = section_int(section, "max_held"),
                                       .running = section_int(section, "max_running"),
                                       .total = section_int(section, "max_total"),
                                       .submission = section_int(section, "max_submission")};
    ret->samples = section_int(section, "samples");
    ret->learn = section_bool(section, "learn");
}

void site_settings_fini(struct site_settings *settings)
{
    vec_fini(&settings->argv, mem_free);
    vec_fini(&settings->options, mem_free);
    vec_fini(&settings->example, mem_free);
    mem_free(settings->pilot);
    mem_free(settings->token);
}

bool site_section_is_name(const char *text, bool is_site)
{
    size_t length = 0;
    for (; text[length] != '\0'; length++) {
        char c = text[length];
        if (!text_is_digit(c) && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
            !(c == '-' && is_site)) {
            return false;
        }
    }
    return length > 0 && length <= SITE_NAME_LENGTH && text[0] != '-';
}

/* Returns 0 if the example's lines can be parsed, and the options have the form NAME=VALUE. */
static int check_lists(const struct site_settings *settings, const char *title, struct err *err)
{
    for (size_t i = 0; i < settings->options.count; i++) {
        const char *option = settings->options.items[i];
        if (strchr(option, '=') == NULL || option[0] == '=') {
            return err_set(err, -EINVAL, "site %s: options: '%s' is not of the form NAME=VALUE",
                           title, option);
        }
    }
    struct ad *example;
    int rc = example_make(settings, title, "x", &example, err);
    if (rc == 0) {
        ad_destroy(example);
    }
    return rc;
}

int site_section_check(void *context, const struct config_section *section, struct err *err)
{
    const char *title = section_title(section), *type = section_string(section, "type");
    (void)context;
    if (!site_section_is_name(title, true)) {
        return err_set(err, -EINVAL, "site '%s': a site's name has 1 to %d letters, digits and '-'",
                       title, SITE_NAME_LENGTH);
    }
    if (type == NULL) {
        return err_set(err, -EINVAL, "site %s: type is missing", title);
    }
    if (strcmp(type, "command") == 0 && section_path(section, "program") == NULL) {
        return err_set(err, -EINVAL, "site %s: type command needs program", title);
    }
    struct site_settings settings;
    site_section_read(section, &settings);
    int rc = 0;
    if ((strcmp(type, "process") == 0 || strcmp(type, "ssh") == 0) &&
        settings.lifetime_s > HOSTS_LIFETIME_MAX_S) {
        rc = err_set(err, -ERANGE, "site %s: lifetime: at most %d s at a site of type %s", title,
                     HOSTS_LIFETIME_MAX_S, type);
    } else if (settings.example.count == 0 && !settings.learn) {
        rc = err_set(err, -EINVAL,
                     "site %s: needs example, or learn = true: without either no job could ever "
                     "match it",
                     title);
    }
    rc = rc != 0 ? rc : check_lists(&settings, title, err);
    site_settings_fini(&settings);
    return rc;
}
