/* From the commands of a submit file to the ad of a job.  The cases named after HTCondor's
 * documentation give what condor_submit gives, but for the attributes that the schedd adds.
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
#include "classad/ad.h"
#include "submit/submit_file.h"
#include "submit/submit_job.h"

static int look(void *arg, const char *path, bool executable, struct err *err)
{
    (void)arg;
    (void)executable;
    return strstr(path, "missing") != NULL ? err_set(err, -ENOENT, "%s: not there", path) : 0;
}

static char *ENVIRONMENT[] = {(char *)"HOME=/home/ann", (char *)"QUOTE=it's two", NULL};

static const struct submit_place PLACE = {.cwd = "/home/ann",
                                          .file = "job.sub",
                                          .arch = "X86_64",
                                          .opsys = "LINUX",
                                          .user = "ann",
                                          .env = ENVIRONMENT,
                                          .look = look};

static int one_job(struct vec *ads, struct submit_file *file, struct err *err)
{
    struct ad *ad = NULL;
    int rc = submit_job_make(file, "job.sub", &PLACE, &ad, err);
    if (rc == 0) {
        vec_push(ads, ad);
    }
    return rc;
}

static void destroy_ad(void *ad)
{
    ad_destroy(ad);
}

static const struct submit_world WORLD = {0};

static int make(const char *text, struct vec *ads, struct err *err)
{
    const struct submit_source source = {.name = "job.sub", .text = text};
    struct submit_file *file = submit_file_open(&source, &WORLD);
    int rc;
    while ((rc = submit_file_read(file, err)) == 1) {
        for (int64_t i = 0; i < submit_file_jobs(file) && rc == 1; i++) {
            submit_file_select(file, i, (int64_t)ads->count);
            int made = one_job(ads, file, err);
            rc = made != 0 ? made : rc;
        }
        if (rc != 1) {
            break;
        }
    }
    submit_file_close(file);
    return rc;
}

/* `executable = run.sh`, the lines, `queue`: attribute is printed as expected; "" for absent. */
static void gives(const char *lines, const char *attribute, const char *expected)
{
    struct vec ads = {0};
    struct err err = {{0}};
    struct strbuf text, got;
    strbuf_init(&text, 0);
    strbuf_init(&got, 0);
    strbuf_printf(&text, "executable = run.sh\n%s\nqueue\n", lines);
    if (make(strbuf_text(&text), &ads, &err) != 0) {
        fail_msg("%s: %s", lines, err.text);
    }
    const struct ad_expr *expr = ad_lookup(ads.items[0], attribute);
    if (expr != NULL) {
        ad_expr_print(expr, AD_OLD, &got);
    }
    if (strcmp(strbuf_text(&got), expected) != 0) {
        fail_msg("%s\ngives %s = %s, expected %s", lines, attribute, strbuf_text(&got), expected);
    }
    strbuf_fini(&got);
    strbuf_fini(&text);
    vec_fini(&ads, destroy_ad);
}

static void refused(const char *text, const char *message)
{
    struct vec ads = {0};
    struct err err = {{0}};
    int rc = make(text, &ads, &err);
    if (rc >= 0 || strstr(err.text, message) == NULL) {
        fail_msg("%s\ngives %d (%s), expected (%s)", text, rc, err.text, message);
    }
    vec_fini(&ads, destroy_ad);
}

static void paths_are_those_of_the_directory_of_submission(void **state)
{
    (void)state;
    gives("", "Cmd", "\"/home/ann/run.sh\"");
    gives("", "Iwd", "\"/home/ann\"");
    gives("", "JobSubmitFile", "\"job.sub\"");
    gives("initialdir = sub", "Iwd", "\"/home/ann/sub\"");
    gives("initialdir = /abs", "Iwd", "\"/abs\"");
    gives("executable = /bin/true", "Cmd", "\"/bin/true\"");
    gives("executable = tool\ntransfer_executable = false", "Cmd", "\"tool\"");
    gives("transfer_executable = false", "TransferExecutable", "false");
    gives("input = in.txt\noutput = o.$(Process)\nerror = e\nlog = l", "Out", "\"o.0\"");
    gives("stdin = in.txt", "In", "\"in.txt\"");
}

static void arguments_of_both_quotings_are_kept_apart(void **state)
{
    (void)state;
    gives("arguments = \"one 'two words' \"\"quoted\"\" 'it''s' '' last\"", "Arguments",
          "\"one 'two words' \\\"quoted\\\" 'it''s' '' last\"");
    gives("arguments = \"a\"", "Args", "");
    gives("arguments = one 'two words'", "Args", "\"one 'two words'\"");
    gives("args = old name", "Args", "\"old name\"");
    gives("arguments = $$(Arch) $$([Memory * 2]) $(DOLLAR)x", "Args",
          "\"$$(Arch) $$([Memory * 2]) $x\"");
    gives("arguments = one \\\n            two \\\n            three", "Args", "\"one two three\"");
    gives("arguments = \"\"", "Arguments", "\"\"");
    refused("executable = x\narguments = \"a 'b\"\nqueue", "job.sub:2: arguments: ");
    refused("executable = x\narguments = \"a \"b\" c\"\nqueue", "job.sub:2: arguments = ");
    refused("executable = x\narguments = \"a\nqueue", "a double quote at the beginning");
    refused("executable = x\narguments = \"\"\"\nqueue", "a double quote at the beginning");
}

