/* tests/unit/ckpt/test_compile_plan.c - what a compiler's command becomes.
 *
 * LINK: ckpt
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/compile_plan.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/check.h"

#define WORDS_MAX 16

struct command {
    const char *words[WORDS_MAX];
    int count;
};

/* Of words that are separated by blanks; they live in text. */
static void split(char *text, struct command *ret)
{
    char *rest = NULL;
    ret->count = 0;
    for (char *word = strtok_r(text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        ret->words[ret->count++] = word;
    }
}

/* What becomes of a command, with OBJECT and INCLUDE for the library's. */
static void assert_becomes_with(const char *command, const char *remote, const char *wanted)
{
    char text[256], got[512] = "";
    struct command words;
    struct compile_plan plan;
    const char *full[WORDS_MAX + COMPILE_PLAN_MORE];
    CHECK(strlen(command) < sizeof text);
    memcpy(text, command, strlen(command) + 1);
    split(text, &words);
    assert_null(compile_plan_read(words.count, words.words, &plan));
    compile_plan_fill(&plan, words.count, words.words, "OBJECT", remote, "INCLUDE", full);
    for (size_t i = 0; full[i] != NULL; i++) {
        size_t length = strlen(got);
        CHECK(length + strlen(full[i]) + 2 <= sizeof got);
        got[length] = ' ';
        memcpy(got + length + (length > 0), full[i], strlen(full[i]) + 1);
    }
    assert_string_equal(got, wanted);
}

static void assert_becomes(const char *command, const char *wanted)
{
    assert_becomes_with(command, NULL, wanted);
}

static const char *output_of(const char *command, char *text)
{
    struct command words;
    struct compile_plan plan;
    memcpy(text, command, strlen(command) + 1);
    split(text, &words);
    assert_null(compile_plan_read(words.count, words.words, &plan));
    return plan.links ? plan.output : NULL;
}

static void a_driver_gets_the_object_behind_all_else(void **state)
{
    (void)state;
    assert_becomes("cc job.c -o job", "cc job.c -o job -I INCLUDE -Xlinker OBJECT");
    assert_becomes("ccache /usr/bin/g++ job.o",
                   "ccache /usr/bin/g++ job.o -I INCLUDE -Xlinker OBJECT");
    assert_becomes("gfortran -static -x f95 job",
                   "gfortran -static -x f95 job -I INCLUDE -Xlinker OBJECT");
    assert_becomes("cc @arguments", "cc @arguments -I INCLUDE -Xlinker OBJECT");
    assert_becomes("cc -", "cc - -I INCLUDE -Xlinker OBJECT");
}

static void a_linker_gets_the_object_first(void **state)
{
    (void)state;
    assert_becomes("ld -o job crt1.o job.o -lc", "ld OBJECT -o job crt1.o job.o -lc");
    assert_becomes("/usr/bin/x86_64-linux-gnu-ld job.o",
                   "/usr/bin/x86_64-linux-gnu-ld OBJECT job.o");
    assert_becomes("ld.gold job.o", "ld.gold OBJECT job.o");
}

static void what_makes_no_program_gets_headers_only(void **state)
{
    static const char *const WORDS[] = {"-c",      "-S",       "-E",
                                        "-M",      "-MM",      "-r",
                                        "-shared", "-Wl,-r",   "-fsyntax-only",
                                        "-###",    "--version"};
    char text[64], wanted[64];
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(WORDS); i++) {
        (void)snprintf(text, sizeof text, "cc %s job.c", WORDS[i]);
        (void)snprintf(wanted, sizeof wanted, "cc %s job.c -I INCLUDE", WORDS[i]);
        assert_becomes(text, wanted);
    }
    assert_becomes("ld -r -o all.o job.o", "ld -r -o all.o job.o");
    assert_becomes("ld -shared job.o", "ld -shared job.o");
}

static void without_an_input_nothing_is_linked(void **state)
{
    (void)state;
    assert_becomes("cc", "cc -I INCLUDE");
    assert_becomes("cc -v", "cc -v -I INCLUDE");
    assert_becomes("cc -o job", "cc -o job -I INCLUDE");
    assert_becomes("cc -I include -L lib -Xlinker -x",
                   "cc -I include -L lib -Xlinker -x -I INCLUDE");
    assert_becomes("ld --version", "ld --version");
}

static void the_output_is_the_last_one_that_is_named(void **state)
{
    char text[64];
    (void)state;
    assert_string_equal(output_of("cc job.c", text), "a.out");
    assert_string_equal(output_of("cc -o job job.c", text), "job");
    assert_string_equal(output_of("cc -ojob job.c", text), "job");
    assert_string_equal(output_of("cc -o a job.c -o b", text), "b");
    assert_string_equal(output_of("cc -D -o job.c", text), "a.out");
    assert_string_equal(output_of("ld job.o -omagic -o job", text), "job");
    assert_string_equal(output_of("cc --output=job job.c", text), "job");
    assert_string_equal(output_of("cc --output job job.c", text), "job");
    assert_string_equal(output_of("ld --output=job job.o", text), "job");
    assert_string_equal(output_of("cc -o job @words", text), "job");
    assert_null(output_of("cc @words", text)); /* they may tell another one */
    assert_null(output_of("cc -c -o job.o job.c", text));
    assert_null(output_of("cc --compile job.c", text));
}

static void commands_that_run_others_are_refused(void **state)
{
    const char *const make[] = {"/usr/bin/make", "all"}, *const ar[] = {"ar", "rc", "lib.a"};
    struct compile_plan plan;
    (void)state;
    assert_non_null(strstr(compile_plan_read(2, make, &plan), "make CC='roost-compile cc'"));
    assert_string_equal(compile_plan_read(3, ar, &plan), "does not link a program");
    assert_string_equal(compile_plan_read(0, NULL, &plan), "the command is missing");
}

static void the_wrappers_go_with_the_library(void **state)
{
    (void)state;
    assert_becomes_with("cc -o a a.c", "REMOTE",
                        "cc -o a a.c -I INCLUDE -Xlinker OBJECT -Xlinker REMOTE");
    assert_becomes_with("cc -static -o a a.c", "REMOTE",
                        "cc -static -o a a.c -I INCLUDE -Xlinker OBJECT -Xlinker REMOTE -Xlinker "
                        "--undefined=__glob");
    assert_becomes_with("ld -static -o a a.o", "REMOTE",
                        "ld OBJECT REMOTE --undefined=__glob -static -o a a.o");
    assert_becomes_with("cc -c a.c", "REMOTE", "cc -c a.c -I INCLUDE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_wrappers_go_with_the_library),
        cmocka_unit_test(a_driver_gets_the_object_behind_all_else),
        cmocka_unit_test(a_linker_gets_the_object_first),
        cmocka_unit_test(what_makes_no_program_gets_headers_only),
        cmocka_unit_test(without_an_input_nothing_is_linked),
        cmocka_unit_test(the_output_is_the_last_one_that_is_named),
        cmocka_unit_test(commands_that_run_others_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
