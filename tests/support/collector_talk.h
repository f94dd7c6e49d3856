/* tests/support/collector_talk.h - short functions for talking to a collector of a bed
 * (collector_bed.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_SUPPORT_COLLECTOR_TALK_H
#define TESTS_SUPPORT_COLLECTOR_TALK_H

#include "base/strbuf.h"
#include "tests/support/collector_bed.h"

/* Setup of a test: makes a bed with the configuration config, whose collector runs, as *state;
 * remove_bed() destroys the bed. */
static inline int make_bed_with(void **state, const char *config)
{
    struct bed *bed = bed_create(config);
    bed_start(bed);
    bed_find_address(bed);
    *state = bed;
    return 0;
}

static inline int remove_bed(void **state)
{
    bed_destroy(*state);
    return 0;
}

static inline void restart(struct bed *bed)
{
    bed_stop(bed);
    bed_start(bed);
    bed_find_address(bed);
}

static inline struct client *dial(struct bed *bed, uint32_t scopes)
{
    struct client *client = client_dial(bed, scopes, "", NULL, NULL);
    if (client->status) {
        fail_msg("%s", client->why);
    }
    return client;
}

static inline void expect(struct client *client, int status, enum wire_verb verb, const char *args,
                          const char *ad, const char *words)
{
    const char *const ads[] = {ad, NULL};
    struct answer answer;
    if (client_call(client, verb, args, ads, &answer) != status || !strstr(answer.text, words)) {
        fail_msg("%s %s: %d '%s', expected %d '%s'", wire_verb_name(verb), args, answer.status,
                 answer.text, status, words);
    }
    answer_fini(&answer);
}

#define OK(client, verb, args, ad) expect(client, 0, verb, args, ad, "")

/* Returns the value of one attribute in all ads of that type for which constraint is true ("": all
 * ads), as "NAME=VALUE " for each ad; VALUE is "-" where the attribute is absent. */
static inline const char *show_where(struct client *client, const char *type,
                                     const char *constraint, const char *attribute)
{
    static char text[4096];
    char args[1024];
    struct answer answer;
    snprintf(args, sizeof(args), "[ Type = \"%s\"; Constraint = \"%s\" ]", type, constraint);
    assert_int_equal(client_call(client, VERB_QUERY, args, NULL, &answer), 0);
    assert_int_equal(ad_int_or(answer.args, "Count", -1), answer.ads.count);
    text[0] = '\0';
    for (size_t i = 0; i < answer.ads.count; i++) {
        struct ad_value value;
        struct strbuf out;
        strbuf_init(&out, 0);
        if (ad_eval_attr(answer.ads.items[i], NULL, attribute, NULL, &value) == 0) {
            ad_value_print_bare(&value, &out);
        } else {
            strbuf_putc(&out, '-');
        }
        size_t used = strlen(text);
        snprintf(text + used, sizeof(text) - used, "%s=%s ",
                 ad_string_or(answer.ads.items[i], "Name", "?"), strbuf_text(&out));
        ad_value_fini(&value);
        strbuf_fini(&out);
    }
    answer_fini(&answer);
    return text;
}

static inline const char *show(struct client *client, const char *type, const char *attribute)
{
    return show_where(client, type, "", attribute);
}

#define LIVE(slot, boot, more)                                                                   \
    "[ MyType = \"Machine\"; Name = \"slot" slot "@wn01\"; Machine = \"wn01\"; BootId = \"" boot \
    "\"; State = \"Unclaimed\"; " more " ]"
#define ASLEEP(slot, boot)                                                                      \
    "[ MyType = \"Machine\"; Name = \"slot" slot "@wn01\"; Machine = \"wn01\"; Offline = true;" \
    " OfflineBootId = \"" boot "\"; ClassAdLifetime = 86400 ]"

#endif