static void environments_of_both_quotings_are_kept_apart(void **state)
{
    (void)state;
    gives("environment = \"PLAIN=1 SPACED='two words' QUOTED='say \"\"hi\"\"'\"", "Environment",
          "\"PLAIN=1 SPACED='two words' QUOTED='say \\\"hi\\\"'\"");
    gives("environment = ONE=1;TWO=two words;THREE=x=y", "Env",
          "\"ONE=1;TWO=two words;THREE=x=y\"");
    gives("getenv = true", "Environment", "\"HOME=/home/ann 'QUOTE=it''s two'\"");
    gives("getenv = false", "Environment", "");
    refused("executable = x\nenvironment = \"ONE\"\nqueue", "job.sub:2: environment: ");
    refused("executable = x\nenvironment = ONE\nqueue", "job.sub:2: environment: ");
}

static void the_account_is_the_group_and_its_user(void **state)
{
    (void)state;
    gives("", "AccountingGroup", "");
    gives("accounting_group = physics.cms", "AccountingGroup", "\"physics.cms.ann\"");
    gives("accounting_group = physics.cms", "AcctGroupUser", "\"ann\"");
    gives("accounting_group = physics\naccounting_group_user = bob", "AccountingGroup",
          "\"physics.bob\"");
    gives("accounting_group_user = bob", "AccountingGroup", "\"bob\"");
    gives("nice_user = true", "AccountingGroup", "\"nice-user.ann\"");
    gives("nice_user = true\naccounting_group = a", "AccountingGroup", "\"a.ann\"");
    refused("executable = x\naccounting_group = a b\nqueue", "job.sub:2: accounting_group = a b");
    refused("executable = x\naccounting_group = a..b\nqueue", "single dots");
    refused("executable = x\naccounting_group_user = .b\nqueue", "single dots");
}

static void concurrency_limits_are_one_sorted_list(void **state)
{
    (void)state;
    gives("concurrency_limits = SW.x:2,  b a", "ConcurrencyLimits", "\"a,b,sw.x:2\"");
    gives("concurrency_limits = ", "ConcurrencyLimits", "");
    gives("concurrency_limits_expr = strcat(\"u_\", Owner)", "ConcurrencyLimits",
          "strcat(\"u_\",Owner)");
    refused("executable = x\nconcurrency_limits = a:b\nqueue", "NAME:COUNT");
    refused("executable = x\nconcurrency_limits = a$\nqueue", "NAME:COUNT");
    refused("executable = x\nconcurrency_limits = a:-1\nqueue", "NAME:COUNT");
}

#define ARCH   "(TARGET.Arch == \"X86_64\")"
#define OPSYS  "(TARGET.OpSys == \"LINUX\")"
#define DISK   "(TARGET.Disk >= RequestDisk)"
#define MEMORY "(TARGET.Memory >= RequestMemory)"
#define CPUS   "(TARGET.Cpus >= RequestCpus)"

static void requirements_are_completed_by_what_the_user_left_open(void **state)
{
    (void)state;
    gives("", "Requirements", ARCH " && " OPSYS " && " DISK " && " MEMORY " && " CPUS);
    gives("requirements = Arch == \"ARM64\" && OpSys == \"LINUX\" && Disk > 5000 && Cpus >= 2",
          "Requirements",
          "(Arch == \"ARM64\" && OpSys == \"LINUX\" && Disk > 5000 && Cpus >= 2) && " MEMORY);
    gives("requirements = TARGET.HasDocker =?= true || TARGET.OpSysAndVer == \"Debian12\"",
          "Requirements",
          "(TARGET.HasDocker =?= true || TARGET.OpSysAndVer == \"Debian12\") && " ARCH " && " DISK
          " && " MEMORY " && " CPUS);
}

static void only_references_count_as_speaking_of_an_attribute(void **state)
{
    (void)state;
    gives("requirements = Owner != \"Disk\" && SearchMemoryx =!= 1", "Requirements",
          "(Owner != \"Disk\" && SearchMemoryx =!= 1) && " ARCH " && " OPSYS " && " DISK
          " && " MEMORY " && " CPUS);
    gives("requirements = memory > 5", "Requirements",
          "(memory > 5) && " ARCH " && " OPSYS " && " DISK " && " CPUS);
}

static void requirements_stand_alone_before_they_are_joined(void **state)
{
    (void)state;
    refused("executable = x\n\nrequirements = true) || (true\nqueue", "job.sub:3: requirements: ");
    gives("requirements =", "Requirements",
          ARCH " && " OPSYS " && " DISK " && " MEMORY " && " CPUS);
}

