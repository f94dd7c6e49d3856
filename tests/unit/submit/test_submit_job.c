/* From the commands of a submit file to the ad of a job.  The cases named after HTCondor's
 * documentation give what condor_submit gives, but for the attributes that the schedd adds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/check.h"
#include "tests/unit/submit/submit_case.h"

#include <errno.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "submit/submit_file.h"
#include "submit/submit_job.h"

static void paths_are_those_of_the_directory_of_submission(void **state)
{
    (void)state;
    gives("", "Cmd", "\"/home/ann/run.sh\"");
    gives("", "Iwd", "\"/home/ann\"");
    gives("", "JobSubmitFile", "\"job.sub\"");
    gives("initialdir = sub//a", "Iwd", "\"/home/ann/sub/a\"");
    gives("initial_dir = /abs", "Iwd", "\"/abs\"");
    gives("initialdir = sub", "Cmd", "\"/home/ann/run.sh\"");
    gives("executable = /bin/true", "Cmd", "\"/bin/true\"");
    gives("executable = tool\ntransfer_executable = false", "Cmd", "\"tool\"");
    gives("transfer_executable = false", "TransferExecutable", "false");
    gives("shell = echo 'a b' | wc", "Cmd", "\"/bin/sh\"");
    gives("shell = a b", "Arguments", "\"-c a' 'b\"");
    gives("initialdir = d\nlog = l", "UserLog", "\"/home/ann/d/l\"");
    gives("log = /var//l", "UserLog", "\"/var/l\"");
}

static void streams_are_sent_unless_there_is_nothing(void **state)
{
    (void)state;
    gives("input = in.txt\noutput = o.$(Process)\nerror = e", "Out", "\"o.0\"");
    gives("output = o", "StreamOut", "false");
    gives("output = o", "TransferOut", "");
    gives("stdin = in.txt", "In", "\"in.txt\"");
    gives("", "TransferIn", "false");
    gives("", "StreamIn", "");
    gives("error = /dev/null", "TransferErr", "false");
    gives("output = o\nstream_output = true", "StreamOut", "true");
    gives("output = o\ntransfer_output = false", "TransferOut", "false");
    gives("output = o\ntransfer_output = false", "StreamOut", "");
    refused("executable = x\nstream_error = maybe\nqueue", "job.sub:2: stream_error=maybe");
    gives("input = missing", "In", "\"missing\"");
    refused_for_real("executable = x\ninput = missing\nqueue",
                     "job.sub:2: input: /home/ann/missing: not there");
}

static void arguments_of_both_quotings_are_one_text(void **state)
{
    (void)state;
    gives("arguments = \"one 'two words' \"\"quoted\"\" 'it''s' '' last\"", "Arguments",
          "\"one two' 'words \\\"quoted\\\" it''''s '' last\"");
    gives("arguments = \"a\"", "Args", "");
    gives("arguments = one   'two words'", "Args", "\"one 'two words'\"");
    gives("args = old name", "Args", "\"old name\"");
    gives("arguments = say \\\"hi\\\"", "Args", "\"say \\\"hi\\\"\"");
    gives("arguments = $$(Arch) $$([Memory * 2]) $(DOLLAR)x", "Args",
          "\"$$(Arch) $$([Memory * 2]) $x\"");
    gives("arguments = one \\\n            two \\\n            three", "Args", "\"one two three\"");
    gives("arguments = \"\"", "Arguments", "\"\"");
    gives("", "Arguments", "\"\"");
    gives("arguments2 = \"new 'a b'\"", "Arguments", "\"new a' 'b\"");
    gives("arguments2 = \"new\"\narguments = old\nallow_arguments_v1 = true", "Arguments",
          "\"new\"");
    refused("executable = x\narguments2 = \"new\"\narguments = old\nqueue",
            "you must also specify allow_arguments_v1=true");
    refused("executable = x\narguments2 = new\nqueue", "Expecting double-quoted input string");
    refused("executable = x\narguments = \"a 'b\"\nqueue", "job.sub:2: ");
    refused("executable = x\narguments = \"a \"b\" c\"\nqueue",
            "job.sub:2: Unexpected characters following double-quote");
    refused("executable = x\narguments = \"a\nqueue", "Unterminated double-quote");
    refused("executable = x\narguments = \"\"\"\nqueue", "Unterminated double-quote");
    refused("executable = x\narguments = a \"b\"\nqueue",
            "job.sub:2: Found illegal unescaped double-quote: \"b\"");
}

static void environments_are_merged_and_sorted(void **state)
{
    (void)state;
    gives("environment = \"PLAIN=1 SPACED='two words' QUOTED='say \"\"hi\"\"'\"", "Environment",
          "\"PLAIN=1 QUOTED=say' '\\\"hi\\\" SPACED=two' 'words\"");
    gives("environment = TWO=two words;ONE=1;THREE=x=y", "Environment",
          "\"ONE=1 THREE=x=y TWO=two' 'words\"");
    gives("environment = \"B=2 A=1 B=3\"", "Environment", "\"A=1 B=3\"");
    gives("env = B=2;A=1", "Env", "\"A=1;B=2\"");
    gives("env = B=2;A=1", "EnvDelim", "\";\"");
    gives("env = B=2;A=1", "Environment", "");
    gives("env = \"B=2\"", "Environment", "\"B=2\"");
    gives("environment2 = \"A='1 2'\"", "Environment", "\"A=1' '2\"");
    gives("environment = \"$$(Name)\"", "Environment", "\"$$(Name)\"");
    gives("", "Environment", "\"\"");
    refused("executable = x\nenvironment = \"ONE\"\nqueue",
            "job.sub:2: Missing '=' after environment variable 'ONE'");
    refused("executable = x\nenvironment = ONE\nqueue", "job.sub:2: Missing '='");
    refused("executable = x\nenvironment = =1\nqueue", "missing variable in '=1'");
    refused("executable = x\nenvironment2 = \"A=1\"\nenvironment = B=1\nqueue",
            "allow_environment_v1=true");
}

static void getenv_takes_all_or_what_a_list_lets_pass(void **state)
{
    (void)state;
    gives("getenv = true", "Environment", "\"HOME=/home/ann HOST=a;b QUOTE=it''''s' 'two\"");
    gives("getenv = false", "Environment", "\"\"");
    gives("getenv = ho*", "Environment", "\"HOME=/home/ann HOST=a;b\"");
    gives("getenv = HO*, !HOST", "Environment", "\"HOME=/home/ann\"");
    gives("getenv = !HO*", "Environment", "\"QUOTE=it''''s' 'two\"");
    gives("get_env = HOME\nenvironment = \"HOME=/mine\"", "Environment", "\"HOME=/mine\"");
    gives("getenv = true\nenvironment = A=1", "Environment",
          "\"A=1 HOME=/home/ann QUOTE=it''''s' 'two\"");
}

static void where_there_is_no_map_the_user_is_oneself(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {
        "executable = x\naccounting_group = physics\naccounting_group_user = ann\nqueue",
        "executable = x\naccounting_group = physics\nqueue",
        "executable = x\nnice_user = true\nqueue",
        "executable = x\naccounting_group = physics\naccounting_group_user = bob\nqueue",
        "executable = x\naccounting_group_user = bob\nqueue",
    };
    struct submit_place place = PLACE;
    place.own_charge_only = true;
    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]); i++) {
        struct vec ads = {0};
        struct err err = {{0}};
        int rc = make_at(&place, TEXTS[i], &ads, &err);
        assert_int_equal(rc, i < 3 ? 0 : -EINVAL);
        if (i >= 3) {
            assert_non_null(strstr(err.text,
                                   "accounting_group_user 'bob' would charge another user: "
                                   "jobs of 'ann'"));
        }
        vec_fini(&ads, destroy_ad);
    }
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
    gives("nice_user = true", "MaxJobRetirementTime", "0");
    gives("nice_user = true\nmax_job_retirement_time = 5", "MaxJobRetirementTime", "5");
    gives("nice_user = true\naccounting_group = a", "AccountingGroup", "\"a.ann\"");
    refused("executable = x\naccounting_group = a b\nqueue", "Invalid accounting_group: a b");
    refused("executable = x\naccounting_group = a..b\nqueue", "single dots");
    refused("executable = x\naccounting_group_user = .b\nqueue",
            "Invalid accounting_group_user: .b");
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
    refused("executable = x\nconcurrency_limits = a\nconcurrency_limits_expr = 1\nqueue",
            "can't be used together");
}

static void requirements_are_completed_by_what_the_user_left_open(void **state)
{
    (void)state;
    gives("", "Requirements", ALL);
    gives("requirements =", "Requirements", ALL);
    gives("requirements = Arch == \"ARM64\" && OpSys == \"LINUX\" && Disk > 5000 && Cpus >= 2",
          "Requirements",
          "(Arch == \"ARM64\" && OpSys == \"LINUX\" && Disk > 5000 && Cpus >= 2) && " PLAIN
          " && " MEMORY " && " FILES);
    gives("requirements = TARGET.HasDocker =?= true || TARGET.OpSysAndVer == \"Debian12\"",
          "Requirements",
          "(TARGET.HasDocker =?= true || TARGET.OpSysAndVer == \"Debian12\") && " ARCH " && " DISK
          " && " MEMORY " && " FILES);
    gives("requirements = Owner != \"Disk\" && SearchMemoryx =!= 1", "Requirements",
          "(Owner != \"Disk\" && SearchMemoryx =!= 1) && " ALL);
    gives("request_cpus = 2", "Requirements",
          ARCH " && " OPSYS " && " DISK " && " MEMORY " && (TARGET.Cpus >= RequestCpus) && " FILES);
    gives("request_memory = 1\nrequest_disk = 0", "Requirements", ARCH " && " OPSYS " && " FILES);
    gives("request_disk = undefined", "Requirements", ARCH " && " OPSYS " && " MEMORY " && " FILES);
    gives("+Requirements = false\nrequest_cpus = 2", "Requirements", "false");
    warns("requirements = Memory > 1 && disk > 5",
          "Your Requirements expression refers to TARGET.Disk");
    warns("requirements = Memory > 1", "your Requirements expression refers to TARGET.Memory");
    warns("requirements = Cpus > 1", "");
    refused("executable = x\n\nrequirements = true) || (true\nqueue",
            "job.sub:3: Parse error in expression: Requirements");
}

static void requirements_speak_of_how_files_travel(void **state)
{
    (void)state;
    gives("should_transfer_files = yes", "Requirements",
          ARCH " && " OPSYS " && " DISK " && " MEMORY " && (TARGET.HasFileTransfer)");
    gives("should_transfer_files = no", "Requirements",
          ARCH " && " OPSYS " && " DISK " && " MEMORY
               " && (TARGET.FileSystemDomain == MY.FileSystemDomain)");
    gives("requirements = HasFileTransfer", "Requirements",
          "(HasFileTransfer) && " ARCH " && " OPSYS " && " DISK " && " MEMORY);
    gives("transfer_input_files = http://h/a, a+ftp://h/b, HTTP://h/c\nshould_transfer_files = yes",
          "Requirements",
          ARCH " && " OPSYS " && " DISK " && " MEMORY " && (TARGET.HasFileTransfer && "
               "stringListIMember(\"ftp\",TARGET.HasFileTransferPluginMethods) && "
               "stringListIMember(\"http\",TARGET.HasFileTransferPluginMethods))");
    gives("transfer_output_remaps = \"a = s3://b/a\"", "WantTransferPluginMethods", "\"s3\"");
    gives("when_to_transfer_output = on_success\nshould_transfer_files = yes", "Requirements",
          ARCH " && " OPSYS " && " DISK " && " MEMORY " && (TARGET.HasFileTransfer && "
               "versioncmp(split(TARGET.CondorVersion)[1],\"8.9.7\") >= 0)");
}

static void resources_of_the_sites_own_are_asked_for(void **state)
{
    (void)state;
    gives("request_widgets = 3", "Requestwidgets", "3");
    gives("request_widgets = 3\nrequest_Bees = \"a.*\"\nrequest_x = 1\nrequest_none = 0",
          "Requirements",
          ARCH
          " && " OPSYS " && " DISK " && " MEMORY
          " && regexp(RequestBees,TARGET.Bees) && (TARGET.widgets >= Requestwidgets) && " FILES);
    gives("+RequestNuts = 2", "Requirements",
          ARCH " && " OPSYS " && " DISK " && " MEMORY " && (TARGET.Nuts >= RequestNuts) && " FILES);
    gives("request_gpus = 2", "RequestGPUs", "2");
    gives("request_gpus = 1\nrequire_gpus = Capability > 7 || Old\ngpus_minimum_memory = 2GB\n"
          "gpus_minimum_capability = 6\ngpus_minimum_runtime = 12.1",
          "RequireGPUs",
          "(Capability > 7 || Old) && GlobalMemoryMb >= GPUsMinMemory && MaxSupportedVersion >= "
          "GPUsMinRuntime");
    gives("request_gpus = 1\ngpus_minimum_runtime = 12.1", "GPUsMinRuntime", "12010");
    gives("request_gpus = 1\ngpus_minimum_memory = 2GB", "Requirements",
          ARCH " && " OPSYS " && " DISK " && " MEMORY
               " && (countMatches(MY.RequireGPUs,TARGET.AvailableGPUs) >= RequestGPUs) && " FILES);
    warns("request_cpu = 2", "did you mean request_cpus?");
    warns("request_gpu_memory = 2", "did you mean gpus_minimum_memory?");
}

static void amounts_have_units_or_are_expressions(void **state)
{
    (void)state;
    gives("request_memory = 100", "RequestMemory", "100");
    gives("RequestMemory = 100", "RequestMemory", "100");
    gives("request_memory = 2GB", "RequestMemory", "2048");
    gives("request_memory = 1.5 g", "RequestMemory", "1536");
    gives("request_memory = 1025K", "RequestMemory", "2");
    gives("request_memory = 1B", "RequestMemory", "1");
    gives("request_memory = -5", "RequestMemory", "-5");
    gives("", "RequestMemory", "128");
    gives("request_disk = 20480", "RequestDisk", "20480");
    gives("request_disk = 1MB", "RequestDisk", "1024");
    gives("", "RequestDisk", "MAX({ 1024,(TransferInputSizeMB + 1) * 1.25 }) * 1024");
    gives("request_cpus = ifThenElse(TARGET.Cpus > 4, 4, 1)", "RequestCpus",
          "ifThenElse(TARGET.Cpus > 4,4,1)");
    gives("  Request_CPUS   =   3", "RequestCpus", "3");
    refused_for_real("executable = x\nrequest_memory = -5\nqueue",
                     "job.sub:2: request_memory = -5: cannot be negative");
    refused("executable = x\nrequest_memory = lots and lots\nqueue",
            "job.sub:2: Parse error in expression: RequestMemory = lots and lots");
    refused("executable = x\nrequest_memory = 1P\nqueue", "job.sub:2: Parse error");
    refused("executable = x\nrequest_memory = 1Gx\nqueue", "job.sub:2: Parse error");
}

static void sizes_are_measured(void **state)
{
    (void)state;
    gives("", "ExecutableSize", "1");
    gives("executable = big", "ExecutableSize", "2930");
    gives("executable = big", "ImageSize", "2930");
    gives("executable = big", "TransferInputSizeMB", "3");
    gives("image_size = 10M", "ImageSize", "10240");
    gives("transfer_input_files = big, a, http://h/big", "DiskUsage", "2932");
    gives("input = in", "DiskUsage", "2");
    gives("disk_usage = 7", "DiskUsage", "7");
    gives("disk_usage = 7", "TransferInputSizeMB", "");
    refused("executable = x\nimage_size = 0\nqueue", "Image Size must be positive");
    refused("executable = x\ndisk_usage = x\nqueue", "'x' is not valid for disk_usage");
}

static void files_travel_when_the_user_says(void **state)
{
    (void)state;
    gives("", "ShouldTransferFiles", "\"IF_NEEDED\"");
    gives("", "WhenToTransferOutput", "\"ON_EXIT\"");
    gives("", "FileSystemDomain", "\"fs\"");
    gives("should_transfer_files = yes", "FileSystemDomain", "");
    gives("should_transfer_files = no", "WhenToTransferOutput", "");
    gives("when_to_transfer_output = on_exit_or_evict", "ShouldTransferFiles", "\"YES\"");
    gives("transfer_input_files = a ,b c,, d", "TransferInput", "\"a,b c,d\"");
    gives("transfer_input_files = \"\"", "TransferInput", "");
    gives("TransferOutputFiles = a , b", "TransferOutput", "\"a,b\"");
    gives("transfer_output_files = \"\"", "TransferOutput", "\"\"");
    gives("transfer_output_remaps = \"a=b\"", "TransferOutputRemaps", "\"a=b\"");
    refused("executable = x\ntransfer_output_remaps = a=b\nqueue", "must be a quoted string");
    refused("executable = x\nshould_transfer_files = x\nqueue", "invalid value (x)");
    refused("executable = x\nwhen_to_transfer_output = x\nqueue", "invalid value (x)");
    refused("executable = x\nwhen_to_transfer_output = never\nqueue", "remove this contradiction");
    refused("executable = x\nshould_transfer_files = no\ntransfer_input_files = a\nqueue",
            "you disabled should_transfer_files");
    refused("executable = x\nshould_transfer_files = no\nwhen_to_transfer_output = on_exit\nqueue",
            "remove this contradiction");
    refused("executable = x\nshould_transfer_files = no\ntransfer_executable = true\nqueue",
            "should_transfer_files = NO");
    refused("executable = x\nshould_transfer_files = if_needed\nwhen_to_transfer_output = "
            "on_exit_or_evict\nqueue",
            "incompatible");
}

static void attributes_of_ones_own_are_expressions(void **state)
{
    (void)state;
    gives("+Project = \"alpha\"", "Project", "\"alpha\"");
    gives("MY.Count = 3 + 4", "Count", "3 + 4");
    gives("My.Flag = true", "Flag", "true");
    gives("+Ref = $(Process) * 10", "Ref", "0 * 10");
    gives("+RequestCpus = 7", "RequestCpus", "7");
    gives("+Nothing =", "Nothing", "undefined");
    refused("executable = x\n+Bad = 1 +\nqueue", "job.sub:2: Parse error in expression: Bad");
    refused("executable = x\n+1bad = 1\nqueue", "job.sub:2: '1bad' is not a valid attribute name");
    refused_for_real("executable = x\n+WantIOProxy = true\nqueue",
                     "WantIOProxy: this command is not supported yet");
}

#define TRIED "NumJobCompletions > JobMaxRetries || ExitCode =?= "

static void jobs_are_tried_again_until_one_of_the_ways_out(void **state)
{
    (void)state;
    gives("", "OnExitRemove", "");
    gives("on_exit_remove = ExitCode == 0", "OnExitRemove", "ExitCode == 0");
    gives("max_retries = 3", "OnExitRemove", TRIED "0");
    gives("max_retries = 3", "OnExitHold", "false");
    gives("max_retries = 3\non_exit_hold = ExitCode == 9", "OnExitHold", "ExitCode == 9");
    gives("max_retries = 1 + 2", "JobMaxRetries", "3");
    gives("success_exit_code = 2", "OnExitRemove", TRIED "JobSuccessExitCode");
    gives("success_exit_code = 2", "JobMaxRetries", "2");
    gives("retry_until = 5", "OnExitRemove", TRIED "0 || ExitCode =?= 5");
    gives("retry_until = ExitCode == 3 || true", "OnExitRemove",
          TRIED "0 || ExitCode == 3 || true");
    gives("retry_until = ExitCode > 3 && ExitCode < 9", "OnExitRemove",
          TRIED "0 || ExitCode > 3 && ExitCode < 9");
    gives("retry_until = A ? B : C\non_exit_remove = D", "OnExitRemove",
          TRIED "0 || (A ? B : C) || D");
    refused("executable = x\nmax_retries = many\nqueue", "max_retries=many is invalid");
    refused("executable = x\nsuccess_exit_code = 9999999999\nqueue", "must eval to an integer");
    refused("executable = x\nretry_until = 1 +\nqueue", "an integer or boolean expression");
}

#define TIMELY                                                              \
    "(((time() + ScheddInterval) >= (DeferralTime - DeferralPrepTime)) && " \
    "(time() < (DeferralTime + DeferralWindow)))"

static void a_job_may_wait_for_its_time(void **state)
{
    (void)state;
    gives("deferral_time = 1500000000", "DeferralTime", "1500000000");
    gives("deferral_time = time() + 60", "DeferralWindow", "0");
    gives("deferral_time = 1\ndeferral_prep_time = 9", "DeferralPrepTime", "9");
    gives("cron_hour = 3\ncron_window = 30\ndeferral_window = 7", "DeferralWindow", "30");
    gives("deferral_time = 5", "Requirements", ALL " && TARGET.HasJobDeferral && " TIMELY);
    gives("deferral_window = 5", "DeferralWindow", "");
    refused("executable = x\ndeferral_time = -1\nqueue", "non-negative integer");
    refused("executable = x\ndeferral_time = \"a\"\nqueue", "non-negative integer");
    refused("executable = x\nuniverse = scheduler\ncron_hour = 1\nqueue", "local universe");
}

static void universes_are_told_apart(void **state)
{
    (void)state;
    gives("universe = vanilla", "JobUniverse", "5");
    gives("universe = 12", "JobUniverse", "12");
    gives("universe = Scheduler", "KillSig", "\"SIGTERM\"");
    gives("universe = local", "JobLeaseDuration", "");
    gives("universe = parallel\nnode_count = 2", "MaxHosts", "2");
    gives("universe = docker\ndocker_image = \"busybox\"", "DockerImage", "\"busybox\"");
    gives("universe = docker\ndocker_image = x", "WantDocker", "true");
    gives("docker_image = x", "WantDockerImage", "true");
    gives("docker_image = x", "WantContainer", "true");
    gives("", "WantContainer", "");
    gives("container_image = docker://x/y", "Requirements",
          ARCH " && TARGET.HasContainer && TARGET.HasDockerURL && " DISK " && " MEMORY
               " && " FILES);
    gives("container_image = docker://x/y", "ContainerImageSource", "\"docker\"");
    gives("container_image = images/d/", "WantSandboxImage", "true");
    gives("container_image = images/d/", "ContainerImage", "\"d\"");
    gives("container_image = http://h/d.sif", "ContainerImageSource", "\"http\"");
    gives("container_image = a.sif\ntransfer_container = false", "TransferInput", "");
    gives("container_image = a.sif\nexecutable = /bin/ls", "TransferExecutable", "false");
    refused("universe = docker\nexecutable = x\nqueue", "docker jobs require a docker_image");
    refused("universe = container\nexecutable = x\nqueue", "container jobs require");
    refused("docker_image = a\ncontainer_image = b\nexecutable = x\nqueue", "cannot declare both");
    refused("universe = docker\ncontainer_image = b\nexecutable = x\nqueue", "does not allow");
    refused("container_image = shub://b\nexecutable = x\nqueue", "not a valid container image");
    refused("universe = parallel\nexecutable = x\nqueue", "No machine_count specified!");
    refused("universe = quantum\nexecutable = x\nqueue", "I don't know about the 'quantum'");
    refused("universe = vm\nexecutable = x\nqueue", "'vm' is not a supported universe");
    refused_for_real("universe = local\nexecutable = x\nqueue",
                     "only vanilla and standard are run");
    gives("universe = standard", "JobUniverse", "1");
    gives("universe = standard", "JobLeaseDuration", "2400");
    gives("universe = standard", "KillSig", "");
}

static void commands_take_only_the_values_they_know(void **state)
{
    (void)state;
    gives("priority = -3", "JobPrio", "-3");
    gives("prio = 2 * 3", "JobPrio", "6");
    gives("", "JobPrio", "0");
    gives("hold = true", "JobStatus", "5");
    gives("hold = true", "HoldReasonCode", "15");
    gives("hold = true", "HoldReason", "\"submitted on hold at user's request\"");
    gives("hold = false", "JobStatus", "1");
    gives("notification = Never", "JobNotification", "0");
    gives("notification = ALWAYS", "JobNotification", "1");
    gives("notification = start", "JobNotification", "4");
    gives("rank = Memory", "Rank", "Memory");
    gives("preferences = Memory", "Rank", "Memory");
    gives("job_lease_duration = 60", "JobLeaseDuration", "60");
    gives("", "JobLeaseDuration", "2400");
    gives("job_lease_duration = 5", "JobLeaseDuration", "20");
    gives("kill_sig = sigint", "KillSig", "\"SIGINT\"");
    gives("remove_kill_sig = 9", "RemoveKillSig", "\"SIGKILL\"");
    gives("kill_sig_timeout = 9", "KillSigTimeout", "9");
    gives("batch_name = \"a b\"", "JobBatchName", "\"a b\"");
    gives("description = \"a b\"", "JobDescription", "\"\\\"a b\\\"\"");
    gives("email_attributes = a  b,c", "EmailAttributes", "\"a,b,c\"");
    gives("periodic_remove = JobStatus == 5", "PeriodicRemove", "JobStatus == 5");
    gives("materialize_max_idle = 4", "JobMaterializeMaxIdle", "4");
    gives("no_such_command = is a macro", "no_such_command", "");
    warns("notify_user = Never", "notification = never");
    gives("JOBSET.Name = \"a b\"", "JobSetName", "\"a b\"");
    gives("JOBSET.Name = x\njobset = y", "JobSetName", "\"y\"");
    gives("priority = 3", "JobSetName", "");
    refused("executable = x\njobset = a$(Process)\nqueue 2", "must be in the same JOBSET");
    refused("executable = x\njob_machine_attrs_history_length = -1\nqueue", "out of bounds");
    refused("executable = x\npriority = high\nqueue", "job.sub:2: priority=high is invalid");
    refused("executable = x\nhold = maybe\nqueue", "job.sub:2: hold=maybe is invalid");
    refused("executable = x\nnotification = Sometimes\nqueue", "Notification must be");
    refused("executable = x\nkill_sig = SIGNOT\nqueue", "invalid signal SIGNOT");
    refused("executable = x\nlog_xml = 7up\nqueue",
            "log_xml=7up is invalid, must eval to a boolean");
    refused("executable = x\ndagman_job_id = -1\nqueue", "non-negative integer");
}

static void a_real_job_is_refused_what_is_not_obeyed(void **state)
{
    (void)state;
    static const char *const NOT_YET[] = {"want_io_proxy = true", "container_image = x"};
    for (size_t i = 0; i < sizeof NOT_YET / sizeof NOT_YET[0]; i++) {
        char text[128], message[64];
        (void)snprintf(text, sizeof text, "executable = x\n\n%s\nqueue", NOT_YET[i]);
        (void)snprintf(message, sizeof message,
                       "job.sub:3: %.*s: this command is not supported yet",
                       (int)strcspn(NOT_YET[i], " "), NOT_YET[i]);
        refused_for_real(text, message);
    }
}

static void the_site_adds_to_the_rank(void **state)
{
    (void)state;
    struct submit_place place = PLACE;
    struct vec ads = {0};
    place.site = site;
    assert_int_equal(make_at(&place, "executable = x\nrank = Mips\nqueue", &ads, NULL), 0);
    struct strbuf text;
    strbuf_init(&text, 0);
    ad_expr_print(ad_lookup(ads.items[0], "Rank"), AD_OLD, &text);
    assert_string_equal(strbuf_text(&text), "(Mips) + (KFlops)");
    strbuf_fini(&text);
    vec_fini(&ads, destroy_ad);
}

static const char *site_with_attributes(void *arg, const char *knob)
{
    static const char *const KNOBS[][2] = {
        {"SUBMIT_ATTRS", "Project, +Site,MY.Zone Absent"},
        {"SUBMIT_EXPRS", "JobPrio"},
        {"SYSTEM_SUBMIT_ATTRS", "Broken"},
        {"Project", "\"blue\""},
        {"Site", "strcat(\"n\", 1)"},
        {"Zone", "5"},
        {"JobPrio", "3"},
        {"Broken", "a b"},
    };
    (void)arg;
    for (size_t i = 0; i < sizeof(KNOBS) / sizeof(KNOBS[0]); i++) {
        if (strcmp(knob, KNOBS[i][0]) == 0) {
            return KNOBS[i][1];
        }
    }
    return NULL;
}

static void expect(const struct ad *ad, const char *name, const char *text)
{
    struct strbuf printed;
    strbuf_init(&printed, 0);
    if (ad_has(ad, name)) {
        ad_expr_print(ad_lookup(ad, name), AD_OLD, &printed);
    }
    assert_string_equal(strbuf_text(&printed), text);
    strbuf_fini(&printed);
}

static void the_sites_own_attributes_are_in_every_job(void **state)
{
    (void)state;
    struct submit_place place = PLACE;
    struct strbuf warnings;
    struct vec ads = {0};
    strbuf_init(&warnings, 0);
    place.site = site_with_attributes;
    place.arg = &warnings;
    assert_int_equal(make_at(&place, "executable = x\nqueue 2", &ads, NULL), 0);
    expect(ads.items[0], "Project", "\"blue\"");
    expect(ads.items[0], "Site", "strcat(\"n\",1)");
    expect(ads.items[0], "Zone", "5");
    expect(ads.items[0], "JobPrio", "3");
    expect(ads.items[0], "Absent", "");
    expect(ads.items[0], "Broken", "");
    expect(ads.items[1], "Project", ""); /* the first job's */
    assert_non_null(strstr(strbuf_text(&warnings), "SYSTEM_SUBMIT_ATTRS: Broken is not set"));
    vec_fini(&ads, destroy_ad);
    ads = (struct vec){0};
    assert_int_equal(make_at(&place, "executable = x\npriority = 7\nMY.Zone = 6\n+Site = 1\nqueue",
                             &ads, NULL),
                     0);
    expect(ads.items[0], "JobPrio", "7");
    expect(ads.items[0], "Zone", "6");
    expect(ads.items[0], "Site", "1");
    vec_fini(&ads, destroy_ad);
    strbuf_fini(&warnings);
}

