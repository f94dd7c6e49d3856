/* Tests of base/config/config.h: layers, files, sections and unknown names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/config/config.h"

#include <errno.h>
#include <malloc.h>
#include <time.h>

#include "base/check.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "tests/unit/base/config_fixture.h"

/* what a section of three options keeps of the heap, at most */
#define SECTION_BYTES_MAX 900

static double cpu_s(void)
{
    struct timespec now;
    assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now), 0);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- layers ---- */

static void later_layers_win_and_say_so(void **state)
{
    (void)state;
    struct config_memory memory = {
        .files =
            {{"/etc/roost.conf",
              "LOCAL_CONFIG = \"conf.d /opt/last\"\nPERSISTENT_CONFIG_DIR = /persist\n"
              "ENABLE_PERSISTENT_CONFIG = true "
              "NOTE = \"shared $(PORT)\"\nPORT = 1\nFACTOR = 0.1\nANY_INT = 1\nMAX_SIZE = 1\n"},
             {"/etc/conf.d/10-a.conf", "PORT = 2\nFACTOR = 0.2\nATTRS += Local\nANY_INT = 2\n"},
             {"/etc/conf.d/20-b.conf", "PORT = 3\nFACTOR = 0.3\n"},
             {"/etc/conf.d/30-c.CONF", "not read {"},
             {"/etc/conf.d/.hidden.conf", "PORT = 9\n"},
             {"/etc/conf.d/readme", "not read {"},
             {"/opt/last", "ANY_INT = 3\n"},
             {"/persist/startd.conf", "\nANY_INT = 4\nBEAT = 7\n"}},
        .environment = {{"ROOST_BEAT", "8"},
                        {"ROOST_ATTRS", "$(ATTRS) Env"},
                        {"ROOST_MINE", "unseen"}}};
    struct config *config = load_good(&memory);
    assert_int_equal(config_int(config, "PORT"), 3);
    assert_true(config_real(config, "FACTOR") == 0.3);
    assert_int_equal(config_int(config, "ANY_INT"), 4);
    assert_int_equal(config_duration_ms(config, "BEAT"), 8);
    assert_string_equal(config_string(config, "NOTE"), "shared 3");
    assert_string_equal(joined(config_list(config, "ATTRS", NULL)), "[Arch][Local][Env]");
    const struct {
        const char *name;
        enum config_layer layer;
        const char *file;
        unsigned line;
        const char *raw;
    } origins[] = {{"ENABLED", CONFIG_BUILTIN, NULL, 0, "false"},
                   {"MAX_SIZE", CONFIG_SHARED, "/etc/roost.conf", 7, "1"},
                   {"port", CONFIG_LOCAL, "/etc/conf.d/20-b.conf", 1, "3"},
                   {"ANY_INT", CONFIG_PERSISTENT, "/persist/startd.conf", 2, "4"},
                   {"BEAT", CONFIG_ENVIRONMENT, "ROOST_BEAT", 0, "8"},
                   {"ATTRS", CONFIG_ENVIRONMENT, "ROOST_ATTRS", 0, "Arch, Local Env"}};
    for (size_t i = 0; i < ARRAY_COUNT(origins); i++) {
        struct config_origin origin;
        assert_true(config_why(config, origins[i].name, &origin));
        assert_int_equal(origin.layer, origins[i].layer);
        assert_string_equal(origin.file ? origin.file : "-",
                            origins[i].file ? origins[i].file : "-");
        assert_int_equal(origin.line, origins[i].line);
        assert_string_equal(origin.raw, origins[i].raw);
    }
    struct config_origin origin;
    assert_true(config_why(config, "UNSET_PATH", &origin));
    assert_null(origin.raw);
    assert_false(config_why(config, "MINE", &origin));
    assert_false(config_why(config, "NEGOTIATOR_INTERVAL", &origin));
    assert_string_equal(config_layer_name(CONFIG_PERSISTENT), "set at run time");
    assert_int_equal(config_file_count(config), 5);
    assert_string_equal(config_file(config, 1), "/etc/conf.d/10-a.conf");
    assert_string_equal(config_file(config, 3), "/opt/last");
    config_destroy(config);
}

