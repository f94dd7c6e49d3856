/* site/batch_common.c - see batch_common.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "site/batch_common.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"
#include "site/site_common.h"

#define ENV "/usr/bin/env" /* finds the batch system's programs in PATH */

void batch_words_begin(struct vec *words, const char *program)
{
    *words = (struct vec){0};
    vec_push(words, mem_strdup(ENV));
    vec_push(words, mem_strdup(program));
}

void batch_words_push(struct vec *words, const char *prefix, const char *value)
{
    struct strbuf word;
    strbuf_init(&word, 0);
    strbuf_puts(&word, prefix);
    strbuf_puts(&word, value);
    vec_push(words, strbuf_take(&word));
}

void batch_words_push_number(struct vec *words, const char *prefix, int64_t number)
{
    char text[TEXT_DECIMAL_MAX + 2];
    (void)snprintf(text, sizeof(text), "%" PRId64, number);
    batch_words_push(words, prefix, text);
}

void batch_words_run(const struct site *site, struct vec *words, const char *input, size_t length,
                     struct site_program *ret)
{
    const struct batch_site *batch = site->own;
    vec_push(words, NULL);
    *ret = (struct site_program){.argv = (const char *const *)words->items,
                                 .joins_lines = batch->kind->joins_lines,
                                 .steps = {{.text = input, .length = length}},
                                 .step_count = 1};
    site_programs_run(site->loop, site->os, ret, 1, 1, site->end_ms);
    ret->argv = NULL;
    vec_fini(words, mem_free);
}

bool batch_why(const struct site_program *program, const char *name, struct err *err)
{
    char why[SITE_COMPLAINT_MAX + 64];
    site_program_why(program, why, sizeof(why));
    (void)err_set(err, -EIO, "%s: %s", name, why);
    return program->end == SITE_ENDED && program->how.signal == 0 && program->how.status != 126 &&
           program->how.status != 127; /* env found no such program */
}

void batch_add_task(const struct site *site, const struct batch_task *task, struct strmap *tasks)
{
    if (!site_is_ours(site, task->name)) {
        return;
    }
    struct batch_task *known = strmap_get(tasks, task->name);
    if (known == NULL) {
        (void)strmap_set(tasks, task->name, mem_dup(task, sizeof(*task)));
    } else if (known->life == BATCH_ENDED) {
        *known = *task;
    }
}
