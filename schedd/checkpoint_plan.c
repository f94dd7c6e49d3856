/* schedd/checkpoint_plan.c - see checkpoint_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/checkpoint_plan.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/check.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "wire/checkpoint_attrs.h"

/* Private attributes: three about the present run; the books: the state at each kept checkpoint. */
#define RUN_COUNT     "RunCkpts"
#define RUN_SAVED     "RunSavedTime"
#define RUN_SUSPENDED "RunSavedSuspensionTime"
#define BOOKS         "CkptBooks"

/* The committed times, which a book keeps. */
static const char *const COMMITTED[] = {"CommittedTime", "CommittedSlotTime",
                                        "CommittedSuspensionTime"};

/* The attributes of the latest checkpoint, which a book keeps, too: they are restored when the
 * checkpoint before becomes the latest again. */
static const char *const OF_LATEST[] = {CKPT_LAST_TIME, CKPT_IMAGE_BYTES, CKPT_FILES_BYTES,
                                        CKPT_ARCH,      CKPT_OPSYS,       CKPT_PLATFORM,
                                        CKPT_FEATURES};

/* ---- books ----------------------------------------------------------------------------------- */

static void book_name(int64_t sequence, struct strbuf *ret)
{
    strbuf_clear(ret);
    strbuf_printf(ret, "s%" PRId64, sequence);
}

static void copy_literal(struct ad *to, const struct ad *from, const char *name)
{
    const struct ad_expr *expr = ad_lookup(from, name);
    if (expr != NULL && ad_expr_is_literal(expr)) {
        (void)ad_copy_attr(to, name, from, name); /* it is there */
    } else {
        ad_remove(to, name);
    }
}

static void copy_book(struct ad *to, const struct ad *from)
{
    for (size_t i = 0; i < ARRAY_COUNT(COMMITTED); i++) {
        copy_literal(to, from, COMMITTED[i]);
    }
    for (size_t i = 0; i < ARRAY_COUNT(OF_LATEST); i++) {
        copy_literal(to, from, OF_LATEST[i]);
    }
}

static const struct ad *book_of(const struct ad *own, int64_t sequence)
{
    const struct ad *books = NULL, *book = NULL;
    struct strbuf name;
    strbuf_init(&name, 0);
    book_name(sequence, &name);
    bool found =
        ad_get_ad(own, BOOKS, &books) == 0 && ad_get_ad(books, strbuf_text(&name), &book) == 0;
    strbuf_fini(&name);
    return found ? book : NULL;
}

/* Writes the book of this checkpoint from the ad as it is now.  The books of the start (0) and of
 * the checkpoint before are kept, all others dropped. */
static void write_book(struct ad *own, int64_t sequence, int64_t previous)
{
    struct ad *books = ad_create(), *book = ad_create();
    struct strbuf name;
    const int64_t KEPT[] = {0, previous};
    strbuf_init(&name, 0);
    for (size_t i = 0; i < ARRAY_COUNT(KEPT); i++) {
        const struct ad *old = book_of(own, KEPT[i]);
        if (old != NULL && KEPT[i] != sequence) {
            book_name(KEPT[i], &name);
            ad_set_ad(books, strbuf_text(&name), ad_copy(old));
        }
    }
    copy_book(book, own);
    book_name(sequence, &name);
    ad_set_ad(books, strbuf_text(&name), book);
    ad_set_ad(own, BOOKS, books);
    strbuf_fini(&name);
}

/* ---- turns ----------------------------------------------------------------------------------- */

void checkpoint_plan_run_begins(struct ad *own)
{
    ad_remove(own, RUN_COUNT);
    ad_remove(own, RUN_SAVED);
    ad_remove(own, RUN_SUSPENDED);
}

bool checkpoint_plan_run_has_one(const struct ad *own)
{
    return own != NULL && ad_int_or(own, RUN_COUNT, 0) > 0;
}

int64_t checkpoint_plan_run_saved_s(const struct ad *own)
{
    return ad_int_or(own, RUN_SAVED, 0);
}

int64_t checkpoint_plan_suspension_saved_s(const struct ad *own)
{
    return ad_int_or(own, RUN_SUSPENDED, 0);
}

static void add_int(struct ad *own, const char *name, int64_t more)
{
    ad_set_int(own, name, ad_int_or(own, name, 0) + more);
}

/* Adds to the committed times what this checkpoint saved.  As a run's length does, the times
 * include suspensions; CommittedSuspensionTime says how much that is. */
static void commit_time(struct ad *own, const struct ad *told, const struct checkpoint_facts *facts)
{
    double said = ad_real_or(told, CKPT_RUN_SECONDS, 0);
    double run = said > 0 ? said + (double)facts->suspended_s : 0;
    int64_t run_s = run < (double)facts->run_max_s ? (int64_t)run : facts->run_max_s;
    int64_t more_s = run_s - checkpoint_plan_run_saved_s(own);
    int64_t stood_s = facts->suspended_s - checkpoint_plan_suspension_saved_s(own);
    if (more_s > 0) {
        add_int(own, "CommittedTime", more_s);
        ad_set_real(own, "CommittedSlotTime",
                    ad_real_or(own, "CommittedSlotTime", 0) + (double)more_s * facts->weight);
        ad_set_int(own, RUN_SAVED, run_s);
    }
    if (stood_s > 0) {
        add_int(own, "CommittedSuspensionTime", stood_s);
        ad_set_int(own, RUN_SUSPENDED, facts->suspended_s);
    }
}