static void what_was_set_at_run_time_holds_only_where_that_is_allowed(void **state)
{
    (void)state;
    struct config_memory memory = {
        .files = {{"/etc/roost.conf", "PERSISTENT_CONFIG_DIR = /p\nON = false\n"
                                      "ENABLE_PERSISTENT_CONFIG = \"$(ON)\"\n"},
                  {"/p/startd.conf", "PORT = 4\nLOCAL_CONFIG = ignored\n"}}};
    struct config *config = load_good(&memory);
    assert_int_equal(config_int(config, "PORT"), 9618);
    assert_null(config_settings_path(config));
    config_destroy(config);
    memory.environment[0] = (struct config_memory_pair){"ROOST_ON", "true"};
    config = load_good(&memory);
    assert_int_equal(config_int(config, "PORT"), 4);
    assert_string_equal(config_settings_path(config), "/p/startd.conf");
    config_destroy(config);
    memory.environment[0].text = "perhaps";
    struct err err;
    assert_int_equal(load(&memory, &config, &err), -EINVAL);
    assert_non_null(strstr(err.text, "ENABLE_PERSISTENT_CONFIG: 'perhaps'"));
}

static void local_files_are_read_directory_first_then_file_then_the_rest(void **state)
{
    (void)state;
    struct config_memory memory = {
        .files = {{"/etc/roost.conf", "LOCAL_CONFIG = c\nLOCAL_CONFIG_FILE = \"b\"\n"
                                      "LOCAL_CONFIG_DIR = \"$(CONFIG_ROOT)/d\"\n"},
                  {"/etc/d/x.conf", "PORT = 1\nANY_INT = 1\nFACTOR = 0.1"},
                  {"/etc/b", "PORT = 2\nANY_INT = 2"},
                  {"/etc/c", "PORT = 3"}}};
    struct config *config = load_good(&memory);
    assert_int_equal(config_int(config, "PORT"), 3);
    assert_int_equal(config_int(config, "ANY_INT"), 2);
    assert_true(config_real(config, "FACTOR") == 0.1);
    config_destroy(config);
    memory.files[2].name = "/etc/elsewhere";
    struct err err;
    assert_int_equal(load(&memory, &config, &err), -ENOENT);
    assert_string_equal(err.text, "LOCAL_CONFIG_FILE: /etc/b: no such file");
}

static void a_name_with_the_daemon_s_prefix_wins_over_the_bare_one(void **state)
{
    (void)state;
    struct config_memory memory = {
        .files = {{"/etc/roost.conf",
                   "PORT = 1\nANY_INT = 1\nSTARTD.PORT = 2\nSTARTD.ANY_INT = \"$(ANY_INT) + 1\"\n"
                   "START = a\nStartd.Start = \"$(START) && b\"\n"
                   "startd.START = \"$(STARTD.START) && c\"\n"
                   "STARTD.ATTRS += Mine\nNEGOTIATOR.PORT = 7\nNOTE = \"$(STARTD.PORT)\"\n"
                   "STARTD.own = x\nDIRECTORY = \"/$(own)\"\nLOCAL_CONFIG = local\n"
                   "ENABLE_PERSISTENT_CONFIG = yes\nPERSISTENT_CONFIG_DIR = /p\n"
                   "BEAT = 1\nSTARTD.BEAT = 2\n"},
                  {"/etc/local", "PORT = 3\nATTRS = Other\n"},
                  {"/p/startd.conf", "BEAT = 3\n"}}};
    struct config *config = load_good(&memory);
    assert_int_equal(config_int(config, "PORT"), 2);
    assert_int_equal(config_int(config, "ANY_INT"), 2);
    assert_string_equal(config_expr(config, "START"), "a && b && c");
    assert_string_equal(joined(config_list(config, "ATTRS", NULL)), "[Arch][Mine]");
    assert_string_equal(config_string(config, "NOTE"), "2");
    assert_string_equal(config_path(config, "DIRECTORY"), "/x");
    assert_int_equal(config_duration_ms(config, "BEAT"), 3); /* set later, and for this daemon */
    assert_int_equal(config_unknown_count(config), 0);
    struct config_origin origin;
    assert_true(config_why(config, "PORT", &origin));
    assert_int_equal(origin.line, 3);
    config_destroy(config);
    assert_string_equal(refusal("STARTD.PORT = 1\nPORT = \"$(\""),
                        "/etc/roost.conf:2: PORT: '$(': $( is not closed");
    assert_string_equal(refusal("STARTD.PORT = 99999"),
                        "/etc/roost.conf:1: PORT: '99999' is out of range: 1 to 65535");
}

