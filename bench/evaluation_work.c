/* bench/evaluation_work.c - how long the work lasts that one slice of a daemon may do.
 *
 * Daemons evaluate for others in slices of AD_SLICE_STEPS (classad/ad_limits.h), counted and never
 * timed.  Each expression here is evaluated in one job after another, as a query does it, until the
 * counter says that the slice is over.  A slice may end with an evaluation that takes all that one
 * may (AD_EVAL_STEPS_MAX): the last line reckons with both, at the time of the worst step, which
 * must stay below the loop's budget of 10 ms.  Each expression is tried alone and many times within
 * one evaluation, and the worse of both counts.  They are those that take long for a step: each
 * function and each operator that does more than look at one value.
 *
 * SHORT: BENCH_PART=40
 * LINK: classad base
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "bench/bench_env.h"
#include "classad/ad.h"
#include "classad/ad_limits.h"

#define SLICES    40
#define LOOP_MS   10.0 /* LOOP_CALLBACK_BUDGET_MS */
#define TIMES     40   /* an expression within one */
#define LONG_TEXT 500000

static const struct {
    const char *name, *text;
} EXPRESSIONS[] = {
    {"true", "true"},
    {"status", "JobStatus == 1"},
    {"names", "JobStatus == 1 && Owner == \"alice\" && ProcId >= 0 && ImageSize < 1e9"},
    {"regexp_found", "regexp(\"^al.*e$\", Owner)"},
    {"regexp_options", "regexp(\"ALICE|BOB|CAROL\", Owner, \"i\")"},
    {"regexp_backtracks",
     "regexp(\"(a+)+$\", strcat(\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\", ProcId))"},
    {"regexp_alternates", "regexp(\"(a|aa)+$\", Letters)"},
    {"regexp_any", "regexp(\"(.*)(.*)(.*)(.*)x\", Letters)"},
    {"regexp_classes", "regexp(\"[a-z]*[a-z0-9]*[^x]*!\", Letters)"},
    {"regexp_back_reference", "regexp(\"(a*)(a*)\\\\1\\\\2x\", Letters)"},
    {"regexp_long", "regexp(\"x$\", Long)"},
    {"regexp_long_class", "regexp(\"[b-y]{3}\", Long)"},
    {"regexp_large", "regexp(Large, Owner)"},
    {"regexp_nested", "regexp(\"((a{1,30}){1,30}b){1,3}\", Owner)"},
    {"regexp_nested_sets", "regexp(\"(([a-f]|[g-m]){1,20}){1,20}\", Owner)"},
    {"regexp_look_behind", "regexp(\"(?<=aaaaaaaa)b\", Letters)"},
    {"regexp_recursion", "regexp(\"^(a(?1)?a|a)$\", Letters)"},
    {"regexp_member", "regexpMember(\"(b+)+$\", {Letters, Letters, Letters})"},
    {"replace_all", "replaceAll(\"a\", Long, \"bb\")"},
    {"string_list_member", "stringListMember(\"z\", Words)"},
    {"string_list_subset", "stringListSubsetMatch(Words, Words)"},
    {"string_list_sum", "stringListSum(Numbers)"},
    {"string_list_regexp", "stringList_regexpMember(\"(b+)+c\", Words)"},
    {"split", "size(split(Words))"},
    {"join", "join(\"--\", split(Words))"},
    {"strcat", "size(strcat(Long, Long))"},
    {"substr", "substr(Long, 5)"},
    {"upper", "toUpper(Long)"},
    {"compare_texts", "Long == strcat(Long, \"\")"},
    {"compare_is", "Long =?= strcat(Long, \"\")"},
    {"strcmp", "strcmp(Long, strcat(Long, \"\"))"},
    {"string_of_list", "string(split(Words))"},
    {"unparse", "unparse(Table)"},
    {"unresolved", "unresolved(Table)"},
    {"eval_text", "eval(\"JobStatus + 1 == 2 && (Owner == \\\"alice\\\" || ProcId > 7)\")"},
    {"eval_long", "eval(LongSum)"},
    {"list_member", "member(77, Table)"},
    {"list_sum", "sum(Table)"},
    {"count_matches", "countMatches(A > 3, {[A = 1], [A = 4], [A = 7], [A = 9]})"},
    {"doubling", "D24"},
    {"version", "versionLT(\"10.0.9\", \"10.0.10\")"},
    {"time", "formatTime(QDate, \"%Y-%m-%d %H:%M:%S\")"},
    {"abs_time", "absTime(\"2024-03-01T12:30:00+05:30\")"},
    {"split_time", "splitTime(absTime(QDate)).Hours"},
    {"arguments", "listToArgs({\"a b\", \"c\", \"d'e\"})"},
    {"environment", "mergeEnvironment(\"A=1 B=2\", \"C=3\")"},
    {"format_long", "formatTime(QDate, Formats)"},
    {"list_size_odd", "stringListSize(Letters, Words)"},
    {"list_intersect", "stringListsIntersect(Words, Letters, \"q\")"},
    {"split_odd", "size(split(Words, Odd))"},
    {"args_long", "size(argsToList(Blanks))"},
    {"list_to_args_long", "listToArgs(split(Words))"},
    {"environment_long", "mergeEnvironment(Variables)"},
    {"env_v1_long", "envV1ToV2(Assignments)"},
    {"version_long", "versioncmp(Digits, Digits)"},
    {"is_undefined", "isUndefined(Nothing)"},
    {"if_then_else", "ifThenElse(JobStatus == 1, 3, 4)"},
    {"quantize", "quantize(ProcId, {4, 16, 64})"},
    {"int_of_text", "int(\"1234567890.25\")"},
    {"string_of_int", "string(ProcId)"},
    {"string_of_real", "string(1.0 / 3)"},
    {"rel_time", "relTime(\"1+02:03:04.5\")"},
    {"interval", "interval(100000)"},
    {"get_year", "getYear(absTime(QDate))"},
    {"user_name", "splitUserName(\"alice@example.org\")[0]"},
    {"short_split", "split(\"a b c\")[1]"},
    {"short_join", "join(\",\", \"a\", \"b\", ProcId)"},
    {"short_upper", "toUpper(Owner)"},
    {"short_strcmp", "stricmp(Owner, \"bob\")"},
    {"short_substr", "substr(Owner, 1, 3)"},
    {"short_list", "stringListMember(\"c\", \"a,b,c\")"},
    {"short_sum", "stringListSum(\"1,2,3\")"},
    {"short_unparse", "unparse(Square)"},
    {"short_unresolved", "unresolved(Square)"},
    {"unresolved_pattern", "unresolved(Square, \"^Pr\")"},
    {"short_replace", "replaceAll(\"i\", Owner, \"ii\")"},
    {"pow", "pow(ProcId, 2.5) + quantize(ProcId, 8)"},
};

