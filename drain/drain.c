/* drain/drain.c - names of draining; converts requests to and from ads: see drain.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "drain/drain.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "classad/ad.h"

static const struct {
    const char *name;
    int number;
} SCHEDULES[] = {[DRAIN_GRACEFUL] = {"graceful", 0},
                 [DRAIN_QUICK] = {"quick", 10},
                 [DRAIN_FAST] = {"fast", 20},
                 [DRAIN_PEACEFUL] = {"peaceful", -10}};

/* A value's index is HTCondor's number for it; HTCondor has numbers below this one. */
#define THEN_NUMBERS 4
static const char *const THENS[] = {
    [DRAIN_THEN_STAY] = "stay",       [DRAIN_THEN_RESUME] = "resume", [DRAIN_THEN_EXIT] = "exit",
    [DRAIN_THEN_RESTART] = "restart", [DRAIN_THEN_SLEEP] = "sleep",   [DRAIN_THEN_OFF] = "off"};

const char *drain_schedule_name(enum drain_schedule schedule)
{
    CHECK((size_t)schedule < ARRAY_COUNT(SCHEDULES));
    return SCHEDULES[schedule].name;
}

int drain_schedule_number(enum drain_schedule schedule)
{
    CHECK((size_t)schedule < ARRAY_COUNT(SCHEDULES));
    return SCHEDULES[schedule].number;
}

int drain_schedule_parse(const char *text, enum drain_schedule *ret)
{
    for (size_t i = 0; i < ARRAY_COUNT(SCHEDULES); i++) {
        if (text_equal_nocase(text, SCHEDULES[i].name)) {
            *ret = (enum drain_schedule)i;
            return 0;
        }
    }
    return -EINVAL;
}

const char *drain_then_name(enum drain_then then)
{
    CHECK((size_t)then < ARRAY_COUNT(THENS));
    return THENS[then];
}

int drain_then_parse(const char *text, enum drain_then *ret)
{
    for (size_t i = 0; i < ARRAY_COUNT(THENS); i++) {
        if (text_equal_nocase(text, THENS[i])) {
            *ret = (enum drain_then)i;
            return 0;
        }
    }
    return -EINVAL;
}

/* ---- a request from an ad */

static enum drain_code bad_argument(struct err *err, const char *name, const char *what)
{
    (void)err_set(err, -EINVAL, "%s: %s", name, what);
    return DRAIN_BAD_REQUEST;
}

/* Reads a name or one of HTCondor's numbers; a number between two schedules means the faster
 * one. */
static enum drain_code read_schedule(const struct ad *args, enum drain_schedule *ret,
                                     struct err *err)
{
    struct ad_value value;
    enum drain_code code = DRAIN_OK;
    (void)ad_eval_attr(args, NULL, "HowFast", NULL, &value); /* absent: undefined */
    if (value.type == AD_TYPE_INT) {
        *ret = value.integer <= -10  ? DRAIN_PEACEFUL
               : value.integer <= 0  ? DRAIN_GRACEFUL
               : value.integer <= 10 ? DRAIN_QUICK
                                     : DRAIN_FAST;
    } else if (value.type != AD_TYPE_UNDEFINED &&
               (value.type != AD_TYPE_STRING ||
                drain_schedule_parse(value.string.text, ret) != 0)) {
        code = bad_argument(err, "HowFast", "must be graceful, quick, fast or peaceful");
    }
    ad_value_fini(&value);
    return code;
}

static enum drain_code read_then(const struct ad *args, enum drain_then *ret, struct err *err)
{
    struct ad_value value;
    enum drain_code code = DRAIN_OK;
    (void)ad_eval_attr(args, NULL, "OnCompletion", NULL, &value);
    if (value.type == AD_TYPE_INT && value.integer >= 0 && value.integer < THEN_NUMBERS) {
        *ret = (enum drain_then)value.integer;
    } else if (value.type != AD_TYPE_UNDEFINED &&
               (value.type != AD_TYPE_STRING || drain_then_parse(value.string.text, ret) != 0)) {
        code =
            bad_argument(err, "OnCompletion", "must be stay, resume, exit, restart, sleep or off");
    }
    ad_value_fini(&value);
    return code;
}

static enum drain_code read_text(const struct ad *args, const char *name, bool is_expr, char **ret,
                                 struct err *err)
{
    const char *text;
    int rc = ad_get_string(args, name, &text);
    if (rc == -ENOENT || (rc == 0 && text[0] == '\0')) {
        return DRAIN_OK;
    }
    if (rc != 0) {
        return bad_argument(err, name, "must be a string");
    }
    if (strlen(text) > DRAIN_TEXT_MAX) {
        return bad_argument(err, name, "is too long");
    }
    if (is_expr) {
        struct ad_expr *expr = NULL;
        struct err why;
        if (ad_expr_parse(text, strlen(text), AD_OLD, &expr, &why) != 0) {
            return bad_argument(err, name, why.text);
        }
        ad_expr_destroy(expr);
    }
    *ret = mem_strdup(text);
    return DRAIN_OK;
}