static void unknown_names_behind_a_daemon_s_prefix_are_reported(void **state)
{
    (void)state;
    struct config *config = load_one("NEGOTIATOR.NEGOTIATOR_INTERVAL = 1\nNEGOTIATOR.PROT = 2\n"
                                     "NEGOTIATOR.X_LIMIT = 1\nSHADOWS.PORT = 1\n"
                                     "STARTD.STRAT = 1\nA.B = 1\nNOTE = \"$(A.B)\"\n");
    assert_int_equal(config_unknown_count(config), 3);
    assert_string_equal(config_unknown(config, 0), "/etc/roost.conf:2: unknown knob "
                                                   "'NEGOTIATOR.PROT' (did you mean PORT?)");
    assert_string_equal(config_unknown(config, 1),
                        "/etc/roost.conf:4: unknown knob 'SHADOWS.PORT' (did you mean PORT?)");
    assert_string_equal(config_unknown(config, 2),
                        "/etc/roost.conf:5: unknown knob 'STRAT' (did you mean START?)");
    config_destroy(config);
}

static void what_a_list_of_attributes_names_is_known(void **state)
{
    (void)state;
    struct config *config = load_one(
        "MORE_ATTRS = \"Colour, +Size MY.Place\"\nColour = 5\nSize = 3\nPlace = 1\nStray = 2\n");
    assert_int_equal(config_unknown_count(config), 1);
    assert_string_equal(config_unknown(config, 0), "/etc/roost.conf:5: unknown knob 'Stray'");
    config_destroy(config);
}

/* A master reads what is meant for the startd, too. */
static void what_another_daemons_list_names_is_known(void **state)
{
    (void)state;
    struct config *config = load_one("OTHER_ATTRS = \"Colour, $(LAST)\"\nLAST = Place\n"
                                     "Colour = \"red\"\nPlace = 1\nStray = 2\n");
    assert_int_equal(config_unknown_count(config), 1);
    assert_string_equal(config_unknown(config, 0), "/etc/roost.conf:5: unknown knob 'Stray'");
    config_destroy(config);
}

static void the_environment_also_decides_which_files_are_read(void **state)
{
    (void)state;
    struct config_memory memory = {
        .files = {{"/etc/roost.conf",
                   "BASE = /a\nLOCAL_CONFIG = \"$(BASE)/local\"\ninclude(\"$(BASE)/more\")\n"},
                  {"/b/local", "PORT = 5\nLOCAL_CONFIG = ignored\n"},
                  {"/b/more", "ANY_INT = 6\n"}},
        .environment = {{"ROOST_BASE", "/b"}}};
    struct config *config = load_good(&memory);
    assert_int_equal(config_int(config, "PORT"), 5);
    assert_int_equal(config_int(config, "ANY_INT"), 6);
    assert_string_equal(config_text(config, "BASE"), "/b");
    config_destroy(config);
}

static void the_shared_file_is_found_by_argument_environment_or_habit(void **state)
{
    (void)state;
    static const struct knob_table *const tables[] = {&knobs_common};
    struct config_options options = {.tables = tables, .table_count = 1};
    struct config_memory memory = {
        .files = {{"/home/me/pool/roost.conf", "LOG = $(X)"},
                  {CONFIG_DEFAULT_PATH, "LOG = \"$(CONFIG_ROOT)/log\""}}};
    const struct config_source source = config_memory_source(&memory);
    memory.files[0].text = "LOG = \"$(CONFIG_ROOT)/log\"";
    struct config *config = NULL;
    assert_int_equal(config_load(&source, &options, &config, NULL), 0);
    assert_string_equal(config_path(config, "LOG"), "/etc/roost/log");
    config_destroy(config);
    memory.environment[0] = (struct config_memory_pair){"ROOST_CONFIG", "pool/roost.conf"};
    assert_int_equal(config_load(&source, &options, &config, NULL), 0);
    assert_string_equal(config_path(config, "LOG"), "/home/me/pool/log");
    config_destroy(config);
    options.path = CONFIG_DEFAULT_PATH;
    assert_int_equal(config_load(&source, &options, &config, NULL), 0);
    assert_string_equal(config_path(config, "LOG"), "/etc/roost/log");
    config_destroy(config);

    struct err err;
    struct config_memory nothing = {0};
    const struct config_source empty = config_memory_source(&nothing);
    options.path = NULL;
    assert_int_equal(config_load(&empty, &options, &config, &err), -ENOENT);
    assert_string_equal(err.text,
                        "no configuration file /etc/roost/roost.conf; set ROOST_CONFIG to the "
                        "configuration of a pool, or make a pool with 'roost init'");
    options.path = "/nowhere.conf";
    assert_int_equal(config_load(&empty, &options, &config, &err), -ENOENT);
    assert_string_equal(err.text, "/nowhere.conf: no such file");
    struct config_source rooted = empty;
    rooted.absolute = NULL;
    options.path = "x.conf";
    assert_int_equal(config_load(&rooted, &options, &config, &err), -EINVAL);
    assert_string_equal(err.text, "x.conf: not an absolute path; give the whole path");
}

