/* cli/wait_log_plan.c - see wait_log_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/wait_log_plan.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"
#include "eventlog/event_reader.h"
#include "eventlog/event_text.h"

void wait_log_init(struct wait_log *wait)
{
    *wait = (struct wait_log){.cluster = -1, .proc = -1};
    wait->active = strmap_create(STRMAP_CASE_SENSITIVE);
}

void wait_log_fini(struct wait_log *wait)
{
    if (wait->active != NULL) {
        strmap_destroy(wait->active, NULL);
        wait->active = NULL;
    }
}

bool wait_log_set_job(struct wait_log *wait, const char *id)
{
    int64_t parts[3] = {-1, -1, -1};
    const char *at = id;
    for (size_t i = 0; i < 3; i++) {
        char number[24];
        size_t length = strcspn(at, ".");
        if (length == 0 || length >= sizeof(number) || strspn(at, "0123456789") < length) {
            return false;
        }
        memcpy(number, at, length);
        number[length] = '\0';
        if (text_parse_int64(number, &parts[i], NULL) != 0) {
            return false;
        }
        at += length;
        if (*at == '\0') {
            wait->cluster = parts[0];
            wait->proc = parts[1];
            return true;
        }
        at++;
    }
    return false;
}

static void print_event(const struct wait_log *wait, const struct event_entry *event,
                        struct strbuf *out)
{
    static const struct {
        int64_t type;
        const char *word;
    } WORDS[] = {
        {EVENT_SUBMIT, "submitted"},         {EVENT_CLUSTER_SUBMIT, "submitted"},
        {EVENT_EXECUTE, "executing"},        {EVENT_EVICTED, "evicted"},
        {EVENT_TERMINATED, "terminated"},    {EVENT_ABORTED, "aborted"},
        {EVENT_DATAFLOW_SKIPPED, "skipped"}, {EVENT_SUSPENDED, "suspended"},
        {EVENT_UNSUSPENDED, "unsuspended"},  {EVENT_HELD, "held"},
        {EVENT_RELEASED, "released"},        {EVENT_CLUSTER_REMOVE, "removed"},
    };
    for (size_t i = 0; wait->status && i < sizeof(WORDS) / sizeof(WORDS[0]); i++) {
        if (WORDS[i].type == event->type && event->proc >= 0) {
            strbuf_printf(out, "%" PRId64 ".%" PRId64 ".0 %s\n", event->cluster, event->proc,
                          WORDS[i].word);
        } else if (WORDS[i].type == event->type) {
            strbuf_printf(out, "%" PRId64 " %s\n", event->cluster, WORDS[i].word);
        }
    }
    if (wait->echo) {
        strbuf_append(out, event->text, event->length);
    }
}

void wait_log_event(struct wait_log *wait, const struct event_entry *event, struct strbuf *out)
{
    static const char PRESENT[] = "";
    bool of_cluster = event->type == EVENT_CLUSTER_SUBMIT || event->type == EVENT_CLUSTER_REMOVE;
    if ((wait->cluster >= 0 && event->cluster != wait->cluster) ||
        (wait->proc >= 0 && (of_cluster || event->proc != wait->proc))) {
        return;
    }
    struct strbuf key;
    strbuf_init(&key, 0);
    strbuf_printf(&key, "%" PRId64 ".%" PRId64, event->cluster, event->proc);
    switch (event->type) {
    case EVENT_SUBMIT:
    case EVENT_CLUSTER_SUBMIT:
        wait->seen++;
        (void)strmap_set(wait->active, strbuf_text(&key),
                         (void *)(uintptr_t)PRESENT); /* a log that was joined says it again */
        break;
    case EVENT_TERMINATED:
    case EVENT_ABORTED:
    case EVENT_DATAFLOW_SKIPPED:
        wait->over++;
        (void)strmap_remove(wait->active,
                            strbuf_text(&key)); /* absent: the log begins behind its submission */
        break;
    case EVENT_CLUSTER_REMOVE:
        (void)strmap_remove(wait->active, strbuf_text(&key)); /* as above */
        break;
    default:
        break;
    }
    strbuf_fini(&key);
    print_event(wait, event, out);
}

bool wait_log_is_done(const struct wait_log *wait)
{
    if (wait->number > 0) {
        return wait->over >= (size_t)wait->number;
    }
    return wait->seen + wait->over > 0 && strmap_count(wait->active) == 0;
}