static enum drain_code read_slots(const struct ad *args, struct drain_request *ret, struct err *err)
{
    struct ad_value list;
    enum drain_code code = DRAIN_OK;
    (void)ad_eval_attr(args, NULL, "Slots", NULL, &list);
    size_t count = ad_value_count(&list);
    if (list.type != AD_TYPE_LIST) {
        code = list.type == AD_TYPE_UNDEFINED
                   ? DRAIN_OK
                   : bad_argument(err, "Slots", "must be a list of names");
    } else if (count == 0 || count > DRAIN_SLOTS_MAX) {
        code = bad_argument(err, "Slots", "has no names, or too many");
    } else {
        ret->slots = mem_zalloc(count * sizeof *ret->slots);
    }
    for (size_t i = 0; i < count && code == DRAIN_OK; i++) {
        struct ad_value item;
        ad_value_item(&list, i, &item);
        if (item.type != AD_TYPE_STRING || item.string.text[0] == '\0' ||
            strlen(item.string.text) >= DRAIN_NAME_MAX) {
            code = bad_argument(err, "Slots", "must be a list of names");
        } else {
            ret->slots[ret->slot_count++] = mem_strdup(item.string.text);
        }
        ad_value_fini(&item);
    }
    ad_value_fini(&list);
    return code;
}

/* Reads a number from 0 to max; *ret is unchanged if the attribute is missing. */
static enum drain_code read_seconds(const struct ad *args, const char *name, int64_t max,
                                    int64_t *ret, struct err *err)
{
    int64_t value = *ret;
    int rc = ad_get_int(args, name, &value);
    if ((rc != 0 && rc != -ENOENT) || value < 0 || value > max) {
        return bad_argument(err, name, "is not a valid time");
    }
    *ret = value;
    return DRAIN_OK;
}

static enum drain_code read_all(const struct ad *args, struct drain_request *ret, struct err *err)
{
    ret->commit_s = DRAIN_COMMIT_S;
    enum drain_code code = read_schedule(args, &ret->schedule, err);
    code = code != DRAIN_OK ? code : read_then(args, &ret->then, err);
    code = code != DRAIN_OK ? code : read_slots(args, ret, err);
    code = code != DRAIN_OK ? code : read_text(args, "CheckExpr", true, &ret->check, err);
    code = code != DRAIN_OK ? code : read_text(args, "StartExpr", true, &ret->start, err);
    code = code != DRAIN_OK ? code : read_text(args, "DrainReason", false, &ret->reason, err);
    code = code != DRAIN_OK
               ? code
               : read_seconds(args, "DrainDeadline", DRAIN_ESTIMATE_S, &ret->deadline_s, err);
    code = code != DRAIN_OK
               ? code
               : read_seconds(args, "CommitWithin", DRAIN_COMMIT_S, &ret->commit_s, err);
    if (ret->commit_s == 0) {
        ret->commit_s = 1;
    }
    ret->estimate = ad_bool_or(args, "EstimateOnly", false);
    ret->reclaimable = ad_bool_or(args, "Reclaimable", false);
    if (code == DRAIN_OK && ret->reclaimable && ret->then != DRAIN_THEN_SLEEP &&
        ret->then != DRAIN_THEN_OFF) {
        code = bad_argument(err, "Reclaimable", "is possible only with OnCompletion sleep or off");
    }
    if (code == DRAIN_OK && ret->slot_count > 0 && ret->then > DRAIN_THEN_RESUME) {
        code = bad_argument(err, "OnCompletion",
                            "with Slots, must be stay or resume, because other slots still run");
    }
    return code;
}

enum drain_code drain_request_read(const struct ad *args, struct drain_request *ret,
                                   struct err *err)
{
    *ret = (struct drain_request){0};
    enum drain_code code = read_all(args, ret, err);
    if (code != DRAIN_OK) {
        drain_request_fini(ret);
    }
    return code;
}

void drain_request_write(const struct drain_request *request, struct ad *args)
{
    ad_set_string(args, "HowFast", drain_schedule_name(request->schedule));
    ad_set_string(args, "OnCompletion", drain_then_name(request->then));
    const struct {
        const char *name, *text;
    } texts[] = {{"CheckExpr", request->check},
                 {"StartExpr", request->start},
                 {"DrainReason", request->reason}};
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        if (texts[i].text != NULL) {
            ad_set_string(args, texts[i].name, texts[i].text);
        }
    }
    if (request->slot_count > 0) {
        ad_set_strings(args, "Slots", (const char *const *)request->slots, request->slot_count);
    }
    if (request->deadline_s > 0) {
        ad_set_int(args, "DrainDeadline", request->deadline_s);
    }
    if (request->commit_s > 0) {
        ad_set_int(args, "CommitWithin", request->commit_s);
    }
    if (request->reclaimable) {
        ad_set_bool(args, "Reclaimable", true);
    }
    if (request->estimate) {
        ad_set_bool(args, "EstimateOnly", true);
    }
}

void drain_request_fini(struct drain_request *request)
{
    for (size_t i = 0; i < request->slot_count; i++) {
        mem_free(request->slots[i]);
    }
    mem_free(request->slots);
    mem_free(request->check);
    mem_free(request->start);
    mem_free(request->reason);
    *request = (struct drain_request){0};
}

/* Returns whether name is the wanted slot or a piece of it: "slot1_2" for "slot1".  If both have
 * "@machine", it must be the same.  The request was sent to this machine, so a name without it is
 * this machine's. */
static bool is_of(const char *name, const char *wanted)
{
    size_t length = strcspn(wanted, "@");
    if (strncmp(name, wanted, length) != 0) {
        return false;
    }
    const char *machine = strchr(name, '@');
    if (wanted[length] == '@' &&
        (machine == NULL || !text_equal_nocase(machine, wanted + length))) {
        return false;
    }
    bool is_piece_of = name[length] == '_' && memchr(wanted, '_', length) == NULL;
    return name[length] == '\0' || name[length] == '@' || is_piece_of;
}

bool drain_request_names(const struct drain_request *request, const char *name)
{
    for (size_t i = 0; i < request->slot_count; i++) {
        if (is_of(name, request->slots[i])) {
            return true;
        }
    }
    return request->slot_count == 0;
}
