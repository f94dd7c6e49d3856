/* Small texts by which machines go down and come: what programs, kernels and people wrote, for any
 * bytes.  The first byte says whose text the others are; what was understood keeps its bounds, and
 * where there is a way to write it, it is written and read again.
 *
 *   r  ROOSTER_RESERVE                      u  what upsc wrote
 *   z  files of /sys/class/powercap         c  /proc/stat
 *   l  what loginctl wrote                  h  what a plug-in for hibernation wrote, or logind
 *   o  an order to roost-libvirt            a  an answer of roost-libvirt
 *   e  a machine's counter of energy        i  what an inhibitor forbids
 *
 * LINK: startd rooster power virt wire classad base
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "power/libvirt_answer.h"
#include "rooster/guard_plan.h"
#include "rooster/reserve_plan.h"
#include "startd/sleep/hibernate_plan.h"
#include "startd/owner/idle_hint_plan.h"
#include "startd/machine/meter_plan.h"
#include "virt/line_plan.h"
#include "wire/energy_line.h"

#define INPUT_MAX ((size_t)1 << 13)
#define NOW_S     INT64_C(1790000000)
#define WEEK_MIN  (7 * 24 * 60)

/* ---- the reserve */

static void put_rule(const char *text, const struct reserve_rule *rule, struct strbuf *out)
{
    static const char *const DAYS[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    unsigned from = 0, to = 0;
    for (unsigned i = 0; i < 7 && rule->days != 0x7f; i++) { /* days in a row, beyond Saturday */
        bool is = (rule->days >> i & 1u) != 0;
        from = is && (rule->days >> (i + 6) % 7 & 1u) == 0 ? i : from;
        to = is && (rule->days >> (i + 1) % 7 & 1u) == 0 ? i : to;
    }
    if (rule->days != 0x7f) {
        strbuf_printf(out, "%s-%s ", DAYS[from], DAYS[to]);
    }
    strbuf_printf(out, "%02d:%02d-%02d:%02d = ", rule->from_min / 60, rule->from_min % 60,
                  rule->to_min / 60, rule->to_min % 60);
    if (rule->expr_length > 0) {
        CHECK(rule->expr_at + rule->expr_length <= strlen(text) && text[rule->expr_at] == '(');
        strbuf_append(out, text + rule->expr_at, rule->expr_length);
    } else {
        strbuf_printf(out, "%" PRId64, rule->number);
    }
    strbuf_puts(out, rule->is_percent ? "%," : ",");
}

static void reserve(const char *text)
{
    struct reserve is, again;
    struct err err = {""};
    struct strbuf out;
    int rc = reserve_plan_parse(text, &is, &err);
    if (rc != 0) {
        CHECK((rc == -EINVAL || rc == -E2BIG) && err.text[0] != '\0');
        return;
    }
    CHECK(is.count <= RESERVE_RULES_MAX);
    strbuf_init(&out, 0);
    for (size_t i = 0; i < is.count; i++) {
        const struct reserve_rule *rule = &is.rules[i];
        CHECK(rule->days != 0 && rule->days <= 0x7f && rule->number >= 0);
        CHECK(rule->from_min >= 0 && rule->from_min <= 1440 && rule->to_min >= 0);
        CHECK(rule->to_min <= 1440 && (!rule->is_percent || rule->number <= 100));
        put_rule(text, rule, &out);
    }
    CHECK(reserve_plan_parse(strbuf_text(&out), &again, &err) == 0 && again.count == is.count);
    for (int64_t minute = 0; minute < WEEK_MIN; minute += 30) {
        size_t at = reserve_plan_rule_at(&is, NOW_S + minute * 60);
        CHECK(at <= is.count && at == reserve_plan_rule_at(&again, NOW_S + minute * 60));
        CHECK(at == is.count || is.rules[at].number == again.rules[at].number);
    }
    strbuf_fini(&out);
}

/* ---- what a machine draws */

static void ups(const char *text)
{
    struct err err = {""};
    double watts = -7;
    int rc = meter_plan_ups_w(text, &watts, &err);
    CHECK(rc == 0 ? isfinite(watts) && watts >= 0 && watts <= METER_UPS_WATTS_MAX
                  : rc == -ENODATA && watts < -6 && err.text[0] != '\0');
}

/* "DIRECTORY NAME COUNTER", or a counter alone. */
static void zone(char *text)
{
    uint64_t now_uj;
    char *name = strchr(text, ' '), *figure = name != NULL ? strchr(name + 1, ' ') : NULL;
    if (figure != NULL) {
        *name++ = *figure++ = '\0';
        CHECK(!meter_plan_is_counted(text, name) || strncmp(text, "intel-rapl:", 11) == 0);
    }
    if (meter_plan_number(figure != NULL ? figure : text, &now_uj)) {
        for (uint64_t before_uj = 1; before_uj < UINT64_MAX / 1000; before_uj *= 1000) {
            double joules = meter_plan_zone_j(before_uj, now_uj, UINT32_MAX, 60);
            CHECK(joules < 0 || joules <= METER_ZONE_WATTS_MAX * 60);
        }
    }
}

static void cpu(const char *text)
{
    static const char ONE[] = "cpu  100 10 40 800 50 3 7 90 0 0\ncpu0 1 1 1 1\n";
    struct meter_cpu is, one;
    CHECK(meter_plan_cpu(ONE, &one));
    if (meter_plan_cpu(text, &is)) {
        double use = meter_plan_use(&one, &is);
        CHECK(is.count >= 0 && is.count <= (int64_t)strlen(text) && use <= 1 && use >= -1);
        CHECK(meter_plan_use(&is, &is) < 0);
    }
}

static void counter(const char *text)
{
    struct energy_line is = {.name = NULL}, again;
    if (!energy_line_read(text, &is)) {
        CHECK(is.name == NULL);
        return;
    }
    CHECK(isfinite(is.joules) && is.joules >= 0 && isfinite(is.core_s) && is.core_s >= 0);
    CHECK(is.since_s >= 0 && is.name[0] != '\0' && strlen(is.name) <= ENERGY_NAME_MAX);
    struct vec lines = {0};
    energy_line_add(&lines, &is);
    CHECK(energy_line_read(lines.items[0], &again));
    CHECK(again.since_s == is.since_s && strcmp(again.name, is.name) == 0);
    CHECK(fabs(again.joules - is.joules) < 0.001 && fabs(again.core_s - is.core_s) < 0.001);
    vec_fini(&lines, mem_free);
}

/* ---- who uses it, and how it sleeps */

static void hint(const char *text)
{
    struct strbuf two;
    int64_t idle_s = idle_hint_plan_idle_s(text, NOW_S);
    CHECK(idle_s >= -1 && idle_s <= NOW_S);
    strbuf_init(&two, 0); /* one more session, in use: nothing before it hides that */
    strbuf_printf(&two, "%s\n\nType=wayland\nIdleHint=no\n", text);
    CHECK(idle_hint_plan_idle_s(strbuf_text(&two), NOW_S) == 0);
    strbuf_fini(&two);
}

static void plugin(const char *text, size_t length)
{
    struct ad *ad = NULL, *kept = ad_create();
    if (ad_parse_long(text, length, &ad, NULL) == 0) {
        unsigned levels =
            hibernate_plan_parse_levels(ad_string_or(ad, "HibernationSupportedStates", ""));
        CHECK((levels & ~HIBERNATE_LEVELS_ALL) == 0);
        hibernate_plan_put_levels(levels, true, kept);
        CHECK(hibernate_plan_parse_levels(ad_string_or(kept, "HibernationSupportedStates", "")) ==
              levels);
        CHECK(ad_int_or(kept, "HibernationRawMask", -1) >= 0);
    }
    ad_destroy(kept);
    ad_destroy(ad);
}

static void inhibitor(const char *text)
{
    struct strbuf words;
    strbuf_init(&words, 0);
    strbuf_printf(&words, ":%s:", text);
    bool sleep = strstr(strbuf_text(&words), ":sleep:") != NULL;
    bool shutdown = strstr(strbuf_text(&words), ":shutdown:") != NULL;
    strbuf_fini(&words);
    for (int level = 1; level <= 5; level++) { /* to forbid sleep is to forbid S1 to S4 */
        CHECK(hibernate_plan_inhibits(text, level) == (level == 5 ? shutdown : sleep));
    }
}

/* ---- roost-libvirt, both ways */

static void order(const char *text)
{
    static const char *const VERBS[] = {"wake", "sleep", "status", "cancel", "watch", "unwatch"};
    static const char *const HOWS[] = {"shutdown", "acpi", "agent",  "save",
                                       "suspend",  "disk", "destroy"};
    struct virt_line is, again;
    struct err err = {""};
    struct strbuf out;
    if (virt_line_parse(text, &is, &err) != 0) {
        CHECK(err.text[0] != '\0');
        return;
    }
    CHECK((size_t)is.verb < ARRAY_COUNT(VERBS) && (size_t)is.how < ARRAY_COUNT(HOWS));
    CHECK(is.domain[0] != '\0' && strlen(is.domain) < VIRT_DOMAIN_MAX);
    CHECK(is.limit_s <= VIRT_TIME_MAX_S && is.patience_s <= VIRT_TIME_MAX_S);
    strbuf_init(&out, 0);
    strbuf_printf(&out, "%" PRIu64 " %s ", is.id, VERBS[is.verb]);
    if (is.verb == VIRT_SLEEP) {
        strbuf_printf(&out, "%s %" PRIu32 " ", HOWS[is.how], is.patience_s);
    }
    if (is.verb <= VIRT_STATUS) {
        strbuf_printf(&out, "%" PRIu32 " ", is.limit_s);
    }
    strbuf_puts(&out, is.domain);
    CHECK(virt_line_parse(strbuf_text(&out), &again, NULL) == 0);
    CHECK(again.id == is.id && again.verb == is.verb && again.how == is.how);
    CHECK(again.limit_s == is.limit_s && again.patience_s == is.patience_s);
    CHECK(strcmp(again.domain, is.domain) == 0);
    strbuf_fini(&out);
}

static void answer(const char *text)
{
    struct libvirt_answer is = {.text = NULL}, again;
    if (!libvirt_answer_read(text, &is)) {
        CHECK(is.text == NULL);
        return;
    }
    CHECK(is.text >= text && is.text <= text + strlen(text) && is.status <= 0);
    CHECK(is.status > -4096 && (is.state == POWER_UNKNOWN || (is.status != 0 && !is.is_silent)));
    struct strbuf out;
    strbuf_init(&out, 0);
    if (is.state != POWER_UNKNOWN || is.is_silent) {
        const char *word = is.is_silent ? "silent" : is.state == POWER_ON ? "on" : "off";
        strbuf_printf(&out, "%" PRIu64 " %s %s", is.id, word, is.text);
    } else if (is.status == 0) {
        strbuf_printf(&out, "%" PRIu64 " ok %s", is.id, is.text);
    } else {
        strbuf_printf(&out, "%" PRIu64 " error %d %s", is.id, -is.status, is.text);
    }
    CHECK(libvirt_answer_read(strbuf_text(&out), &again));
    CHECK(again.id == is.id && again.status == is.status && again.state == is.state);
    CHECK(again.is_silent == is.is_silent && strcmp(again.text, is.text) == 0);
    strbuf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > INPUT_MAX) {
        return 0;
    }
    char *text = mem_strndup((const char *)data + 1, size - 1); /* up to a zero byte */
    switch (data[0]) {
    case 'r':
        reserve(text);
        break;
    case 'u':
        ups(text);
        break;
    case 'z':
        zone(text);
        break;
    case 'c':
        cpu(text);
        break;
    case 'e':
        counter(text);
        break;
    case 'l':
        hint(text);
        break;
    case 'h':
        plugin((const char *)data + 1, size - 1);
        break;
    case 'i':
        inhibitor(text);
        break;
    case 'o':
        order(text);
        break;
    case 'a':
        answer(text);
        break;
    default:
        break;
    }
    mem_free(text);
    return 0;
}
