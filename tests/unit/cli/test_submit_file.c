/* Submit files: lines, macros, queue statements, and what is refused with file and line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "cli/submit_file.h"

struct reading {
    struct strbuf rows; /* the values of `show`, jobs separated by '|' */
    struct err err;
    int64_t jobs;
    int64_t stop_at; /* the job whose callback refuses; -1: none */
};

static int read_file(void *arg, const char *path, char **text, struct err *err)
{
    (void)arg;
    if (strcmp(path, "items.txt") != 0) {
        return err_set(err, -ENOENT, "%s: no such file", path);
    }
    *text = mem_strdup("one 1\n# a comment\n\n  two 2  \nthree");
    return 0;
}

static int match(void *arg, const char *pattern, bool files, bool dirs, void *names_vec,
                 struct err *err)
{
    struct vec *names = names_vec;
    char name[64];
    (void)arg;
    if (strcmp(pattern, "[") == 0) {
        return err_set(err, -EINVAL, "[: bad pattern");
    }
    for (int i = 0; i < 2; i++) {
        (void)snprintf(name, sizeof name, "%s%s%s%d", files ? "f" : "", dirs ? "d" : "", pattern,
                       i);
        vec_push(names, mem_strdup(name));
    }
    return 0;
}

static const struct submit_world WORLD = {.read = read_file, .match = match};

static int one_job(void *arg, struct submit_file *file, int64_t proc, struct err *err)
{
    struct reading *reading = arg;
    char *value;
    assert_int_equal(proc, reading->jobs);
    if (proc == reading->stop_at) {
        return err_set(err, -ECANCELED, "enough");
    }
    int rc = submit_file_value(file, "show", &value, err);
    if (rc != 0) {
        return rc;
    }
    strbuf_printf(&reading->rows, "%s%s", proc > 0 ? "|" : "", value != NULL ? value : "(none)");
    mem_free(value);
    reading->jobs++;
    return 0;
}

static int read_with(const char *text, const char *extra_queue, struct reading *reading)
{
    memset(reading, 0, sizeof *reading);
    reading->stop_at = -1;
    strbuf_init(&reading->rows, 0);
    return submit_file_read("job.sub", text, extra_queue, &WORLD, one_job, reading, &reading->err);
}

static void gives_with(const char *text, const char *extra_queue, const char *rows)
{
    struct reading reading;
    int rc = read_with(text, extra_queue, &reading);
    if (rc != 0 || strcmp(strbuf_text(&reading.rows), rows) != 0) {
        fail_msg("%s\ngives %d '%s' (%s), expected '%s'", text, rc, strbuf_text(&reading.rows),
                 reading.err.text, rows);
    }
    strbuf_fini(&reading.rows);
}

static void gives(const char *text, const char *rows)
{
    gives_with(text, NULL, rows);
}

static void refused(const char *text, int code, const char *message)
{
    struct reading reading;
    int rc = read_with(text, NULL, &reading);
    if (rc != code || strstr(reading.err.text, message) == NULL) {
        fail_msg("%.200s\ngives %d (%s), expected %d (%s)", text, rc, reading.err.text, code,
                 message);
    }
    strbuf_fini(&reading.rows);
}

static void macros_are_replaced_when_a_job_is_made(void **state)
{
    (void)state;
    gives("a = 1\nb = $(a)2\nc = $(b)3\na = 9\nkind = b\nshow = $(c) $($(kind)) $(kind)\nqueue\n",
          "923 92 b");
    gives("show = $(Process) $(ProcId) $(Step) $(Row) $(ItemIndex)\nqueue 2",
          "0 0 0 0 0|1 1 1 0 0");
    gives("SHOW = $(NaMe)\nname = any case\nqueue", "any case");
}

static void a_default_stands_for_what_is_not_set(void **state)
{
    (void)state;
    gives("show = [$(a:x y)] [$(a)] [$(b:$(c:(d)))] [$(e:)]\nqueue", "[x y] [] [(d)] []");
    gives("a =\nshow = [$(a:x)]\nqueue", "[]"); /* empty is set */
    gives("k = a\nxa = 5\nshow = $(x$(k):none) $(y$(k):none)\nqueue", "5 none");
}

static void a_value_may_append_to_what_it_was(void **state)
{
    (void)state;
    gives("show = -v\nshow = $(show) -q\nShow = $(SHOW) -r\nqueue", "-v -q -r");
    gives("show = $(show)x\nqueue", "x");
    gives("show = $(shown) $$(show) $(sho\nqueue", " $$(show) $(sho");
}

static void dollars_stay_where_they_are_meant(void **state)
{
    (void)state;
    gives("Arch = no\nshow = $$(Arch) $$([Memory * 2]) $(DOLLAR)x $ $5 a$\nqueue",
          "$$(Arch) $$([Memory * 2]) $x $ $5 a$");
    gives("show = $(open\nqueue", "$(open");
}

