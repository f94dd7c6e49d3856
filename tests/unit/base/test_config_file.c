/* Tests of base/config/config_file.h and base/config/config_scan.h: one file and nothing else.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/config/config_file.h"

#include <errno.h>

#include "base/check.h"
#include "base/config/config_scan.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "tests/support/unit.h"

static int print_statement(void *arg, const struct config_statement *s, struct err *err)
{
    static const char *const KINDS[] = {"=", "+=", "{", "include"};
    struct strbuf *out = arg;
    (void)err;
    strbuf_printf(out, "%s%u:", out->length > 0 ? "; " : "", s->line);
    if (s->section) {
        strbuf_printf(out, "%s<%s>.", s->section, s->title);
    }
    strbuf_printf(out, "%s%s%s%s", s->kind <= CONFIG_APPEND ? s->name : "", KINDS[s->kind],
                  s->list_item ? "*" : "", s->kind == CONFIG_SECTION ? "" : s->value);
    return 0;
}

/* The statements of a file as text, or "error: ..." */
static const char *read_needed(const char *text, size_t length,
                               const struct config_scan_needs *needs)
{
    static char result[4096];
    struct err err = {"nothing was said"};
    struct strbuf out;
    strbuf_init(&out, sizeof(result) - 1);
    const struct config_file_reader reader = {print_statement, &out, needs};
    if (config_file_read("f", text, length, &reader, &err) < 0) {
        strbuf_clear(&out);
        strbuf_printf(&out, "error: %s", err.text);
    }
    (void)snprintf(result, sizeof(result), "%s", strbuf_text(&out));
    strbuf_fini(&out);
    return result;
}

static const char *read_text(const char *text, size_t length)
{
    return read_needed(text, length, NULL);
}

static const char *read_string(const char *text)
{
    return read_text(text, strlen(text));
}

static void statements_come_in_their_order_with_their_lines(void **state)
{
    (void)state;
    assert_string_equal(read_string("A = 1\nB = \"two words\"\nA = 'three'\n\nC += x"),
                        "1:A=1; 2:B=two words; 3:A=three; 5:C+=x");
    assert_string_equal(read_string(""), "");
    assert_string_equal(read_string("\n# nothing\n"), "");
    assert_string_equal(read_string("A=1 B=2"), "1:A=1; 1:B=2");
    assert_string_equal(read_string("a = 1\nA = 2"), "1:a=1; 2:a=2");
}

static void lists_are_an_assignment_and_appends(void **state)
{
    (void)state;
    assert_string_equal(read_string("A = {a, \"b c\",\n d}"), "1:A=*a; 1:A+=*b c; 2:A+=*d");
    assert_string_equal(read_string("A += {a, b,}\nA = x"), "1:A+=*a; 1:A+=*b; 2:A=x");
    assert_string_equal(read_string("A = {}\nB = 1"), "1:A=; 2:B=1");
    assert_string_equal(read_string("A += { }"), "1:A+=");
    assert_string_equal(read_string("A = {\n# none\n}\nB = 1"), "1:A=; 4:B=1");
    assert_string_equal(read_string("A = {x} A = {y}"), "1:A=*x; 1:A=*y");
}

static void sections_have_titles_and_options(void **state)
{
    (void)state;
    assert_string_equal(read_string(
                            "node \"wn01\" { method = process  dir = \"/x y\" }\nnode wn02 {}"),
                        "1:node<wn01>.{; 1:node<wn01>.method=process; 1:node<wn01>.dir=/x y; "
                        "2:node<wn02>.{");
    assert_string_equal(
        read_string("node a { x = {1, 2} }\nsite a { x += 3 }\nnode a { y = 4 }"),
        "1:node<a>.{; 1:node<a>.x=*1; 1:node<a>.x+=*2; 2:site<a>.{; 2:site<a>.x+=3; "
        "3:node<a>.{; 3:node<a>.y=4");
}

