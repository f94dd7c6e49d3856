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
#include "submit/submit_file.h"

struct reading {
    struct strbuf rows; /* the values of `show`, jobs separated by '|' */
    struct err err;
    int64_t jobs;
};

static int read_file(void *arg, const char *path, char **text, struct err *err)
{
    (void)arg;
    if (strcmp(path, "strange.txt") == 0) {
        *text = mem_strdup(")\n) b\n#no\nc\n");
        return 0;
    }
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
    if (strcmp(pattern, "*.strange") == 0) {
        vec_push(names, mem_strdup("#one"));
        vec_push(names, mem_strdup("the other"));
        vec_push(names, mem_strdup(" blanks "));
        vec_push(names, mem_strdup("[x]"));
        return 0;
    }
    for (int i = 0; i < 2; i++) {
        (void)snprintf(name, sizeof name, "%s%s%s%d", files ? "f" : "", dirs ? "d" : "", pattern,
                       i);
        vec_push(names, mem_strdup(name));
    }
    return 0;
}

static const char *environment(void *arg, const char *name)
{
    (void)arg;
    return strcmp(name, "HOME") == 0 ? "/home/me" : NULL;
}

static uint64_t random_number(void *arg)
{
    (void)arg;
    return 7;
}

static const struct submit_world WORLD = {
    .read = read_file, .match = match, .env = environment, .random = random_number, .cwd = "/home"};

static int one_job(struct submit_file *file, struct reading *reading)
{
    char *value;
    int rc = submit_file_value(file, "show", &value, &reading->err);
    if (rc == 0) {
        strbuf_printf(&reading->rows, "%s%s", reading->jobs > 0 ? "|" : "",
                      value != NULL ? value : "(none)");
        mem_free(value);
        reading->jobs++;
    }
    return rc;
}

static int read_source(const struct submit_source *source, struct reading *reading)
{
    struct submit_file *file = submit_file_open(source, &WORLD);
    int rc;
    memset(reading, 0, sizeof *reading);
    strbuf_init(&reading->rows, 0);
    while ((rc = submit_file_read(file, &reading->err)) == 1) {
        for (int64_t i = 0; i < submit_file_jobs(file) && rc == 1; i++) {
            submit_file_select(file, i, reading->jobs);
            int made = one_job(file, reading);
            rc = made != 0 ? made : rc;
        }
        if (rc != 1) {
            break;
        }
    }
    submit_file_close(file);
    return rc;
}

static int read_with(const char *text, const char *extra_queue, struct reading *reading)
{
    const struct submit_source source = {.name = "job.sub", .text = text, .queue = extra_queue};
    return read_source(&source, reading);
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
    gives("a =\nshow = [$(a:x)] [$(a)]\nqueue", "[x] []"); /* also for what is empty */
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
    refused("a = $(b)\nb = $(a)\nshow = $(a)\nqueue", -ELOOP, "job.sub:3: show: $(");
    refused("show = $INT(x)\nqueue", -EINVAL, "job.sub:1: show: $INT(): x is not a number");
}

/* Each value within its limits, and many of them: one job cannot hold up the schedd that makes it.
 */