static void refusals_name_the_layer_at_fault(void **state)
{
    (void)state;
    struct config *config = NULL;
    struct err err;
    struct config_memory memory = {.files = {{"/etc/roost.conf", "LOCAL_CONFIG = none.conf"}}};
    assert_int_equal(load(&memory, &config, &err), -ENOENT);
    assert_string_equal(err.text, "LOCAL_CONFIG: /etc/none.conf: no such file");
    memory = (struct config_memory){.files = {{"/etc/roost.conf", ""}},
                                    .environment = {{"ROOST_PORT", "x"}}};
    assert_int_equal(load(&memory, &config, &err), -EINVAL);
    assert_string_equal(err.text, "environment variable ROOST_PORT: 'x': a number is expected");
    memory.environment[0].text = "$(";
    assert_int_equal(load(&memory, &config, &err), -EINVAL);
    assert_string_equal(err.text, "environment variable ROOST_PORT: '$(': $( is not closed");
    memory =
        (struct config_memory){.files = {{"/etc/roost.conf", "PERSISTENT_CONFIG_DIR = /p\n"
                                                             "ENABLE_PERSISTENT_CONFIG = true"},
                                         {"/p/startd.conf", "PORT = "}}};
    assert_int_equal(load(&memory, &config, &err), -EINVAL);
    assert_string_equal(err.text, "/p/startd.conf:1: the file ends where a value is expected");
    memory = (struct config_memory){
        .files = {{"/etc/roost.conf", "LOCAL_CONFIG = d"}, {"/etc/d/a.conf", "PORT = 0"}}};
    assert_int_equal(load(&memory, &config, &err), -ERANGE);
    assert_string_equal(err.text, "/etc/d/a.conf:1: PORT: '0' is out of range: 1 to 65535");
}

static void includes_are_relative_to_their_file_and_bounded(void **state)
{
    (void)state;
    struct config_memory memory = {
        .files = {{"/etc/roost.conf", "PORT = 1\ninclude(\"sub/a.conf\")\nANY_INT = \"$(PORT)\""},
                  {"/etc/sub/a.conf", "include(b.conf)\nPORT = 3"},
                  {"/etc/sub/b.conf", "PORT = 2\nNOTE = b"}}};
    struct config *config = load_good(&memory);
    assert_int_equal(config_int(config, "ANY_INT"), 3);
    assert_string_equal(config_string(config, "NOTE"), "b");
    assert_int_equal(config_file_count(config), 3);
    config_destroy(config);
    assert_string_equal(refusal("\ninclude(\"none.conf\")"),
                        "/etc/roost.conf:2: include: /etc/none.conf: no such file");
    assert_string_equal(refusal("include(\"roost.conf\")"),
                        "/etc/roost.conf:1: include: a cycle: the file includes itself");
    struct config_memory cycle = {
        .files = {{"/etc/roost.conf", "include(a)"}, {"/etc/a", "\ninclude(\"roost.conf\")"}}};
    struct err err = {""};
    assert_int_equal(load(&cycle, &config, &err), -ELOOP);
    assert_string_equal(err.text, "/etc/a:2: include: a cycle: /etc/roost.conf includes this file "
                                  "already");
    assert_string_equal(refusal("include(\"$(NOWHERE)\")"),
                        "/etc/roost.conf:1: include: $(NOWHERE): unknown knob or macro; "
                        "$(NOWHERE:) stands for an empty text");
}

static void files_are_counted(void **state)
{
    (void)state;
    struct strbuf text;
    strbuf_init(&text, 0);
    for (int i = 0; i < CONFIG_FILES_MAX - 1; i++) {
        strbuf_puts(&text, "include(e)\n");
    }
    struct config_memory memory = {
        .files = {{"/etc/roost.conf", strbuf_text(&text)}, {"/etc/e", ""}}};
    config_destroy(load_good(&memory));
    strbuf_puts(&text, "include(e)\n");
    memory.files[0].text = strbuf_text(&text);
    struct config *config = NULL;
    struct err err;
    assert_int_equal(load(&memory, &config, &err), -EFBIG);
    assert_string_equal(err.text, "/etc/roost.conf:1000: include: more than 1000 files are read");
    strbuf_fini(&text);
}

