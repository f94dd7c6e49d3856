/* classad/ad_func_user.c - built-in functions about users: home directories and maps.  The context
 * provides the data; without it, no user has a home, and no map exists.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/strbuf.h"
#include "classad/ad_evaluator.h"
#include "classad/ad_func.h"

#define HOME_MAX 4096 /* most bytes of a home directory's path, with the terminating zero */

/* userHome(name[, otherwise]).  A text as second argument is the result of every failure. */
void ad_func_user_home(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value name;
    struct ad_value otherwise;
    const struct ad_context *context = ev->context;
    char home[HOME_MAX];
    ad_is_text(&otherwise, "", 0);
    if (call->count > 1) {
        ad_arg(ev, call, 1, &otherwise);
    }
    ad_arg(ev, call, 0, &name);
    if (name.type == AD_TYPE_STRING && context != NULL && context->user_home != NULL &&
        context->user_home(context->arg, name.string.text, home, sizeof(home))) {
        ad_make_string(ev, home, strlen(home), ret);
    } else if (otherwise.type == AD_TYPE_STRING && otherwise.string.length > 0) {
        *ret = otherwise;
    } else if (name.type == AD_TYPE_STRING || name.type == AD_TYPE_UNDEFINED) {
        ad_is(ret, AD_TYPE_UNDEFINED);
    } else {
        ad_is(ret, AD_TYPE_ERROR);
    }
}

/* ---- userMap ---- */

/* Finds the next name in a list with commas, without the blanks around it; false at the end. */
static bool next_name(const char **at, struct ad_value *name)
{
    while (**at != '\0') {
        size_t blanks = strspn(*at, ", \t\r\n");
        const char *from = *at + blanks;
        size_t length = strcspn(from, ",");
        *at = from + length;
        while (length > 0 && strchr(" \t\r\n", from[length - 1]) != NULL) {
            length--;
        }
        if (length > 0) {
            ad_is_text(name, from, length);
            return true;
        }
    }
    return false;
}

/* userMap(map, user): makes a list of all names. */
static void all_names(struct ad_evaluator *ev, const char *names, struct ad_value *ret)
{
    struct ad_value name;
    uint32_t count = 0;
    for (const char *at = names; next_name(&at, &name);) {
        count++;
    }
    struct ad_node *items = ad_make_list(ev, count, ret);
    struct ad_value made = *ret;
    const char *at = names;
    for (uint32_t i = 0; items != NULL && i < count && next_name(&at, &name); i++) {
        struct ad_value copy;
        ad_make_string(ev, name.string.text, name.string.length, &copy);
        ad_list_put(ev, items, i, &copy);
    }
    *ret = made;
}

/* Chooses the preferred name if it is in the list, else the first; false: the list is empty. */
static bool one_name(const char *names, const struct ad_value *preferred, struct ad_value *ret)
{
    struct ad_value name;
    bool any = false;
    for (const char *at = names; next_name(&at, &name); any = true) {
        bool is_it = preferred->type == AD_TYPE_STRING &&
                     name.string.length == preferred->string.length &&
                     ad_name_equal(name.string.text, preferred->string.text, name.string.length);
        if (!any || is_it) {
            *ret = name;
        }
        if (is_it) {
            return true;
        }
    }
    return any;
}

/* userMap(map, user): a list of names. userMap(map, user, preferred[, otherwise]): one of them. */
void ad_func_user_map(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value args[4] = {{.type = AD_TYPE_UNDEFINED}};
    const struct ad_context *context = ev->context;
    for (uint32_t i = 0; i < call->count; i++) {
        ad_arg(ev, call, i, &args[i]);
    }
    *ret = args[3]; /* undefined when it is not given */
    if (args[0].type != AD_TYPE_STRING || args[1].type != AD_TYPE_STRING) {
        if (args[0].type == AD_TYPE_ERROR || args[1].type == AD_TYPE_ERROR) {
            ad_is(ret, AD_TYPE_ERROR);
        }
        return;
    }
    struct strbuf names;
    struct ad_value name;
    strbuf_init(&names, AD_STRING_MAX);
    if (context != NULL && context->is_timely != NULL) {
        *context->is_timely = true; /* maps change at a reload */
    }
    if (context != NULL && context->user_map != NULL &&
        context->user_map(context->arg, args[0].string.text, args[1].string.text, &names,
                          &ev->steps_left) &&
        ad_evaluator_spend(ev, names.length / 16)) {
        if (call->count == 2) {
            all_names(ev, strbuf_text(&names), ret);
        } else if (one_name(strbuf_text(&names), &args[2], &name)) {
            ad_make_string(ev, name.string.text, name.string.length, ret);
        }
    }
    strbuf_fini(&names);
    if (ev->steps_left == 0) {
        (void)ad_evaluator_fail(ev);
    }
}