static void the_values_of_one_job_are_limited_together(void **state)
{
    (void)state;
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_printf(&text, "a0 = %01024d\n", 0);
    for (int i = 1; i <= 9; i++) {
        strbuf_printf(&text, "a%d = $(a%d)$(a%d)\n", i, i - 1, i - 1);
    }
    strbuf_puts(&text, "show = $(a9)\nqueue 2\n");
    const struct submit_source source = {.name = "job.sub", .text = strbuf_text(&text)};
    struct submit_file *file = submit_file_open(&source, &WORLD);
    struct err err;
    assert_int_equal(submit_file_read(file, &err), 1);
    for (int64_t job = 0; job < 2; job++) {
        submit_file_select(file, job, job);
        int rc = 0, values = 0;
        for (char *value = NULL; rc == 0 && values < 100; values++) {
            rc = submit_file_value(file, "show", &value, &err);
            mem_free(rc == 0 ? value : NULL);
        }
        assert_int_equal(rc, -E2BIG);
        assert_in_range(values, 5, 10);
        assert_non_null(strstr(err.text, "the values of the job's macros are longer than"));
    }
    submit_file_close(file);
    strbuf_fini(&text);
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
    refused(strbuf_text(&text), -E2BIG, "job.sub:15: show: the text is longer than");
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
    refused("a = 1\nthis is not a command\nqueue", -EINVAL, "job.sub:2: 'this is not");
    refused("a = \\\n1\nwhat\nqueue", -EINVAL, "job.sub:3: 'what'");
    refused("'odd' = 1\nqueue", -EINVAL, "job.sub:1: ''odd'' is not a valid name");
    refused("two words = 1\nqueue", -EINVAL, "neither NAME = VALUE");
    refused("= 1\nqueue", -EINVAL, "neither NAME = VALUE");
    refused("+ = 1\nqueue", -EINVAL, "is not a valid name");
    refused("requirements @=end\nqueue", -EINVAL, "the line @end");
    refused("requirements@=end\nqueue", -EINVAL, "the line @end");
    refused("if version > 8\nqueue", -EINVAL, "job.sub:1: ");
}

static void bad_queue_statements_are_refused_by_file_and_line(void **state)
{
    (void)state;
    refused("x = 1\nqueue banana split", -EINVAL, "job.sub:2: queue banana split: not a number");
    refused("queue -1", -EINVAL, "job.sub:1: queue -1: not a number of jobs");
    refused("queue 1.5", -EINVAL, "job.sub:1: queue 1.5: ");
    refused("queue 99999999", -EINVAL, "job.sub:1: ");
    refused("queue x in (a, b", -EINVAL,
            "job.sub:1: Reached end of file without finding closing brace");
    refused("queue x in (\na\n", -EINVAL,
            "job.sub:1: Reached end of file without finding closing brace");
    refused("queue x from (\na\n", -EINVAL, "job.sub:1: Reached end of file without finding");
    refused("queue x from", -EINVAL, "job.sub:1: `from` needs a file");
    refused("queue x from nowhere", -ENOENT, "job.sub:1: nowhere: no such file");
    refused("queue x matching [", -EINVAL, "job.sub:1: [: bad pattern");
    refused("queue x from [1:a] items.txt", -EINVAL, "job.sub:1: [1:a] is not a slice");
    refused("queue x in [1:a](a b)", -EINVAL, "job.sub:1: [1:a] is not a slice");
    refused("queue a=b in (c)", -EINVAL, "job.sub:1: ");
    refused("queue (a) in (b)", -EINVAL, "job.sub:1: ");
    refused("queue 10000000 x in (a b)", -E2BIG, "job.sub:1: more than 10000000 jobs");
}

static void attributes_of_ones_own_are_told_from_commands(void **state)
{
    (void)state;
    const struct submit_source source = {.name = "job.sub",
                                         .text = "+Project = \"a\"\nproject = b\nMy.Count = 3\n"
                                                 "log = j.$(ClusterId).$(Cluster)\nqueue"};
    struct submit_file *file = submit_file_open(&source, &WORLD);
    struct strbuf out;
    size_t at = 0;
    const char *name;
    bool plus;
    unsigned line;
    char *value;
    strbuf_init(&out, 0);
    assert_int_equal(submit_file_read(file, NULL), 1);
    submit_file_select(file, 0, 0);
    while (submit_file_walk(file, &at, &name, &plus, &line)) {
        strbuf_printf(&out, "%s%s:%u ", plus ? "+" : "", name, line);
    }
    assert_int_equal(submit_file_value(file, "my.project", &value, NULL), 0);
    strbuf_printf(&out, "%s ", value);
    mem_free(value);
    assert_false(submit_file_uses_cluster(file));
    assert_int_equal(submit_file_value(file, "log", &value, NULL), 0);
    mem_free(value);
    assert_true(submit_file_uses_cluster(file));
    submit_file_set_cluster(file, 17);
    assert_int_equal(submit_file_value(file, "log", &value, NULL), 0);
    strbuf_puts(&out, value);
    mem_free(value);
    assert_string_equal(strbuf_text(&out), "+Project:1 project:2 +Count:3 log:4 \"a\" j.17.17");
    strbuf_fini(&out);
    submit_file_close(file);
}