bool checkpoint_plan_taken(struct ad *own, const struct ad *told,
                           const struct checkpoint_facts *facts)
{
    int64_t sequence = ad_int_or(told, CKPT_SEQUENCE, 0);
    int64_t previous = ad_int_or(told, CKPT_PREVIOUS, 0);
    if (sequence <= ad_int_or(own, CKPT_SEQUENCE, 0)) {
        return false;
    }
    ad_set_int(own, CKPT_SEQUENCE, sequence);
    ad_set_int(own, CKPT_PREVIOUS, previous > 0 && previous < sequence ? previous : 0);
    add_int(own, CKPT_NUMBER, 1);
    add_int(own, RUN_COUNT, 1);
    for (size_t i = 0; i < ARRAY_COUNT(OF_LATEST); i++) {
        copy_literal(own, told, OF_LATEST[i]);
    }
    int64_t when_s = ad_int_or(told, CKPT_LAST_TIME, 0);
    if (when_s > facts->now_s || when_s < facts->began_s) { /* that machine's clock is wrong */
        ad_set_int(own, CKPT_LAST_TIME, facts->now_s);
    }
    ad_remove(own, CKPT_REFUSED);
    ad_remove(own, CKPT_ANYWHERE);
    commit_time(own, told, facts);
    write_book(own, sequence, ad_int_or(own, CKPT_PREVIOUS, 0));
    return true;
}

void checkpoint_plan_refused(struct ad *own, const struct ad *told)
{
    int64_t sequence = ad_int_or(told, CKPT_SEQUENCE, 0);
    ad_set_string(own, CKPT_REFUSED, ad_string_or(told, "Reason", "no reason given"));
    if (!ad_bool_or(told, "Damaged", false)) {
        return;
    }
    if (sequence == ad_int_or(own, CKPT_PREVIOUS, 0)) {
        ad_set_int(own, CKPT_PREVIOUS, 0);
    }
    if (sequence != ad_int_or(own, CKPT_SEQUENCE, 0)) {
        return;
    }
    int64_t previous = ad_int_or(told, CKPT_PREVIOUS, 0);
    const struct ad *book = previous > 0 ? book_of(own, previous) : NULL;
    for (size_t i = 0; i < ARRAY_COUNT(OF_LATEST); i++) {
        if (book != NULL) {
            copy_literal(own, book, OF_LATEST[i]);
        } else {
            ad_remove(own, OF_LATEST[i]);
        }
    }
    ad_set_int(own, CKPT_SEQUENCE, previous > 0 ? previous : 0);
    ad_set_int(own, CKPT_PREVIOUS, 0);
}

void checkpoint_plan_resumed(struct ad *own, int64_t sequence)
{
    const struct ad *book = book_of(own, sequence);
    if (sequence > 0) {
        add_int(own, "NumRestarts", 1);
    }
    for (size_t i = 0; i < ARRAY_COUNT(COMMITTED) && book != NULL; i++) {
        if (ad_has(book, COMMITTED[i])) {
            (void)ad_copy_attr(own, COMMITTED[i], book, COMMITTED[i]); /* it is there */
        }
    }
    if (sequence == 0 && book == NULL && ad_has(own, BOOKS)) { /* what was saved is not used */
        ad_set_int(own, "CommittedTime", 0);
        ad_set_real(own, "CommittedSlotTime", 0);
        ad_set_int(own, "CommittedSuspensionTime", 0);
    }
}

bool checkpoint_plan_forget(struct ad *own)
{
    static const char *const FORGOTTEN[] = {CKPT_SEQUENCE, CKPT_PREVIOUS, CKPT_FILES_BYTES,
                                            CKPT_ARCH,     CKPT_OPSYS,    CKPT_PLATFORM,
                                            CKPT_FEATURES, CKPT_REFUSED,  CKPT_ANYWHERE};
    bool had = ad_int_or(own, CKPT_SEQUENCE, 0) > 0;
    if (!had && !ad_has(own, BOOKS) && !ad_has(own, CKPT_ARCH)) {
        return false;
    }
    for (size_t i = 0; i < ARRAY_COUNT(FORGOTTEN); i++) {
        ad_remove(own, FORGOTTEN[i]);
    }
    ad_remove(own, BOOKS);
    write_book(own, 0, 0);
    return had;
}

bool checkpoint_plan_gives_up(const struct ad *own, int64_t idle_s, int64_t patience_s,
                              const char *rejected)
{
    return own != NULL && patience_s > 0 && idle_s >= patience_s && ad_has(own, CKPT_ARCH) &&
           !ad_bool_or(own, CKPT_ANYWHERE, false) && rejected != NULL &&
           strncmp(rejected, "no match", strlen("no match")) == 0;
}