static void a_job_that_could_never_run_is_refused(void **state)
{
    (void)state;
    refused("arguments = 1\nqueue", "job.sub: No 'executable' parameter was provided");
    refused("executable =\nqueue", "No 'executable'");
    refused("executable = missing\nqueue",
            "job.sub:1: Can't access executable file /home/ann/missing: not there");
    refused("executable = x\ninitialdir = missing\nqueue", "job.sub:2: No such directory");
    gives("executable = missing\ntransfer_executable = false", "Cmd", "\"missing\"");
    gives("executable = missing.$$(Arch)", "Cmd", "\"/home/ann/missing.$$(Arch)\"");
}

static void later_jobs_say_what_is_different(void **state)
{
    (void)state;
    struct vec ads = {0};
    assert_int_equal(make("executable = run.sh\narguments = first\noutput = o\nqueue\n"
                          "arguments = second\noutput =\nrequest_cpus = 2\nqueue 2",
                          &ads, NULL),
                     0);
    assert_int_equal(ads.count, 3);
    assert_string_equal(ad_string_or(ads.items[0], "Args", ""), "first");
    assert_int_equal(ad_int_or(ads.items[0], "RequestCpus", 0), 1);
    assert_string_equal(ad_string_or(ads.items[2], "Args", ""), "second");
    assert_int_equal(ad_int_or(ads.items[2], "RequestCpus", 0), 2);
    assert_int_equal(ad_int_or(ads.items[2], "ProcId", 0), 2);
    assert_int_equal(ad_int_or(ads.items[2], "JobStatus", 0), 1);
    assert_true(ad_has(ads.items[2], "Requirements"));
    assert_int_equal(ad_count(ads.items[2]), 5); /* what was taken back is the first job's still */
    vec_fini(&ads, destroy_ad);
}