static void includes_keep_their_place(void **state)
{
    (void)state;
    assert_string_equal(read_string("A = 1\ninclude(\"x.conf\")\nB = 2"),
                        "1:A=1; 2:includex.conf; 3:B=2");
    assert_string_equal(read_string("INCLUDE ( x.conf )"), "1:includex.conf");
}

static void comments_of_all_kinds_are_blank(void **state)
{
    (void)state;
    assert_string_equal(read_string(
                            "A = 1 # x = {\n//y\n// z\n/* \n B = 2 */ C = 3 /**/\n####\nD=4#e"),
                        "1:A=1; 5:C=3; 7:D=4");
    assert_string_equal(read_string("A = \"# // /* no comment */\" B = http://x/y"),
                        "1:A=# // /* no comment */; 1:B=http://x/y");
    assert_string_equal(read_string("/*/ B = 2 */ A = 1"), "1:A=1");
    assert_string_equal(read_string("A = x//y\nB = /etc/roost"), "1:A=x//y; 2:B=/etc/roost");
}

static void escapes_are_c_s_in_double_quotes_and_few_in_single_ones(void **state)
{
    (void)state;
    assert_string_equal(read_string("A = \"a\\\"b\\\\c\\td\\101\\x41\\q\""), "1:A=a\"b\\c\td"
                                                                             "AAq");
    assert_string_equal(read_string("A = \"\\t0g\\377\""), "1:A=\t0g\377");
    assert_string_equal(read_string("A = 'a\\'b\\\\c\\n${X}'"), "1:A=a'b\\c\\n${X}");
    assert_string_equal(read_string("A = a\\b\\\\c"), "1:A=a\\b\\\\c");
    assert_string_equal(read_string("A = \"\\${X}\""), "1:A=${X}");
    assert_string_equal(read_string("A = \"one \\\n two\"\nB = 3"), "1:A=one  two; 3:B=3");
    assert_string_equal(read_string("A = 'one \\\n two'\nB = 3"), "1:A=one  two; 3:B=3");
}

static void carriage_returns_of_other_systems_do_not_matter(void **state)
{
    (void)state;
    assert_string_equal(read_string("A = 1\r\nB = \"x\"\r\n\r\nC = \"a\\\r\nb\"\r\nD = 4\r\n"),
                        "1:A=1; 2:B=x; 4:C=ab; 6:D=4");
}

static void a_brace_that_is_not_closed_is_named_by_its_own_line(void **state)
{
    (void)state;
    assert_string_equal(read_string("A = 1\nnode \"x\" {\n m = 1\n"),
                        "error: f:2: the section 'node' is not closed: '}' is missing");
    assert_string_equal(
        read_string("node x {\n a = 1\nnode y { a = 2 }\n"),
        "error: f:3: expected '=' after 'node' (sections cannot be nested; is the '}' of the "
        "section in line 1 missing?)");
    assert_string_equal(read_string("A = { a,\n b\n"),
                        "error: f:1: this list is not closed: '}' is missing");
    assert_string_equal(read_string("A = { a,"),
                        "error: f:1: this list is not closed: '}' is missing");
    assert_string_equal(read_string("A = 1\n}\n"), "error: f:2: unexpected '}'");
}

static void strings_and_comments_end_where_they_should(void **state)
{
    (void)state;
    const char *const expected = "error: f:2: this string is not closed on its "
                                 "line (end the line with \\ to continue "
                                 "on the next line)";
    assert_string_equal(read_string("A = 1\nB = \"x\nC = \"y\"\n"), expected);
    assert_string_equal(read_string("A = 1\nB = 'x\nC = 'y'\n"), expected);
    assert_string_equal(read_string("A = 1\r\nB = \"x\r\n"), expected);
    assert_string_equal(read_string("A = \"x"), "error: f:1: this string is not closed");
    assert_string_equal(read_string("A = \"x\\"), "error: f:1: this string is not closed");
    assert_string_equal(read_string("A = 'x"), "error: f:1: this string is not closed");
    assert_string_equal(read_string("\n/* x\n"), "error: f:2: this comment is not closed");
}