static void a_file_that_is_too_large_is_refused(void **state)
{
    (void)state;
    struct strbuf text;
    strbuf_init(&text, 0);
    while (text.length <= CONFIG_FILE_MAX) {
        strbuf_puts(&text, "# a comment that fills the file\n");
    }
    assert_string_equal(refusal(strbuf_text(&text)), "/etc/roost.conf: more than 8388608 bytes");
    strbuf_fini(&text);
}

/* ---- sections ---- */

static void two_sections_of_one_name_in_a_file_are_refused_with_both_lines(void **state)
{
    (void)state;
    assert_string_equal(
        refusal("\nnode wn01 { watts = 1 }\nnode wn02 {}\nnode \"wn01\" { }\n"),
        "/etc/roost.conf:4: node 'wn01': another section of this name is in line 2; "
        "a machine has one section in a file (a file of LOCAL_CONFIG may change its "
        "options)");
}

static void sections_are_merged_over_files_and_typed(void **state)
{
    (void)state;
    struct config_memory memory = {
        .files = {{"/etc/roost.conf", "LOCAL_CONFIG = local.conf\nW = 20\n"
                                      "node \"wn01\" { watts = \"5 * $(W)\" tags = a }\n"
                                      "node wn02 {}\n"},
                  {"/etc/local.conf",
                   "include(more.conf)\n"
                   "node wn01 { method = COMMAND wake_within = \"$(MINUTE)\" poll = 20 }\n"
                   "node wn03 { share = 0.5 disk = 2G when = \"x > $(W)\" dir = /d }\n"},
                  {"/etc/more.conf", "node \"wn01\" { tags += \"b, c\" spare = yes }\n"}}};
    struct config *config = load_good(&memory);
    assert_int_equal(config_section_count(config, "node"), 3);
    assert_int_equal(config_section_count(config, "NODE"), 3);
    const struct config_section *node = config_section_at(config, "node", 0);
    assert_string_equal(section_title(node), "wn01");
    assert_int_equal(section_int(node, "watts"), 100);
    size_t count = 0;
    assert_string_equal(joined(section_list(node, "tags", &count)), "[a][b][c]");
    assert_int_equal(count, 3);
    assert_string_equal(section_string(node, "method"), "command");
    assert_string_equal(section_path(node, "dir"), "/var/log/roost/wn01");
    assert_int_equal(section_duration_s(node, "wake_within"), 60);
    assert_int_equal(section_duration_ms(node, "poll"), 20);
    assert_true(section_bool(node, "spare"));
    assert_null(section_expr(node, "when"));
    node = config_section_find(config, "node", "wn03");
    assert_true(section_real(node, "share") == 0.5);
    assert_int_equal(section_bytes(node, "disk"), INT64_C(2) << 30);
    assert_string_equal(section_expr(node, "when"), "x > 20");
    assert_string_equal(section_path(node, "dir"), "/d");
    node = config_section_find(config, "node", "wn02");
    assert_int_equal(section_int(node, "watts"), 100);
    assert_string_equal(joined(section_list(node, "tags", NULL)), "");
    assert_null(config_section_find(config, "node", "WN02"));
    config_destroy(config);
}

/* The unknown names of a configuration, as a daemon that asks for no texts sees them. */
static const char *unknown_of(const char *text, const char *only_title, struct config **ret)
{
    static char said[ERR_TEXT_MAX + 16];
    struct config_memory memory = {.files = {{"/etc/roost.conf", text}}};
    const struct config_options how = {.only_title = only_title};
    struct err err = {""};
    if (load_as(&memory, &how, ret, &err) < 0) {
        (void)snprintf(said, sizeof said, "refused: %s", err.text);
        return said;
    }
    said[0] = '\0';
    for (size_t i = 0; i < config_unknown_count(*ret); i++) {
        (void)snprintf(said + strlen(said), sizeof said - strlen(said), "%s;",
                       config_unknown(*ret, i));
    }
    return said;
}

static void what_only_sections_of_other_daemons_refer_to_is_known(void **state)
{
    (void)state;
    struct config *config = NULL;
    assert_string_equal(unknown_of("A = 1\nB = 2\nC = 3\nD = 4\nE = 5\n"
                                   "site x { program = \"$(A)/$(B)/$(B)\" }\n"
                                   "site y {\n other = '$(C)' # $(E)\n list = {\"$(D)\"}\n}\n",
                                   NULL, &config),
                        "/etc/roost.conf:5: unknown knob 'E';");
    assert_int_equal(config_text_count(config), 0);
    config_destroy(config);
}

