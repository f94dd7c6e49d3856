/* Fuzzing of requests to drain: any ad is read or refused with a reason, whatever was read keeps
 * its limits, and travels there and back as the same request, which the startd's store relies upon.
 *
 * The input is an ad's text, new syntax.
 *
 * LINK: drain wire classad base
 * SPDX-License-Identifier: Apache-2.0
 */
#include "drain/drain.h"

#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "classad/ad.h"

#define INPUT_MAX ((size_t)1 << 14)

static bool same(const char *a, const char *b)
{
    return (a == NULL) == (b == NULL) && (a == NULL || strcmp(a, b) == 0);
}

static void check_text(const char *text)
{
    CHECK(text == NULL || (text[0] != '\0' && strlen(text) <= DRAIN_TEXT_MAX));
}

static void check(const struct drain_request *request)
{
    CHECK(request->slot_count <= DRAIN_SLOTS_MAX);
    CHECK(request->commit_s >= 1 && request->commit_s <= DRAIN_COMMIT_S);
    CHECK(request->deadline_s >= 0 && request->deadline_s <= DRAIN_ESTIMATE_S);
    CHECK(request->slot_count == 0 || request->then <= DRAIN_THEN_RESUME);
    CHECK(drain_schedule_name(request->schedule)[0] != '\0');
    CHECK(drain_then_name(request->then)[0] != '\0');
    check_text(request->check);
    check_text(request->start);
    check_text(request->reason);
    for (size_t i = 0; i < request->slot_count; i++) {
        CHECK(request->slots[i][0] != '\0' && strlen(request->slots[i]) < DRAIN_NAME_MAX);
    }
    (void)drain_request_names(request, "slot1_2@machine");
}

static void check_same(const struct drain_request *a, const struct drain_request *b)
{
    CHECK(a->schedule == b->schedule && a->then == b->then && a->estimate == b->estimate);
    CHECK(a->deadline_s == b->deadline_s && a->commit_s == b->commit_s);
    CHECK(same(a->check, b->check) && same(a->start, b->start) && same(a->reason, b->reason));
    CHECK(a->slot_count == b->slot_count);
    for (size_t i = 0; i < a->slot_count; i++) {
        CHECK(same(a->slots[i], b->slots[i]));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ad *args = NULL;
    struct err err = {""};
    struct drain_request first, again;
    if (size > INPUT_MAX || ad_parse((const char *)data, size, &args, NULL) != 0) {
        return 0;
    }
    enum drain_code code = drain_request_read(args, &first, &err);
    CHECK(code == DRAIN_OK || (code == DRAIN_BAD_REQUEST && err.text[0] != '\0'));
    if (code == DRAIN_OK) {
        struct ad *kept = ad_create();
        check(&first);
        drain_request_write(&first, kept);
        CHECK(drain_request_read(kept, &again, NULL) == DRAIN_OK);
        check_same(&first, &again);
        drain_request_fini(&again);
        ad_destroy(kept);
    }
    drain_request_fini(&first);
    ad_destroy(args);
    return 0;
}