static void a_value_may_be_the_rest_of_its_line(void **state)
{
    (void)state;
    assert_string_equal(read_string("A = $(B)\n"), "1:A=$(B)");
    assert_string_equal(read_string("A = 15 * 60 # seconds\nB = 1"), "1:A=15 * 60; 2:B=1");
    assert_string_equal(read_string("A = 2 GiB\nB = 3\n"), "1:A=2 GiB; 2:B=3");
    assert_string_equal(read_string("A = KeyboardIdle > 60 // idle\n"), "1:A=KeyboardIdle > 60");
    assert_string_equal(read_string("A = cpus=50%,memory=1\nB = Owner==\"x\"\n"),
                        "1:A=cpus=50%,memory=1; 2:B=Owner==\"x\"");
    assert_string_equal(read_string("A = 2 GiB"), "1:A=2 GiB");
    assert_string_equal(read_string("A = (x == 3) && Owner == \"a # b\"\r\nB += x, y"),
                        "1:A=(x == 3) && Owner == \"a # b\"; 2:B+=x, y");
    assert_string_equal(read_string("A = x || \\\n y \\\\ z\nB = 1"), "1:A=x ||  y \\\\ z; 3:B=1");
    assert_string_equal(read_string("A = 1 B = 2 * 3"), "1:A=1; 1:B=2 * 3");
    assert_string_equal(read_string("A = x y += 2"), "1:A=x; 1:y+=2");
    assert_string_equal(read_string("A = ! y == 2"), "1:A=! y == 2");
    assert_string_equal(read_string("A = 1 include(x)"), "1:A=1; 1:includex");
    assert_string_equal(read_string("A = 1 node b {}"), "1:A=1 node b {}"); /* quote the title */
    assert_string_equal(read_string("A = 1 node \"b\" {}"), "1:A=1; 1:node<b>.{");
    assert_string_equal(
        read_string("node a { x = 1 * 2 }"),
        "error: f:1: '*' is not expected here; a value that contains this character needs quotes");
}

static void a_colon_makes_the_rest_of_the_line_the_value(void **state)
{
    (void)state;
    assert_string_equal(read_string(
                            "BackgroundLoad    = 0.3\n"
                            "StartIdleTime    = 15 * $(MINUTE)\n"
                            "CPU_Idle    = LoadAvg <= $(BackgroundLoad)\n"
                            "START        : $(CPU_Idle) && KeyboardIdle > $(StartIdleTime)\n"
                            "UPDATE_PRIO : Prio + Users - Running"),
                        "1:BackgroundLoad=0.3; 2:StartIdleTime=15 * $(MINUTE); "
                        "3:CPU_Idle=LoadAvg <= $(BackgroundLoad); "
                        "4:START=$(CPU_Idle) && KeyboardIdle > $(StartIdleTime); "
                        "5:UPDATE_PRIO=Prio + Users - Running");
    assert_string_equal(read_string("A:1\nB: x = 2\nC :y"), "1:A=1; 2:B=x = 2; 3:C=y");
    assert_string_equal(read_string("A:x\\y\\z\nB:\\\n\\1"), "1:A=x\\y\\z; 2:B=\\1");
    assert_string_equal(read_string("A : \"quoted\" B = 1"), "1:A=quoted; 1:B=1");
    assert_string_equal(read_string("A : {x, y}"), "1:A=*x; 1:A+=*y");
    assert_string_equal(read_string("A :\nB = 1"), "error: f:1: the value is missing");
    assert_string_equal(read_string("A : ${HOME}"),
                        "error: f:1: write $ENV(NAME) for an environment variable");
    assert_string_equal(read_string("A : \x01"), "error: f:1: a control character (0x01)");
    assert_memory_equal(read_string(": 1"), "error: f:1: expected a name, not ':'", 36);
    assert_memory_equal(read_string("node a { x : 1 }"), "error: f:1: expected '=' or '+='", 32);
}