static void only_the_section_with_the_wanted_title_is_read(void **state)
{
    (void)state;
    struct config *config = NULL;
    assert_string_equal(unknown_of("W = 20\n"
                                   "node wn01 { watts = 0 }\n"
                                   "node wn01 { watts = 0 }\n"
                                   "node \"wn02\" { watts = 30\n tags = \"a $(W)\" }\n"
                                   "node wn021 { watts = 0 }\n",
                                   "wn02", &config),
                        "");
    assert_int_equal(config_section_count(config, "node"), 1);
    const struct config_section *node = config_section_find(config, "node", "wn02");
    assert_int_equal(section_int(node, "watts"), 30);
    assert_string_equal(joined(section_list(node, "tags", NULL)), "[a][20]");
    config_destroy(config);
    assert_string_equal(
        unknown_of("node wn01 {\n watts 5\n}\n", "wn02", &config),
        "refused: /etc/roost.conf:2: expected '=' after 'watts' (sections cannot be nested; is the "
        "'}' of the section in line 1 missing?)");
}

static void sections_that_set_nothing_share_the_defaults(void **state)
{
    (void)state;
    struct config_memory memory = {
        .files = {{"/etc/roost.conf",
                   "node a {}\nnode b { watts = 7 }\ninclude(more)\nnode c {}\n"},
                  {"/etc/more", "node a { dir = /a }\nnode b { watts = 8 }\n"}}};
    struct config *config = load_good(&memory);
    const struct config_section *a = config_section_find(config, "node", "a");
    const struct config_section *b = config_section_find(config, "node", "b");
    assert_ptr_equal(section_string(a, "method"), section_string(b, "method"));
    assert_string_equal(section_path(a, "dir"), "/a");
    assert_string_equal(section_path(b, "dir"), "/var/log/roost/b");
    const struct config_section *c = config_section_find(config, "node", "c");
    assert_string_equal(section_path(c, "dir"), "/var/log/roost/c");
    assert_int_equal(section_int(a, "watts"), 100);
    assert_int_equal(section_int(b, "watts"), 8);
    config_destroy(config);
}

static void options_of_sections_are_checked(void **state)
{
    (void)state;
    assert_string_equal(
        refusal("node a {\n methd = wol }"),
        "/etc/roost.conf:2: node 'a': methd: unknown option of a 'node' section (did you mean "
        "method?)");
    assert_string_equal(refusal("node a { x = 1 }"),
                        "/etc/roost.conf:1: node 'a': x: unknown option of a 'node' section");
    assert_string_equal(refusal("node a { watts = 0 }"),
                        "/etc/roost.conf:1: watts: node 'a': '0' is out of range: 1 to 5000 watts");
    assert_string_equal(refusal("node a { watts = \"$(ABSENT)\" }"),
                        "/etc/roost.conf:1: watts: node 'a': $(ABSENT): unknown knob or macro; "
                        "$(ABSENT:) stands for "
                        "an empty text");
    assert_string_equal(refusal("M = \"$(ABSENT)\"\nnode a { watts = \"$(M)\" }"),
                        "/etc/roost.conf:1: M: $(ABSENT): unknown knob or macro; $(ABSENT:) stands "
                        "for an empty text");
    assert_string_equal(
        refusal("node a { method = \"$(METHOD)x\" }"),
        "/etc/roost.conf:1: method: node 'a': 'processx' is not one of: process|command");
    assert_string_equal(refusal("node a { watts += 1 }"),
                        "/etc/roost.conf:1: node 'a': watts: not a list; "
                        "only lists take several values or +=");
    assert_string_equal(
        refusal("node a { dir = \"$(TITLE)\" }"),
        "/etc/roost.conf:1: dir: node 'a': 'a' is not an absolute path ($(CONFIG_ROOT) is the "
        "directory of the shared file)");
}

/* ---- what is unknown ---- */

