/* The file that a startd writes for its starter.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "wire/job_record.h"
#include "wire/secret_list.h"

static const struct wire_secret SECRETS[] = {{SECRET_CLAIM_ID, 0, "slot1@wn#b#00"},
                                             {SECRET_NONCE, 0, "0123456789abcdef"}};

static int read_text(const char *text, struct ad **record, struct secret_list **secrets)
{
    *record = NULL;
    *secrets = NULL;
    return job_record_read(text, strlen(text), record, secrets, NULL);
}

static void a_record_comes_back_with_its_secrets_beside_the_ad(void **state)
{
    (void)state;
    struct strbuf text;
    struct ad *record = ad_create(), *again;
    struct secret_list *secrets;
    strbuf_init(&text, 0);
    ad_set_string(record, "JobId", "1.0");
    job_record_write(record, SECRETS, 2, &text);
    assert_int_equal(read_text(strbuf_text(&text), &again, &secrets), 0);
    assert_true(ad_same(record, again));
    assert_true(secret_list_is(secrets, SECRETS, 2));
    ad_destroy(record);
    ad_destroy(again);
    secret_list_unref(secrets);
    strbuf_fini(&text);
}

static void a_record_without_secrets_is_one(void **state)
{
    (void)state;
    struct ad *record;
    struct secret_list *secrets;
    assert_int_equal(read_text("[ JobId = \"1.0\" ]", &record, &secrets), 0);
    assert_null(secrets);
    assert_string_equal(ad_string_or(record, "JobId", ""), "1.0");
    ad_destroy(record);
}

static void what_is_neither_a_secret_nor_an_ad_is_refused(void **state)
{
    (void)state;
    static const char *const BAD[] = {"", "1 a\n", "9 a\n[ ]", "1  ", "1 a\n2 b", "nonce a\n[ ]"};
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        struct ad *record;
        struct secret_list *secrets;
        assert_int_not_equal(read_text(BAD[i], &record, &secrets), 0);
        assert_null(record);
        assert_null(secrets);
    }
}

static void secrets_leave_the_ad_of_an_old_record(void **state)
{
    (void)state;
    static char text[1 << 16];
    char path[512];
    const char *source = getenv("ROOST_SRC");
    (void)snprintf(path, sizeof(path), "%s/tests/stores/data/job_1.record",
                   source != NULL ? source : ".");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    assert_int_equal(fclose(file), 0);
    assert_non_null(strstr(text, "_roost_priv_Nonce"));
    struct ad *record;
    struct secret_list *secrets;
    assert_int_equal(read_text(text, &record, &secrets), 0);
    assert_string_equal(ad_string_or(record, "JobId", ""), "2.1");
    assert_false(ad_has(record, "ClaimId"));
    assert_false(ad_has(record, "_roost_priv_Nonce"));
    assert_int_equal(secret_list_count(secrets), 2);
    assert_int_equal(strlen(secret_list_find(secrets, SECRET_NONCE)), 32);
    assert_non_null(strstr(secret_list_find(secrets, SECRET_CLAIM_ID), "slot1@wn01#"));
    ad_destroy(record);
    secret_list_unref(secrets);
}

UNIT_TESTS(UNIT(a_record_comes_back_with_its_secrets_beside_the_ad),
           UNIT(a_record_without_secrets_is_one),
           UNIT(what_is_neither_a_secret_nor_an_ad_is_refused),
           UNIT(secrets_leave_the_ad_of_an_old_record))