static void what_libconfuse_would_let_pass_is_refused(void **state)
{
    (void)state;
    assert_string_equal(
        read_string("A = \"${HOME}\""),
        "error: f:1: write $ENV(NAME) for an environment variable, or \\${ for the characters");
    assert_string_equal(read_string("A = ${HOME}"),
                        "error: f:1: a value with $( ) or ${ } needs quotes");
    assert_string_equal(
        read_string("A * = 1"),
        "error: f:1: '*' is not expected here; a value that contains this character needs quotes");
    assert_string_equal(
        read_string("A + = 1"),
        "error: f:1: '+' is not expected here; a value that contains this character needs quotes");
    assert_string_equal(read_text("A = \"a\0b\"", 9),
                        "error: f:1: a control character (0x00); write an escape sequence instead");
    assert_string_equal(read_text("A\0 = b", 6), "error: f:1: a control character (0x00)");
    assert_string_equal(read_string("A = \"\x01\""),
                        "error: f:1: a control character (0x01); write an escape sequence instead");
    assert_string_equal(read_string("A = \"x\\0y\""),
                        "error: f:1: a value cannot contain a zero byte");
    assert_string_equal(read_string("A = \"x\\x00y\""),
                        "error: f:1: a value cannot contain a zero byte");
    assert_string_equal(read_string("A = \"x\\x0g\""),
                        "error: f:1: a value cannot contain a zero byte");
    assert_string_equal(read_string("A = \"\\x0A\\x09z\""), "1:A=\n\tz");
    const char *const octal = "error: f:1: \\ and digits stand for a byte in octal: \\1 to \\377";
    assert_string_equal(read_string("A = \"\\400\""), octal);
    assert_string_equal(read_string("A = \"\\8\""), octal);
    assert_string_equal(read_string("A = \"\\1234\""), octal);
}

static void names_are_names(void **state)
{
    (void)state;
    assert_string_equal(read_string("COLLECTOR.MAX_LOG = 1\n_x9 = 2"),
                        "1:COLLECTOR.MAX_LOG=1; 2:_x9=2");
    const char *const bad[] = {"9a = 1",       "a-b = 1", "\"a\" = 1", "a|b = 1",
                               "__opened = 1", "= 1",     ".a = 1"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_memory_equal(read_string(bad[i]), "error: f:1: expected a name, not '", 33);
    }
    char text[200];
    (void)snprintf(text, sizeof(text), "%0128d = 1", 0);
    text[0] = 'x';
    assert_memory_equal(read_string(text), "1:x000", 6);
    (void)snprintf(text, sizeof(text), "%0129d = 1", 0);
    text[0] = 'x';
    assert_memory_equal(read_string(text), "error: f:1: expected a name", 27);
}

static void sections_that_cannot_be_are_refused(void **state)
{
    (void)state;
    assert_string_equal(read_string("node { a = 1 }"),
                        "error: f:1: the section 'node' needs a name: node \"name\" { ... }");
    assert_string_equal(read_string("node \"\" { }"),
                        "error: f:1: the name of a section has 1 to 255 characters");
    assert_string_equal(read_string("root \"a\" { }"),
                        "error: f:1: 'root' is not a kind of section");
    assert_string_equal(read_string("node = 1\nnode a { }"),
                        "error: f:2: 'node' is not a kind of section");
    assert_string_equal(read_string("node a { }\nNODE = 1"),
                        "error: f:2: 'NODE' is a kind of section and cannot be assigned a value");
    assert_string_equal(
        read_string("node a { include(\"x\") }"),
        "error: f:1: expected '=' or '+=', not '(' (a value with blanks needs quotes)");
    assert_string_equal(read_string("node a { x = 1, }"),
                        "error: f:1: expected a name, not ',' (a value with blanks needs quotes)");
}