/* Of this thread alone: what other processes take of the machine is not ours. */
static double now_s(void)
{
    struct timespec now;
    CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* name = the piece so many times, between the first and the last text; as a text or an expression
 */
static void set_repeated(struct ad *ad, const char *name, const char *piece, int count,
                         bool is_expr)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    for (int i = 0; i < count; i++) {
        strbuf_puts(&text, piece);
    }
    if (is_expr) {
        struct strbuf list;
        strbuf_init(&list, 0);
        strbuf_printf(&list, "{ %s0 }", strbuf_text(&text));
        CHECK(ad_set_expr(ad, name, strbuf_text(&list), NULL) == 0);
        strbuf_fini(&list);
    } else {
        ad_set_string(ad, name, strbuf_text(&text));
    }
    strbuf_fini(&text);
}

/* What many jobs share; what each has of its own is above it, as the schedd builds a job's ad. */
static struct ad *make_cluster(void)
{
    struct ad *ad = ad_create();
    ad_set_string(ad, "Owner", "alice");
    ad_set_int(ad, "ImageSize", 40000);
    ad_set_int(ad, "QDate", 1700000000);
    set_repeated(ad, "Letters", "a", 60, false);
    set_repeated(ad, "Long", "a", LONG_TEXT, false);
    set_repeated(ad, "Words", "bbbb,", 2000, false);
    set_repeated(ad, "Numbers", "12.5,", 2000, false);
    set_repeated(ad, "Large", "(abc[d-f]|x*y)", 800, false);
    CHECK(ad_set_expr(ad, "LongSum", "strcat(LongSumHead, \"1\")", NULL) == 0);
    set_repeated(ad, "LongSumHead", "1+", 4000, false);
    set_repeated(ad, "Formats", "%c", 60, false);
    set_repeated(ad, "Odd", "(abc[d-f]|x*y)", 100, false);
    set_repeated(ad, "Blanks", "a ", 5000, false);
    set_repeated(ad, "Variables", "A=1 B=2 ", 1500, false);
    set_repeated(ad, "Assignments", "A=1;B=2;", 1500, false);
    set_repeated(ad, "Digits", "0000001.2", 1000, false);
    CHECK(ad_set_expr(ad, "Square", "ProcId * ProcId + Missing", NULL) == 0);
    set_repeated(ad, "Table", "17, Owner, ", 2000, true);
    CHECK(ad_set_expr(ad, "D0", "ProcId", NULL) == 0);
    for (int i = 1; i <= 24; i++) {
        char name[8], text[24];
        (void)snprintf(name, sizeof(name), "D%d", i);
        (void)snprintf(text, sizeof(text), "D%d + D%d", i - 1, i - 1);
        CHECK(ad_set_expr(ad, name, text, NULL) == 0);
    }
    return ad;
}