static void the_items_of_a_queue_statement_may_be_commands(void **state)
{
    (void)state;
    struct vec ads = {0};
    assert_int_equal(make("executable = run.sh\nx = 1\nqueue arguments, request_memory from (\n"
                          "a, 5\n$(x)b, 6 * $(x)\n)\n",
                          &ads, NULL),
                     0);
    assert_int_equal(ads.count, 2);
    assert_string_equal(ad_string_or(ads.items[0], "Args", ""), "a");
    assert_int_equal(ad_int_or(ads.items[0], "RequestMemory", 0), 5);
    assert_string_equal(ad_string_or(ads.items[1], "Args", ""), "1b");
    assert_int_equal(ad_int_or(ads.items[1], "RequestMemory", 0), 6);
    vec_fini(&ads, destroy_ad);
    refused("executable = x\n\nqueue priority in (1 high)", "job.sub:3: priority=high is invalid");
}

/* All jobs of a text as one text, one after another. */
static void print_jobs(const char *text, struct submit_common *common, struct strbuf *out)
{
    struct vec ads = {0};
    struct err err = {{0}};
    struct submit_place place = PLACE;
    place.warn = NULL;
    if (make_with(&place, common, text, &ads, &err) < 0) {
        strbuf_printf(out, "%s\n", err.text);
    }
    for (size_t i = 0; i < ads.count; i++) {
        ad_print(ads.items[i], out);
        strbuf_puts(out, "--\n");
    }
    vec_fini(&ads, destroy_ad);
}

