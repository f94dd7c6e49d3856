/* Tests of base/err.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/err.h"

#include <errno.h>

#include "tests/support/unit.h"

static void the_code_comes_back_and_the_text_is_kept(void **state)
{
    (void)state;
    struct err err;
    assert_int_equal(err_set(&err, -EINVAL, "%s:%u: no knob '%s'", "roost.conf", 12, "STRAT"),
                     -EINVAL);
    assert_string_equal(err.text, "roost.conf:12: no knob 'STRAT'");
}

static void without_an_err_the_code_still_comes_back(void **state)
{
    (void)state;
    assert_int_equal(err_set(NULL, -ENOENT, "%d", 1), -ENOENT);
    assert_int_equal(err_prefix(NULL, -ENOENT, "%d", 1), -ENOENT);
}

static void control_characters_cannot_make_a_second_line(void **state)
{
    (void)state;
    struct err err;
    (void)err_set(&err, -EINVAL, "a\nb\r\x1b[2J\x7f");
    assert_string_equal(err.text, "a?b??[2J?");
    (void)err_prefix(&err, -EINVAL, "x\ty");
    assert_string_equal(err.text, "x?y: a?b??[2J?");
}

static void text_beyond_ascii_is_kept(void **state)
{
    (void)state;
    struct err err;
    (void)err_set(&err, -EINVAL, "Zürich");
    assert_string_equal(err.text, "Zürich");
}

static void a_prefix_stands_before_the_text(void **state)
{
    (void)state;
    struct err err;
    (void)err_set(&err, -EIO, "disk full");
    assert_int_equal(err_prefix(&err, -EIO, "job %d", 7), -EIO);
    assert_string_equal(err.text, "job 7: disk full");
}

static void the_text_may_be_an_argument_of_its_own_replacement(void **state)
{
    (void)state;
    struct err err;
    (void)err_set(&err, -EIO, "inner");
    (void)err_set(&err, -EIO, "outer (%s)", err.text);
    assert_string_equal(err.text, "outer (inner)");
}

static void long_texts_are_cut_and_terminated(void **state)
{
    (void)state;
    char text[2 * ERR_TEXT_MAX];
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    struct err err;
    (void)err_set(&err, -EIO, "%s", text);
    assert_int_equal(strlen(err.text), ERR_TEXT_MAX - 1);
    (void)err_prefix(&err, -EIO, "p");
    assert_int_equal(strlen(err.text), ERR_TEXT_MAX - 1);
    assert_memory_equal(err.text, "p: xxx", 6);
    (void)err_prefix(&err, -EIO, "%s", text);
    assert_int_equal(strlen(err.text), ERR_TEXT_MAX - 1);
    (void)err_set(&err, -EIO, "%.*s", ERR_TEXT_MAX - 2, text);
    (void)err_prefix(&err, -EIO, "%.*s", ERR_TEXT_MAX - 2, text);
    assert_int_equal(strlen(err.text), ERR_TEXT_MAX - 1);
    assert_int_equal(err.text[ERR_TEXT_MAX - 2], ':');
}

static void every_code_has_a_text(void **state)
{
    (void)state;
    assert_string_equal(err_code_text(-ENOENT), "No such file or directory");
    assert_string_equal(err_code_text(0), "success");
    assert_string_equal(err_code_text(-99999), "unknown error");
    assert_string_equal(err_code_text(5), "unknown error");
}

UNIT_TESTS(UNIT(the_code_comes_back_and_the_text_is_kept),
           UNIT(without_an_err_the_code_still_comes_back),
           UNIT(control_characters_cannot_make_a_second_line), UNIT(text_beyond_ascii_is_kept),
           UNIT(a_prefix_stands_before_the_text),
           UNIT(the_text_may_be_an_argument_of_its_own_replacement),
           UNIT(long_texts_are_cut_and_terminated), UNIT(every_code_has_a_text))