static void amounts_have_units_or_are_expressions(void **state)
{
    (void)state;
    gives("request_memory = 100", "RequestMemory", "100");
    gives("request_memory = 2GB", "RequestMemory", "2048");
    gives("request_disk = 20480", "RequestDisk", "20480");
    gives("request_disk = 1MB", "RequestDisk", "1024");
    gives("request_cpus = ifThenElse(TARGET.Cpus > 4, 4, 1)", "RequestCpus",
          "ifThenElse(TARGET.Cpus > 4,4,1)");
    gives("  Request_CPUS   =   3", "RequestCpus", "3");
    refused("executable = x\nrequest_memory = -5\nqueue", "job.sub:2: request_memory = -5: ");
    refused("executable = x\nrequest_memory = lots and lots\nqueue", "job.sub:2: request_memory: ");
}

static void attributes_of_ones_own_are_expressions(void **state)
{
    (void)state;
    gives("+Project = \"alpha\"", "Project", "\"alpha\"");
    gives("MY.Count = 3 + 4", "Count", "3 + 4");
    gives("My.Flag = true", "Flag", "true");
    gives("+Ref = $(Process) * 10", "Ref", "0 * 10");
    gives("+RequestCpus = 7", "RequestCpus", "7");
    refused("executable = x\n+Bad = 1 +\nqueue", "job.sub:2: ");
    refused("executable = x\n+1bad = 1\nqueue", "job.sub:2: '1bad' cannot be");
}

static void commands_take_only_the_values_they_know(void **state)
{
    (void)state;
    gives("universe = vanilla", "JobUniverse", "5");
    gives("priority = -3", "JobPrio", "-3");
    gives("hold = true", "JobStatus", "5");
    gives("hold = false", "JobStatus", "");
    gives("should_transfer_files = if_needed", "ShouldTransferFiles", "\"IF_NEEDED\"");
    gives("when_to_transfer_output = on_exit", "WhenToTransferOutput", "\"ON_EXIT\"");
    gives("transfer_output_remaps = \"a=b\"", "TransferOutputRemaps", "\"a=b\"");
    gives("notification = Never", "JobNotification", "0");
    gives("rank = Memory", "Rank", "Memory");
    gives("job_lease_duration = 60", "JobLeaseDuration", "60");
    gives("no_such_command = is a macro", "no_such_command", "");
    static const char *const REFUSED[] = {
        "universe = parallel",   "priority = high",           "hold = maybe",
        "getenv = A, !B",        "should_transfer_files = x", "when_to_transfer_output = never",
        "notification = Always", "transfer_executable = 7up", "max_retries = 3",
        "periodic_remove = true"};
    for (size_t i = 0; i < sizeof REFUSED / sizeof REFUSED[0]; i++) {
        char text[128], message[64];
        (void)snprintf(text, sizeof text, "executable = x\n\n%s\nqueue", REFUSED[i]);
        (void)snprintf(message, sizeof message, "job.sub:3: %.*s = ", (int)strcspn(REFUSED[i], " "),
                       REFUSED[i]);
        refused(text, message);
    }
    refused("executable = x\nrequest_gpus = 1\nqueue", "job.sub:2: request_gpus: ");
}

static void a_job_that_could_never_run_is_refused(void **state)
{
    (void)state;
    refused("arguments = 1\nqueue", "job.sub: no executable");
    refused("executable =\nqueue", "no executable");
    refused("executable = missing\nqueue", "job.sub:1: executable: /home/ann/missing: not there");
    refused("executable = x\ninitialdir = d\ninput = missing\nqueue",
            "job.sub:3: input: /home/ann/d/missing: not there");
    gives("executable = missing\ntransfer_executable = false", "Cmd", "\"missing\"");
}

static void each_job_has_the_values_of_its_statement(void **state)
{
    (void)state;
    struct vec ads = {0};
    assert_int_equal(make("executable = run.sh\narguments = first\nqueue\narguments = second\n"
                          "request_cpus = 2\nqueue 2",
                          &ads, NULL),
                     0);
    assert_int_equal(ads.count, 3);
    assert_string_equal(ad_string_or(ads.items[0], "Args", ""), "first");
    assert_false(ad_has(ads.items[0], "RequestCpus"));
    assert_string_equal(ad_string_or(ads.items[2], "Args", ""), "second");
    assert_int_equal(ad_int_or(ads.items[2], "RequestCpus", 0), 2);
    vec_fini(&ads, destroy_ad);
}

UNIT_TESTS(UNIT(paths_are_those_of_the_directory_of_submission),
           UNIT(arguments_of_both_quotings_are_kept_apart),
           UNIT(environments_of_both_quotings_are_kept_apart),
           UNIT(the_account_is_the_group_and_its_user),
           UNIT(concurrency_limits_are_one_sorted_list),
           UNIT(requirements_are_completed_by_what_the_user_left_open),
           UNIT(only_references_count_as_speaking_of_an_attribute),
           UNIT(requirements_stand_alone_before_they_are_joined),
           UNIT(amounts_have_units_or_are_expressions),
           UNIT(attributes_of_ones_own_are_expressions),
           UNIT(commands_take_only_the_values_they_know),
           UNIT(a_job_that_could_never_run_is_refused),
           UNIT(each_job_has_the_values_of_its_statement))