static void jobs_are_the_same_whether_steps_are_shared_or_not(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {
        "arguments = $(Process)\nqueue 4",
        "arguments = $(Process)\n+Args = \"1\"\nqueue 4",
        "arguments = $(Process)\n+Note = $(Process) + 1\n+Mine = 5\nqueue 4",
        "arguments = a $(Item)\noutput = o.$(Process)\nerror = e.$(Step)\ninput = big.$(Row)\n"
        "log = l\nqueue 2 in (x, y, z)",
        "output = o.$(Process)\n+Out = \"o.1\"\nqueue 4",
        "log = $(Process).log\nqueue 4",
        "request_memory = $(Process) * 10\nqueue 4",
        "request_cpus = $(Process)\nrequirements = Cpus > $(Process)\nqueue 4",
        "transfer_input_files = small, $(Item)\nqueue from (\nbig1\nsmall\nhttp://x/y\nbig2\n)",
        "environment = \"A=$(Process) B=1\"\ngetenv = HO*\nqueue 4",
        "initialdir = d$(Process)\noutput = o\nqueue 4",
        "executable = x$(Process)\nqueue 4",
        "universe = $(Item)\nqueue in (vanilla, local, vanilla, local)",
        "arguments = $(Process)\nqueue 3\narguments = b\nrequest_cpus = 3\nqueue 3\n"
        "arguments = c$(Process)\nqueue 3",
        "queue arguments, priority from (\na, 1\nb, 2\nc\nd, 4\n)",
        "arguments = $CHOICE(Process, a, $(Step), b)\nqueue 3",
        "x = $(Process)\ny = $(x)\nhold = true\narguments = $(y)\nmax_retries = $(y)\nqueue 4",
        "arguments = $RANDOM_INTEGER(1,9)\nqueue 4",
        /* What a job like the first does not show. */
        "input = $(Item)\nqueue in (small, small2, big)",
        "queue job_lease_duration in (30, 40, 10)",
        "output = missing/$(Process)\nqueue 4",
        "queue priority in (1, 2, 3, high)",
    };
    for (size_t i = 0; i < ARRAY_COUNT(TEXTS); i++) {
        struct submit_common common = {0};
        struct strbuf text, shared, whole;
        strbuf_init(&text, 0);
        strbuf_init(&shared, 0);
        strbuf_init(&whole, 0);
        strbuf_printf(&text, "executable = run.sh\n%s\n", TEXTS[i]);
        print_jobs(strbuf_text(&text), &common, &shared);
        print_jobs(strbuf_text(&text), NULL, &whole);
        assert_string_equal(strbuf_text(&shared), strbuf_text(&whole));
        strbuf_fini(&text);
        strbuf_fini(&shared);
        strbuf_fini(&whole);
    }
}