static void broken_statements_say_what_was_expected(void **state)
{
    (void)state;
    assert_string_equal(read_string("A"),
                        "error: f:1: the file ends where '=' or '+=' is expected");
    assert_string_equal(read_string("A ="), "error: f:1: the file ends where a value is expected");
    assert_string_equal(read_string("A = = 1"),
                        "error: f:1: expected a value, not '=' (a value with blanks needs quotes)");
    assert_string_equal(
        read_string("A = {a b}"),
        "error: f:1: expected ',' or '}', not 'b' (a value with blanks needs quotes)");
    assert_string_equal(
        read_string("A = {,}"),
        "error: f:1: expected an item of the list or '}', not ',' (a value with blanks needs "
        "quotes)");
    assert_string_equal(read_string("include"),
                        "error: f:1: the file ends where '(' after include is expected");
    assert_string_equal(read_string("include()"), "error: f:1: expected the file name to include, "
                                                  "not ')' (a value with blanks needs quotes)");
    assert_string_equal(read_string("include(a, b)"),
                        "error: f:1: expected ')', not ',' (a value with blanks needs quotes)");
    assert_string_equal(
        read_string("include = a"),
        "error: f:1: expected '(' after include, not '=' (a value with blanks needs quotes)");
}

/* ---- sections that nobody needs ---- */

struct wish {
    const char *title; /* needed of the kind node */
    char names[200];   /* what the other sections refer to */
};

static bool is_needed(void *arg, const char *kind, const char **title)
{
    const struct wish *wish = arg;
    *title = wish->title;
    return strcmp(kind, "node") != 0 || wish->title;
}

static void note_name(void *arg, const char *name, size_t length)
{
    struct wish *wish = arg;
    (void)snprintf(wish->names + strlen(wish->names), sizeof wish->names - strlen(wish->names),
                   "%.*s ", (int)length, name);
}

static const char *read_without(struct wish *wish, const char *text)
{
    const struct config_scan_needs needs = {is_needed, note_name, wish};
    return read_needed(text, strlen(text), &needs);
}

static void sections_that_are_not_needed_are_stepped_over(void **state)
{
    (void)state;
    struct wish wish = {.title = NULL};
    assert_string_equal(read_without(&wish, "A = 1\n"
                                            "node \"a\" {\n x = qemu:///y  z=\"w # {\"\n}\n"
                                            "# one\nnode b { } // two\nnode 'c'{a='\"'b=c}\n"
                                            "B = 2\nnode d{}\nsite e { x = 1 }\nnode f {}"),
                        "1:A=1; 8:B=2; 10:site<e>.{; 10:site<e>.x=1");
    assert_string_equal(wish.names, "");
    assert_string_equal(read_without(&wish, "node a { x = \"$(B) $(C.d)$(C.d)\" y = '$(C.d)' }\n"
                                            "node b { x = \"$(B)\" }\nA = 1"),
                        "3:A=1");
    assert_string_equal(wish.names, "B C.d B ");
    wish.title = "b";
    assert_string_equal(read_without(&wish, "node a {}\nnode b { x = 1 }\nnode bb {}\nNode b {}\n"
                                            "node \"b\" { x = 2 }\nnode c {}"),
                        "2:node<b>.{; 2:node<b>.x=1; 4:node<b>.{; 5:node<b>.{; 5:node<b>.x=2");
}