static void unknown_names_are_reported_with_the_nearest_known_one(void **state)
{
    (void)state;
    struct config *config = load_one("STRAT = TRUE\n"
                                     "MINE = 1\n"
                                     "USED = 2\nNOTE = \"$(used)\"\n"
                                     "USED_IN_VAIN = 3\nNOTE = \"$(USED_IN_VAIN) "
                                     "$(X:$(USED_DEEP))\"\nX = 1\nUSED_DEEP = 4\nNOTE = x\n"
                                     "USED_BY_OTHER = 5\nUSED_BY_SITE = 6\n"
                                     "NEGOTIATOR_INTERVAL = nonsense\n"
                                     "NEGOTIATOR_INTERVALL = 1\n"
                                     "site a { jobs = \"$(USED_BY_SITE)\" }\n"
                                     "noed wn01 { x = \"$(Y)\" }\n"
                                     "Y = 1\n"
                                     "flock b { }\n");
    assert_int_equal(config_unknown_count(config), 5);
    assert_string_equal(config_unknown(config, 0),
                        "/etc/roost.conf:15: unknown section 'noed' (did you mean node?)");
    assert_string_equal(config_unknown(config, 1), "/etc/roost.conf:17: unknown section 'flock'");
    assert_string_equal(config_unknown(config, 2),
                        "/etc/roost.conf:1: unknown knob 'STRAT' (did you mean START?)");
    assert_string_equal(config_unknown(config, 3), "/etc/roost.conf:2: unknown knob 'MINE'");
    assert_string_equal(config_unknown(config, 4),
                        "/etc/roost.conf:13: unknown knob 'NEGOTIATOR_INTERVALL' (did "
                        "you mean NEGOTIATOR_INTERVAL?)");
    config_destroy(config);
}

static void a_name_of_a_family_is_known_and_a_bare_prefix_is_not(void **state)
{
    (void)state;
    struct config *config = load_one("slot_type_1 = x\nSLOT_TYPE_2_PARTITIONABLE = true\n"
                                     "CONCURRENCY_TAPE = 3\nSLOT_TYPE_ = 1\nSLOT_TYPES_1 = 1\n"
                                     "tape.x_limit = 2\n_LIMIT = 1\nA_LIMITS = 2\n");
    assert_int_equal(config_unknown_count(config), 4);
    assert_non_null(strstr(config_unknown(config, 2), "'_LIMIT'"));
    assert_non_null(strstr(config_unknown(config, 3), "'A_LIMITS'"));
    assert_non_null(strstr(config_unknown(config, 0), "'SLOT_TYPE_'"));
    assert_non_null(strstr(config_unknown(config, 1), "'SLOT_TYPES_1' (did you mean SLOT_TYPE_"));
    assert_null(strstr(config_unknown(config, 3), "did you mean"));
    assert_string_equal(config_text(config, "SLOT_TYPE_1"), "x");
    config_destroy(config);
}

static void a_walk_lists_our_knobs_and_the_user_s_macros(void **state)
{
    (void)state;
    struct config *config = load_one("MINE = 1\nPORT = 2\nOTHER_LIST = x\n");
    size_t at = 0, knobs = 0, macros = 0;
    const char *name = NULL;
    const struct knob *knob = NULL;
    while (config_next(config, &at, &name, &knob)) {
        if (knob) {
            assert_string_equal(name, knob->name);
            assert_int_equal(macros, 0);
            knobs++;
        } else {
            assert_string_equal(name, "MINE");
            macros++;
        }
    }
    assert_int_equal(knobs, ARRAY_COUNT(KNOBS) + knobs_common.knob_count);
    assert_int_equal(macros, 1);
    config_destroy(config);
}

static void every_type_has_a_name(void **state)
{
    (void)state;
    for (int type = KNOB_STRING; type <= KNOB_LIST; type++) {
        assert_true(strlen(knob_type_name((enum knob_type)type)) > 3);
    }
    assert_string_equal(knob_type_name(KNOB_DURATION_MS), "duration");
}

static void a_table_s_check_is_made_when_the_file_is_read(void **state)
{
    (void)state;
    assert_string_equal(refusal("PORT = 1\nNOTE = \"bad!\"\n"),
                        "/etc/roost.conf:2: NOTE: 'bad!' is bad");
    assert_string_equal(refusal("MORE_ATTRS = {A, \"bad!\", C}\n"),
                        "/etc/roost.conf:1: MORE_ATTRS: 'bad!' is bad");
    assert_string_equal(refusal("\nSLOT_TYPE_1 = \"bad!\"\n"),
                        "/etc/roost.conf:2: SLOT_TYPE_1: 'bad!' is bad");
    assert_string_equal(refusal("HOLD_IF_late = \"a @\"\n"),
                        "/etc/roost.conf:1: HOLD_IF_late: 'a @' is no expression");
    config_destroy(load_one("NOTE = \"\"\nMORE_ATTRS = {}\nSLOT_TYPE_1 = \"\"\nMY = \"bad!\"\n"));
}