static void functions_compute_from_macros_and_texts(void **state)
{
    (void)state;
    gives("m = 3 + 4 * 2\nshow = $INT(m) $REAL(m) $INT(Process) $EVAL(m) $INT(m,%04d) $INT(2*5)\n"
          "queue",
          "11 11 0 11 0011 10");
    gives("m = 7.9\nshow = $INT(m) $REAL(m) $REAL(m,%.0f) $REAL(m,%.2f)\nqueue", "7 7.9 8.0 7.90");
    gives("word = abcdefgh\nshow = $SUBSTR(word,2) $SUBSTR(word,1,3) $SUBSTR(word,-3) "
          "$SUBSTR(word,0,-2) $STRING(word) $SUBSTR(word,9)|\nqueue",
          "cdefgh bcd fgh abcdef abcdefgh |");
    gives("s = \"in quotes\"\nshow = $STRING(s) $EVAL(s) $STRING(s,[%.4s])\nqueue",
          "in quotes in quotes [in q]");
    gives("list = a,b , c\nn = 1\nshow = $CHOICE(2,list) $CHOICE(n,x,y,z) $CHOICE($(n),p,q)\nqueue",
          "c y q");
    gives("show = $RANDOM_CHOICE(a,b,c) $RANDOM_INTEGER(10,20) $RANDOM_INTEGER(0,100,25)\nqueue",
          "b 17 50"); /* the seventh */
    gives("show = $ENV(HOME) $ENV(NOSUCH) $ENV(NOSUCH:else) $NOFUNCTION(x)\nqueue",
          "/home/me UNDEFINED else $NOFUNCTION(x)");
    gives("name = HOME\nshow = $ENV($(name)) $INT($(x:4) + 1)\nqueue", "/home/me 5");
    refused("show = $SUBSTR(x)\nqueue", -EINVAL, "job.sub:1: show: $SUBSTR(x)");
    refused("show = $CHOICE(3,a,b)\nqueue", -EINVAL, "index 3 is not in the range 0 to 1");
    refused("show = $CHOICE(0,nolist)\nqueue", -EINVAL, "no list named nolist");
    refused("show = $INT(1,%s)\nqueue", -EINVAL, "'%s' is not a valid format");
    refused("show = $RANDOM_INTEGER(3,1)\nqueue", -EINVAL, "MIN is above MAX");
}

static void parts_of_a_path_are_taken_by_letters(void **state)
{
    (void)state;
    gives("path = data/run1/input.tar.gz\nshow = $F(path) $Fp(path) $Fd(path) $Fn(path) $Fx(path) "
          "$Fnx(path) $Fpn(path) $Fdb(path) $Fddn(path) $Fxb(path)\nqueue",
          "data/run1/input.tar.gz data/run1/ run1/ input.tar .gz input.tar.gz data/run1/input.tar "
          "run1 data/run1/input.tar gz");
    gives(
        "path = \"a b.txt\"\nshow = $F(path) $Fq(path) $Fqa(path) $Fqn(path) $Ff(path) $Fp(path)|\n"
        "queue",
        "a b.txt \"a b.txt\" 'a b.txt' \"a b\" /home/a b.txt |");
    gives("path = /data/a/b/c.txt\nshow = $BASENAME(path) $DIRNAME(path) $BASENAME(path,.txt) "
          "$Fw(path)\nqueue",
          "c.txt /data/a/b/ c \\data\\a\\b\\c.txt");
}