static void sections_that_need_a_closer_look_are_read(void **state)
{
    (void)state;
    static const char *const LOOKS[] = {
        "node a { x = {1, 2} }",         "node a { x += 1 }",        "node a { x = \"\\x41\" }",
        "node a { /* c */ x = 1 }",      "node a { x = \"$$(y)\" }", "node a { x = \"$(y:z)\" }",
        "node a { x = \"$ENV(HOME)\" }", "node \"a\\x41\" { }",      "node a { x = \"$\" }"};
    static const char *const WRONG[] = {"node a { x = 1",
                                        "node a { x = \"1 }",
                                        "node a { x = 1\nnode b { }",
                                        "node a { x : 1 }",
                                        "node a { x = }",
                                        "node a { = 1 }",
                                        "node a { __x = 1 }",
                                        "node a { x = $(y) }",
                                        "node a { x = \"${y}\" }",
                                        "node a { x = \"\x01\" }",
                                        "node \"\" { }",
                                        "node :a { }",
                                        "node a { x = 1, }",
                                        "node a { 1x = 1 }",
                                        "node a { x = \"1\n2\" }",
                                        "node a { x y }",
                                        "node {}",
                                        "node a",
                                        "node a { x = 1 } node = 1"};
    struct wish wish = {.title = NULL};
    for (size_t i = 0; i < ARRAY_COUNT(LOOKS); i++) {
        char whole[4096];
        (void)snprintf(whole, sizeof whole, "%s", read_string(LOOKS[i]));
        assert_memory_not_equal(whole, "error", 5);
        assert_string_equal(read_without(&wish, LOOKS[i]), whole);
    }
    for (size_t i = 0; i < ARRAY_COUNT(WRONG); i++) {
        char whole[4096], text[200];
        (void)snprintf(text, sizeof text, "node ok { a = 1 }\n%s", WRONG[i]);
        (void)snprintf(whole, sizeof whole, "%s", read_string(text));
        assert_memory_equal(whole, "error", 5);
        assert_string_equal(read_without(&wish, text), whole);
    }
}

static int count_statement(void *arg, const struct config_statement *statement, struct err *err)
{
    unsigned *next = arg; /* the file has one statement in each line */
    (void)err;
    assert_int_equal(statement->line, *next);
    (*next)++;
    return 0;
}

static void many_sections_keep_their_order(void **state)
{
    (void)state;
    struct strbuf text;
    strbuf_init(&text, 0);
    for (int i = 0; i < 5 * CONFIG_CUT_SECTIONS; i++) { /* titles come twice */
        strbuf_printf(&text, "node n%d {\nx = %d}\nA = {1,\n2}\n", i % 50, i);
    }
    unsigned next = 1;
    const struct config_file_reader reader = {count_statement, &next, NULL};
    assert_int_equal(config_file_read("f", strbuf_text(&text), text.length, &reader, NULL), 0);
    assert_int_equal(next, 1 + 4 * 5 * CONFIG_CUT_SECTIONS);
    struct config_scan scan; /* libconfuse gets few sections at a time */
    assert_int_equal(config_scan("f", strbuf_text(&text), text.length, NULL, &scan, NULL), 0);
    assert_int_equal(scan.cut_count, 6);
    config_scan_fini(&scan);
    strbuf_fini(&text);
}

static void one_bad_file_leaves_nothing_for_the_next(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_memory_equal(read_string("A = \"x"), "error", 5);
        assert_string_equal(read_string("A = 1"), "1:A=1");
        assert_memory_equal(read_string("/* x"), "error", 5);
        assert_string_equal(read_string("A = \"y\""), "1:A=y");
    }
}

UNIT_TESTS(UNIT(statements_come_in_their_order_with_their_lines),
           UNIT(lists_are_an_assignment_and_appends), UNIT(sections_have_titles_and_options),
           UNIT(includes_keep_their_place), UNIT(comments_of_all_kinds_are_blank),
           UNIT(escapes_are_c_s_in_double_quotes_and_few_in_single_ones),
           UNIT(carriage_returns_of_other_systems_do_not_matter),
           UNIT(a_brace_that_is_not_closed_is_named_by_its_own_line),
           UNIT(strings_and_comments_end_where_they_should),
           UNIT(a_value_may_be_the_rest_of_its_line),
           UNIT(a_colon_makes_the_rest_of_the_line_the_value),
           UNIT(what_libconfuse_would_let_pass_is_refused), UNIT(names_are_names),
           UNIT(sections_that_cannot_be_are_refused), UNIT(broken_statements_say_what_was_expected),
           UNIT(sections_that_are_not_needed_are_stepped_over),
           UNIT(sections_that_need_a_closer_look_are_read), UNIT(many_sections_keep_their_order),
           UNIT(one_bad_file_leaves_nothing_for_the_next))