struct figures {
    double worst_ms; /* of a slice */
    uint64_t steps, evaluations, over;
    double total_s;
};

/* times: so often in one expression, which is then the work of calls rather than of looking at ads
 */
static void run(const struct ad *cluster, const char *text, int times, struct figures *figures)
{
    struct ad_expr *expr = NULL;
    struct strbuf whole;
    strbuf_init(&whole, 0);
    strbuf_puts(&whole, times > 1 ? "false" : text);
    for (int i = 0; times > 1 && i < times; i++) {
        strbuf_printf(&whole, " || (%s) =?= 77", text);
    }
    CHECK(ad_expr_parse(strbuf_text(&whole), whole.length, AD_NEW, &expr, NULL) == 0);
    strbuf_fini(&whole);
    struct ad_work work = {0};
    const struct ad_context context = {.now_s = 1731000000, .work = &work};
    int64_t proc = 0;
    int slices = part_of(SLICES);
    *figures = (struct figures){0};
    for (int i = 0; i < slices; i++) {
        double begin = now_s();
        uint64_t end = work.steps + AD_SLICE_STEPS;
        while (work.steps < end) {
            struct ad *job = ad_create();
            ad_set_int(job, "ProcId", proc++);
            ad_set_int(job, "JobStatus", 1);
            ad_chain(job, cluster);
            (void)ad_eval_bool(expr, job, NULL, &context); /* whatever it is */
            ad_destroy(job);
            work.steps += AD_LOOK_STEPS;
            figures->evaluations++;
        }
        double took = now_s() - begin;
        figures->total_s += took;
        figures->worst_ms = took * 1e3 > figures->worst_ms ? took * 1e3 : figures->worst_ms;
    }
    figures->steps = work.steps;
    figures->over = work.over;
    ad_expr_destroy(expr);
}

int main(void)
{
    struct ad *cluster = make_cluster();
    double worst = 0; /* ns a step */
    const char *worst_name = "";
    for (size_t i = 0; i < sizeof(EXPRESSIONS) / sizeof(EXPRESSIONS[0]); i++) {
        struct figures figures;
        struct figures many;
        run(cluster, EXPRESSIONS[i].text, 1, &figures);
        run(cluster, EXPRESSIONS[i].text, TIMES, &many);
        figures = many.total_s > figures.total_s ? many : figures;
        double step_ns = figures.total_s * 1e9 / (double)figures.steps;
        (void)fprintf(stderr,
                      "%-22s slice mean %.2f ms worst %.2f ms, %.1f ns a step, %.0f steps an "
                      "evaluation%s\n",
                      EXPRESSIONS[i].name, figures.total_s * 1e3 / part_of(SLICES),
                      figures.worst_ms, step_ns,
                      (double)figures.steps / (double)figures.evaluations,
                      figures.over > 0 ? " (over the limit)" : "");
        if (step_ns > worst) {
            worst = step_ns;
            worst_name = EXPRESSIONS[i].name;
        }
    }
    double slice_ms = worst * (AD_SLICE_STEPS + AD_EVAL_STEPS_MAX) / 1e6;
    (void)printf("BENCH evaluation_work_worst_step %.1f ns (%s)\n", worst, worst_name);
    (void)
        printf("BENCH evaluation_work_slice %.2f ms ratio %.2f vs target %.0f ms (%d + %d steps)\n",
               slice_ms, slice_ms / LOOP_MS, LOOP_MS, AD_SLICE_STEPS, AD_EVAL_STEPS_MAX);
    ad_destroy(cluster);
    return 0;
}