static void conditions_choose_lines(void **state)
{
    (void)state;
    gives("outer = true\ninner = no\nif $(outer)\n if $(inner)\n  show = both\n else\n"
          "  show = outer\n endif\n if defined nosuch\n  show = 9\n endif\nendif\nqueue",
          "outer");
    gives(
        "n = 0\nif $(n)\nshow = n\nelif defined n\nshow = defined\nelse\nshow = else\nendif\nqueue",
        "defined");
    gives("if version >= 8.1.6\nif ! version > 99.1\nshow = new\nendif\nendif\nqueue", "new");
    gives("if $(nosuch)\nshow = a\nelse\nshow = b\nendif\nif false\nif garbage "
          "x\nendif\nendif\nqueue",
          "b");
    refused("if $(x) ==\nendif\nqueue", -EINVAL,
            "job.sub:1: $(x) == is not a valid if condition because: complex");
    refused("if word\nendif", -EINVAL, "expression is not a conditional");
    refused("else\nqueue", -EINVAL, "job.sub:1: else without matching if");
    refused("if true\nelse\nelse\nendif", -EINVAL, "job.sub:3: else is not allowed after else");
    refused("if true\nqueue 0", -EINVAL, "job.sub: endif(s) not found");
}

static void blocks_includes_and_messages_are_obeyed(void **state)
{
    (void)state;
    gives("show @=end\n  (a)\n  # not this\n  && (b)\n@end\nqueue", "(a)\n&& (b)");
    refused("show @=end\n(a)\n", -EINVAL, "job.sub:1: the line @end");
    gives("include ifexist : nowhere\nshow = $(x:none)\nqueue", "none");
    refused("include : nowhere\nqueue", -ENOENT, "job.sub:1: nowhere: no such file");
    refused("include : items.txt\nqueue", -EINVAL, "items.txt:1: 'one 1'");
    refused("include command : ls\nqueue", -EINVAL, "not allowed in this context");
    refused("n = 4\nerror : only $(n) of them\nqueue", -EINVAL, "job.sub:2: only 4 of them");
    refused("use feature : gpus\nqueue", -EINVAL, "templates are not supported");
}

static void slices_select_items(void **state)
{
    (void)state;
    gives("show = $(x)$(Row)$(ItemIndex)\nqueue x in [::3] (a, b, c, d, e, f, g)", "a00|d13|g26");
    gives("show = $(x)\nqueue x in [2] (a, b, c, d)", "c|d");
    gives("show = $(x)\nqueue x in [-2:] (a, b, c, d)", "c|d");
    gives("show = $(x)\nqueue x in[1:3](a, b, c, d)", "b|c");
    gives("show = $(x)\nqueue x from [1:] items.txt", "two 2|three");
    gives("show = $(x)\nqueue x from [:-1] (\na\nb\nc\n)", "a|b");
    refused("queue x in [::0] (a)", -EINVAL, "[::0] is not a slice");
    refused("queue x in (a, b\nc", -EINVAL, "Reached end of file without finding closing brace");
}

static void what_comes_before_and_what_is_appended_is_read_there(void **state)
{
    (void)state;
    struct reading reading;
    const struct submit_source source = {.name = "job.sub",
                                         .text = "b = 2\nshow = $(a) $(b) $(c:no)\nqueue\nqueue",
                                         .first = "a = 1\nb = 7\n",
                                         .append = "c = 3\nb = 9\n"};
    assert_int_equal(read_source(&source, &reading), 0);
    assert_string_equal(strbuf_text(&reading.rows), "1 9 3|1 9 3");
    strbuf_fini(&reading.rows);
}

static void a_digest_makes_the_same_jobs(void **state)
{
    (void)state;
    const char *text =
        "base = /d\nif defined base\nshow = $(x) $(base) $(y) $(Step) $(ItemIndex)\nendif\n"
        "+M @=z\n1 +\n2\n@z\nqueue 2 x,y from [1:] items.txt";
    const struct submit_source source = {.name = "job.sub", .text = text};
    struct submit_file *file = submit_file_open(&source, &WORLD);
    struct strbuf digest;
    strbuf_init(&digest, 0);
    assert_int_equal(submit_file_read(file, NULL), 1);
    submit_file_digest(file, &digest);
    submit_file_close(file);
    assert_null(strstr(strbuf_text(&digest), "items.txt"));
    assert_non_null(strstr(strbuf_text(&digest), "1 +\n2\n"));
    gives(strbuf_text(&digest), "two /d 2 0 0|two /d 2 1 0|three /d  0 1|three /d  1 1");
    strbuf_fini(&digest);
}