static void a_section_is_checked_as_a_whole_with_the_line_of_its_option(void **state)
{
    (void)state;
    assert_string_equal(refusal("node a {\n poll = 20\n watts = 4001\n}\n"),
                        "/etc/roost.conf:3: watts: node a: watts must be 4000 at most");
    assert_string_equal(refusal("\nnode empty {\n}\n"),
                        "/etc/roost.conf:2: node empty: nothing is set");
    assert_string_equal(refusal("node empty {\n poll = 1\n method = command\n}\n"),
                        "/etc/roost.conf:3: method: node empty: nothing is set");
}

/* ---- many sections ---- */

#define SECTIONS_FEW  2500
#define SECTIONS_MANY 10000

/* Loads a configuration of so many machines; only_title: as in struct config_options.  Returns the
 * CPU time of the fastest of three times; *bytes: what one section keeps of the heap. */
static double load_nodes(int count, const char *only_title, size_t *bytes)
{
    const struct config_options how = {.only_title = only_title};
    struct strbuf text;
    double best_s = 1e9;
    strbuf_init(&text, 0);
    for (int i = 0; i < count; i++) {
        strbuf_printf(&text,
                      "node \"n%05d\" {\n    method = command\n    dir = \"$(LOG)/n%05d\"\n"
                      "    watts = 80\n}\n",
                      i, i);
    }
    struct config_memory memory = {.files = {{"/etc/roost.conf", strbuf_text(&text)}}};
    for (int i = 0; i < 3; i++) {
        struct config *config = NULL;
        struct err err = {{0}};
        size_t before = mallinfo2().uordblks;
        double began_s = cpu_s();
        if (load_as(&memory, &how, &config, &err) != 0) {
            fail_msg("%s", err.text);
        }
        double took_s = cpu_s() - began_s;
        best_s = took_s < best_s ? took_s : best_s;
        size_t after = mallinfo2().uordblks;
        *bytes = after > before ? (after - before) / (size_t)count : 0;
        config_destroy(config);
    }
    strbuf_fini(&text);
    return best_s;
}

/* As those who need the machines read them, and those who step over them. */
static void four_times_as_many_sections_take_four_times_as_long(void **state)
{
    (void)state;
    static const char *const TITLES[] = {NULL, ""};
    for (size_t i = 0; i < ARRAY_COUNT(TITLES); i++) {
        size_t bytes;
        double few_s = load_nodes(SECTIONS_FEW, TITLES[i], &bytes);
        double many_s = load_nodes(SECTIONS_MANY, TITLES[i], &bytes);
        if (many_s > 8 * few_s) { /* 16 if each is compared with each */
            fail_msg("%d: %.4f s, %d: %.4f s", SECTIONS_FEW, few_s, SECTIONS_MANY, many_s);
        }
        assert_in_range(bytes, 0, TITLES[i] == NULL ? SECTION_BYTES_MAX : 20);
    }
}

UNIT_TESTS(
    UNIT(four_times_as_many_sections_take_four_times_as_long), UNIT(later_layers_win_and_say_so),
    UNIT(what_was_set_at_run_time_holds_only_where_that_is_allowed),
    UNIT(local_files_are_read_directory_first_then_file_then_the_rest),
    UNIT(a_name_with_the_daemon_s_prefix_wins_over_the_bare_one),
    UNIT(unknown_names_behind_a_daemon_s_prefix_are_reported),
    UNIT(what_a_list_of_attributes_names_is_known), UNIT(what_another_daemons_list_names_is_known),
    UNIT(the_environment_also_decides_which_files_are_read),
    UNIT(the_shared_file_is_found_by_argument_environment_or_habit),
    UNIT(refusals_name_the_layer_at_fault), UNIT(includes_are_relative_to_their_file_and_bounded),
    UNIT(files_are_counted), UNIT(a_file_that_is_too_large_is_refused),
    UNIT(two_sections_of_one_name_in_a_file_are_refused_with_both_lines),
    UNIT(sections_are_merged_over_files_and_typed),
    UNIT(what_only_sections_of_other_daemons_refer_to_is_known),
    UNIT(only_the_section_with_the_wanted_title_is_read),
    UNIT(sections_that_set_nothing_share_the_defaults), UNIT(options_of_sections_are_checked),
    UNIT(unknown_names_are_reported_with_the_nearest_known_one),
    UNIT(a_name_of_a_family_is_known_and_a_bare_prefix_is_not),
    UNIT(a_walk_lists_our_knobs_and_the_user_s_macros), UNIT(every_type_has_a_name),
    UNIT(a_table_s_check_is_made_when_the_file_is_read),
    UNIT(a_section_is_checked_as_a_whole_with_the_line_of_its_option))