static void macros_that_go_round_or_never_end_are_refused(void **state)
{
    (void)state;
    refused("a = $(b)\nb = $(a)\nshow = $(a)\nqueue", -ELOOP, "job.sub:3: $(");
    refused("show = $()\nqueue", -EINVAL, "job.sub:1: $() without a name");
    refused("show = $INT(x)\nqueue", -EINVAL, "job.sub:1: $INT(...) is not understood");
    refused("\nshow = a $ENV(HOME)\nqueue", -EINVAL, "job.sub:2: $ENV(...)");
}

static void macros_that_double_are_refused_soon(void **state)
{
    (void)state;
    struct strbuf text;
    strbuf_init(&text, 0);
    for (int i = 0; i < 28; i++) { /* 2^28 replacements of nothing */
        strbuf_printf(&text, "a%d = $(a%d)$(a%d)\n", i, i + 1, i + 1);
    }
    strbuf_puts(&text, "show = $(a0)\nqueue\n");
    refused(strbuf_text(&text), -E2BIG, "macros in one value");
    strbuf_clear(&text);
    strbuf_printf(&text, "b0 = %0500d\n", 0);
    for (int i = 0; i < 13; i++) {
        strbuf_printf(&text, "b%d = $(b%d)$(b%d)\n", i + 1, i, i);
    }
    strbuf_puts(&text, "show = $(b13)\nqueue\n");
    refused(strbuf_text(&text), -E2BIG, "job.sub:15: the value of show is longer than");
    strbuf_fini(&text);
}

static void lines_are_continued_trimmed_and_commented(void **state)
{
    (void)state;
    gives("show = \\\n  one \\\n      two\\\nthree\n# a comment = 5\n\n   queue   \n",
          "one twothree");
    gives("show=a\r\nqueue\r\n", "a");
    gives("\tshow\t=\t a b \t\nQueue", "a b");
    gives("show = a # not a comment\nqueue", "a # not a comment");
    gives("show = a = b\nqueue", "a = b");
}

static void queue_counts_jobs_in_all_statements(void **state)
{
    (void)state;
    gives("show = a$(Process)\nqueue\nshow = b$(Process) $(Step)\nqueue 2\n", "a0|b1 0|b2 1");
    gives("show = x\nqueue 0\n", "");
    gives("N = 2\nshow = $(Process)\nqueue $(N) * 2", "0|1|2|3");
    gives("queue = 7\nshow = $(queue)\nqueue", "7"); /* a name, not the statement */
}

static void items_of_in_are_split_at_commas_and_blanks(void **state)
{
    (void)state;
    gives("show = $(item)\nqueue item in (apple, banana cherry)", "apple|banana|cherry");
    gives("show = $(Item) $(Step) $(Row)\nqueue 2 in (a b)", "a 0 0|a 1 0|b 0 1|b 1 1");
    gives("show = $(x)\nqueue x in a, b", "a|b");
    gives("show = $(x)\nqueue x in (\n  a b\n  c,d\n)\nshow = [$(x)]\nqueue", "a|b|c|d|[]");
    gives("show = $(x)\nqueue x in ()", "");
    gives("show = $(x)\nqueue x IN (In)", "In");
}

static void items_of_from_are_lines(void **state)
{
    (void)state;
    gives("show = $(x)-$(y)\nqueue x,y from (\n  1, 10\n  2  20\n  3,30,extra\n)",
          "1-10|2-20|3-30,extra");
    gives("show = $(a)-$(b)\nqueue a b from (\nx1\ty1\nx2 , y2\nx3\n)", "x1-y1|x2-, y2|x3-");
    gives("show = $(n) $(k)\nqueue n k from items.txt", "one 1|two 2|three ");
    gives("show = $(Item)\nqueue from items.txt", "one 1|two 2|three");
    gives("f = items\nshow = $(Item)\nqueue 1 from $(f).txt", "one 1|two 2|three");
    gives("show = $(x)\nqueue x from (\n)\n", "");
}

static void items_of_matching_are_names(void **state)
{
    (void)state;
    gives("show = $(x)\nqueue x matching *.a *.b", "fd*.a0|fd*.a1|fd*.b0|fd*.b1");
    gives("show = $(x)\nqueue x matching files *.a", "f*.a0|f*.a1");
    gives("show = $(x)\nqueue 2 x matching dirs *.a", "d*.a0|d*.a0|d*.a1|d*.a1");
}

static void an_items_variable_is_seen_before_a_setting_and_gone_after(void **state)
{
    (void)state;
    gives("x = set\nshow = $(x)\nqueue x in (a)\nqueue", "a|set");
    gives("show = [$(item)]\nqueue in (a)\nqueue", "[a]|[]");
}

static void a_queue_of_the_command_line_is_used_after_the_file(void **state)
{
    (void)state;
    gives_with("show = $(Process)", "2", "0|1");
    gives_with("show = $(x)", "x in (a b)", "a|b");
}