static void digest_gives(const char *text, const char *rows)
{
    const struct submit_source source = {.name = "job.sub", .text = text};
    struct submit_file *file = submit_file_open(&source, &WORLD);
    struct strbuf digest;
    strbuf_init(&digest, 0);
    assert_int_equal(submit_file_read(file, NULL), 1);
    submit_file_digest(file, &digest);
    submit_file_close(file);
    gives(strbuf_text(&digest), rows);
    strbuf_fini(&digest);
}

static void an_item_that_looks_like_the_end_of_its_list_or_like_a_comment_is_an_item(void **state)
{
    (void)state;
    digest_gives("show = $(x)\nqueue x in (\na #b c\n)", "a|#b|c");
    digest_gives("show = $(x)\nqueue x from strange.txt", ")|) b|c");
    digest_gives("show = $(x)\nqueue x in (\n#a )b\n)", "#a|)b");
    digest_gives("show = $(x)\nqueue x from (\n#no\na b\n)", "a b");
    digest_gives("show = $(x)\nqueue x matching files *.strange", "#one|the other|blanks|[x]");
    gives("show = $(x)\nqueue x from @=e\n#a\n)\n@f\n@e\nqueue", "#a|)|@f|");
    refused("queue x from @=e\na", -EINVAL,
            "the items that begin on line 1 are not closed: '@e' is missing");
}

static void what_nothing_looked_at_is_told(void **state)
{
    (void)state;
    static const struct submit_world world = {0};
    const struct submit_source source = {.name = "f",
                                         .text = "used = 1\nlooked = $(used)\nMY.Own = 2\n"
                                                 "misspelt = 3\nqueue\n"};
    struct submit_file *file = submit_file_open(&source, &world);
    char *value = NULL;
    size_t at = 0;
    const char *name = NULL, *text = NULL;
    unsigned line = 0;
    assert_int_equal(submit_file_read(file, NULL), 1);
    submit_file_select(file, 0, 0);
    assert_int_equal(submit_file_value(file, "looked", &value, NULL), 0);
    assert_string_equal(value, "1");
    mem_free(value);
    assert_true(submit_file_unused(file, &at, &name, &text, &line));
    assert_string_equal(name, "misspelt");
    assert_string_equal(text, "3");
    assert_int_equal(line, 4);
    assert_false(submit_file_unused(file, &at, &name, &text, &line));
    submit_file_close(file);
}

UNIT_TESTS(
    UNIT(what_nothing_looked_at_is_told), UNIT(macros_are_replaced_when_a_job_is_made),
    UNIT(a_default_stands_for_what_is_not_set), UNIT(a_value_may_append_to_what_it_was),
    UNIT(dollars_stay_where_they_are_meant), UNIT(macros_that_go_round_or_never_end_are_refused),
    UNIT(the_values_of_one_job_are_limited_together), UNIT(macros_that_double_are_refused_soon),
    UNIT(lines_are_continued_trimmed_and_commented), UNIT(queue_counts_jobs_in_all_statements),
    UNIT(items_of_in_are_split_at_commas_and_blanks), UNIT(items_of_from_are_lines),
    UNIT(items_of_matching_are_names),
    UNIT(an_items_variable_is_seen_before_a_setting_and_gone_after),
    UNIT(a_queue_of_the_command_line_is_used_after_the_file),
    UNIT(bad_files_are_refused_by_file_and_line),
    UNIT(bad_queue_statements_are_refused_by_file_and_line),
    UNIT(attributes_of_ones_own_are_told_from_commands),
    UNIT(functions_compute_from_macros_and_texts), UNIT(parts_of_a_path_are_taken_by_letters),
    UNIT(conditions_choose_lines), UNIT(blocks_includes_and_messages_are_obeyed),
    UNIT(slices_select_items), UNIT(what_comes_before_and_what_is_appended_is_read_there),
    UNIT(a_digest_makes_the_same_jobs),
    UNIT(an_item_that_looks_like_the_end_of_its_list_or_like_a_comment_is_an_item))