static uint64_t given_number(void *arg)
{
    return *(const uint64_t *)arg;
}

static void jobs_that_differ_by_chance_do(void **state)
{
    (void)state;
    uint64_t number = 1; /* the same for the first two jobs */
    const struct submit_world world = {.random = given_number, .arg = &number};
    const struct submit_source source = {
        .name = "job.sub",
        .text = "executable = run.sh\narguments = $RANDOM_INTEGER(1, 1000000)\nqueue 5\n"};
    struct submit_file *file = submit_file_open(&source, &world);
    struct submit_common common = {0};
    struct vec ads = {0};
    assert_int_equal(submit_file_read(file, NULL), 1);
    for (int64_t i = 0; i < submit_file_jobs(file); i++) {
        struct ad *ad = NULL;
        submit_file_select(file, i, i);
        assert_int_equal(submit_job_make(file, "job.sub", &PLACE, i, i > 0 ? ads.items[0] : NULL,
                                         &common, &ad, NULL),
                         0);
        vec_push(&ads, ad);
        number += i > 0 ? 1 : 0;
    }
    assert_false(ad_has(ads.items[1], "Args")); /* as the first */
    assert_true(ad_has(ads.items[3], "Args"));
    assert_string_not_equal(ad_string_or(ads.items[3], "Args", ""),
                            ad_string_or(ads.items[4], "Args", ""));
    vec_fini(&ads, destroy_ad);
    submit_file_close(file);
}