static void bad_files_are_refused_by_file_and_line(void **state)
{
    (void)state;
    refused("show = 1\n", -EINVAL, "job.sub: there is no queue statement");
    refused("a = 1\nthis is not a command\nqueue", -EINVAL, "job.sub:2: 'this is not");
    refused("a = \\\n1\nwhat\nqueue", -EINVAL, "job.sub:3: 'what'");
    refused("'odd' = 1\nqueue", -EINVAL, "job.sub:1: ''odd'' cannot be a name");
    refused("two words = 1\nqueue", -EINVAL, "cannot be a name");
    refused("= 1\nqueue", -EINVAL, "cannot be a name");
    refused("+ = 1\nqueue", -EINVAL, "cannot be a name");
    refused("requirements @=end\nqueue", -EINVAL, "cannot be a name");
    refused("requirements@=end\nqueue", -EINVAL, "cannot be a name");
    refused("if version > 8\nqueue", -EINVAL, "job.sub:1: ");
}

static void bad_queue_statements_are_refused_by_file_and_line(void **state)
{
    (void)state;
    refused("x = 1\nqueue banana split", -EINVAL, "job.sub:2: queue banana split: not a number");
    refused("queue -1", -EINVAL, "job.sub:1: queue -1: not a number of jobs");
    refused("queue 1.5", -EINVAL, "job.sub:1: queue 1.5: ");
    refused("queue 99999999", -EINVAL, "job.sub:1: ");
    refused("queue x in (a, b", -EINVAL, "job.sub:1: the list of `in` has no closing");
    refused("queue x in (\na\n", -EINVAL, "job.sub:1: the list of `in` has no closing");
    refused("queue x from (\na\n", -EINVAL, "job.sub:1: the list of `from` has no line");
    refused("queue x from", -EINVAL, "job.sub:1: `from` needs a file");
    refused("queue x from nowhere", -ENOENT, "job.sub:1: nowhere: no such file");
    refused("queue x matching [", -EINVAL, "job.sub:1: [: bad pattern");
    refused("queue a=b in (c)", -EINVAL, "job.sub:1: ");
    refused("queue (a) in (b)", -EINVAL, "job.sub:1: ");
    refused("queue 1000000\nqueue 1000000", -E2BIG, "job.sub:2: more than 1000000 jobs");
}

static void what_a_job_refuses_ends_the_reading(void **state)
{
    (void)state;
    struct reading reading = {.stop_at = 2};
    strbuf_init(&reading.rows, 0);
    assert_int_equal(submit_file_read("job.sub", "show = $(Process)\nqueue 9", NULL, &WORLD,
                                      one_job, &reading, &reading.err),
                     -ECANCELED);
    assert_string_equal(strbuf_text(&reading.rows), "0|1");
    assert_string_equal(reading.err.text, "enough");
    strbuf_fini(&reading.rows);
}

static int walk(void *arg, struct submit_file *file, int64_t proc, struct err *err)
{
    struct strbuf *out = arg;
    size_t at = 0;
    const char *name;
    bool plus;
    unsigned line;
    (void)proc;
    (void)err;
    while (submit_file_next(file, &at, &name, &plus, &line)) {
        strbuf_printf(out, "%s%s:%u ", plus ? "+" : "", name, line);
    }
    char *value;
    assert_int_equal(submit_file_value(file, "+project", &value, NULL), 0);
    strbuf_printf(out, "%s ", value);
    mem_free(value);
    assert_false(submit_file_uses_cluster(file));
    assert_int_equal(submit_file_value(file, "log", &value, NULL), 0);
    mem_free(value);
    assert_true(submit_file_uses_cluster(file));
    submit_file_set_cluster(file, 17);
    assert_int_equal(submit_file_value(file, "log", &value, NULL), 0);
    strbuf_puts(out, value);
    mem_free(value);
    return 0;
}

static void attributes_of_ones_own_are_told_from_commands(void **state)
{
    (void)state;
    struct strbuf out;
    strbuf_init(&out, 0);
    assert_int_equal(submit_file_read("job.sub",
                                      "+Project = \"a\"\nproject = b\nMy.Count = 3\n"
                                      "log = j.$(ClusterId).$(Cluster)\nqueue",
                                      NULL, &WORLD, walk, &out, NULL),
                     0);
    assert_string_equal(strbuf_text(&out), "+Project:1 project:2 +Count:3 log:4 \"a\" j.17.17");
    strbuf_fini(&out);
}

UNIT_TESTS(UNIT(macros_are_replaced_when_a_job_is_made), UNIT(a_default_stands_for_what_is_not_set),
           UNIT(a_value_may_append_to_what_it_was), UNIT(dollars_stay_where_they_are_meant),
           UNIT(macros_that_go_round_or_never_end_are_refused),
           UNIT(macros_that_double_are_refused_soon),
           UNIT(lines_are_continued_trimmed_and_commented),
           UNIT(queue_counts_jobs_in_all_statements),
           UNIT(items_of_in_are_split_at_commas_and_blanks), UNIT(items_of_from_are_lines),
           UNIT(items_of_matching_are_names),
           UNIT(an_items_variable_is_seen_before_a_setting_and_gone_after),
           UNIT(a_queue_of_the_command_line_is_used_after_the_file),
           UNIT(bad_files_are_refused_by_file_and_line),
           UNIT(bad_queue_statements_are_refused_by_file_and_line),
           UNIT(what_a_job_refuses_ends_the_reading),
           UNIT(attributes_of_ones_own_are_told_from_commands))
