/* What a shell may complete, read from a command's usage and help.
 *
 * LINK: cli
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/cli/ads.h"

#include "base/mem.h"
#include "cli/commands.h"
#include "cli/completion_plan.h"

static void words_are(const char *usage, const char *help, const char *text)
{
    const struct cli_command command = {.name = "x", .usage = usage, .help = help};
    struct vec words = {0};
    struct strbuf out;
    strbuf_init(&out, 0);
    completion_words(&command, &words);
    for (size_t i = 0; i < words.count; i++) {
        strbuf_printf(&out, "%s ", (const char *)words.items[i]);
    }
    vec_fini(&words, mem_free);
    ads_expect(&out, text);
}

static void options_are_the_words_with_a_dash_each_once(void **state)
{
    (void)state;
    words_are("[ID|OWNER...] [-nobatch|-run] [-l | --json | -af[:FLAGS] ATTR...] [-limit N]",
              "  -run, -hold   only these;  -wide  see condor_q -wide\n  --dry-run  x\n",
              "-nobatch -run -l --json -af -limit -hold -wide --dry-run --help ");
    words_are("", NULL, "--help ");
    words_are("NAME --help", NULL, "--help ");
}

static void a_dash_within_a_word_or_alone_is_none(void **state)
{
    (void)state;
    words_are("[FILE|-]", "  a built-in name, 2-3 of them - and --- more\n", "--help ");
}

static void verbs_come_first(void **state)
{
    (void)state;
    words_are("status|on|off [NODE...] [--force]", NULL, "status on off --force --help ");
    words_are("dump [KNOB...]", NULL, "dump --help ");
    words_are("bash|zsh", NULL, "bash zsh --help ");
    words_are("file.sub", NULL, "--help ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_the_words_with_a_dash_each_once),
        cmocka_unit_test(a_dash_within_a_word_or_alone_is_none),
        cmocka_unit_test(verbs_come_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