static int count_look(void *arg, enum submit_look what, const char *path, int64_t *bytes,
                      struct err *err)
{
    (*(unsigned *)arg)++;
    return look(NULL, what, path, bytes, err);
}

/* How often one looks at files for these jobs. */
static unsigned looks_for(const char *text)
{
    unsigned count = 0;
    struct submit_place place = PLACE;
    struct vec ads = {0};
    place.look = count_look;
    place.warn = NULL;
    place.arg = &count;
    place.obeyed_only = true;
    assert_int_equal(make_at(&place, text, &ads, NULL), 0);
    vec_fini(&ads, destroy_ad);
    return count;
}

static void what_jobs_have_in_common_is_made_once(void **state)
{
    (void)state;
    const char *same = "executable = run.sh\ninput = in\nlog = l\narguments = $(Process)\n";
    const char *differs = "executable = run.sh\noutput = o.$(Process)\n";
    char few[200], many[200];
    (void)snprintf(few, sizeof few, "%squeue 2", same);
    (void)snprintf(many, sizeof many, "%squeue 200", same);
    assert_int_equal(looks_for(few), looks_for(many));
    (void)snprintf(few, sizeof few, "%squeue 2", differs);
    (void)snprintf(many, sizeof many, "%squeue 202", differs);
    assert_true(looks_for(many) >= looks_for(few) + 200); /* each output is looked at */
}

UNIT_TESTS(
    UNIT(paths_are_those_of_the_directory_of_submission),
    UNIT(streams_are_sent_unless_there_is_nothing), UNIT(arguments_of_both_quotings_are_one_text),
    UNIT(environments_are_merged_and_sorted), UNIT(getenv_takes_all_or_what_a_list_lets_pass),
    UNIT(the_account_is_the_group_and_its_user), UNIT(where_there_is_no_map_the_user_is_oneself),
    UNIT(concurrency_limits_are_one_sorted_list),
    UNIT(requirements_are_completed_by_what_the_user_left_open),
    UNIT(requirements_speak_of_how_files_travel), UNIT(resources_of_the_sites_own_are_asked_for),
    UNIT(amounts_have_units_or_are_expressions), UNIT(sizes_are_measured),
    UNIT(files_travel_when_the_user_says), UNIT(attributes_of_ones_own_are_expressions),
    UNIT(jobs_are_tried_again_until_one_of_the_ways_out), UNIT(a_job_may_wait_for_its_time),
    UNIT(universes_are_told_apart), UNIT(commands_take_only_the_values_they_know),
    UNIT(a_real_job_is_refused_what_is_not_obeyed), UNIT(the_site_adds_to_the_rank),
    UNIT(the_sites_own_attributes_are_in_every_job), UNIT(a_job_that_could_never_run_is_refused),
    UNIT(later_jobs_say_what_is_different), UNIT(the_items_of_a_queue_statement_may_be_commands),
    UNIT(jobs_are_the_same_whether_steps_are_shared_or_not), UNIT(jobs_that_differ_by_chance_do),
    UNIT(what_jobs_have_in_common_is_made_once))
