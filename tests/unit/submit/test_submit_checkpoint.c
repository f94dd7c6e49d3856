/* tests/unit/submit/test_submit_checkpoint.c - checkpoint, universe = standard, remote_root.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/submit/submit_case.h"

#define RESUMES                                                                             \
    "TARGET.HasCheckpointing && (MY.CkptArch =?= undefined || MY.CkptAnywhere =?= true || " \
    "(MY.CkptArch == TARGET.Arch && MY.CkptOpSys == TARGET.OpSys && "                       \
    "stringListSubsetMatch(MY.CkptFeatures,TARGET.CkptFeatures)))"

static void a_job_is_checkpointed_when_it_asks_for_it_or_is_of_the_standard_universe(void **state)
{
    (void)state;
    gives("", "WantCheckpoint", "");
    gives("", "WantRemoteSyscalls", "");
    gives("checkpoint = true", "WantCheckpoint", "true");
    gives("checkpoint = true", "WantRemoteSyscalls", "");
    gives("checkpoint = false", "WantCheckpoint", "false");
    gives("universe = standard", "WantCheckpoint", "true");
    gives("universe = standard", "WantRemoteSyscalls", "true");
    gives("universe = standard\ncheckpoint = false", "WantCheckpoint", "false");
    gives("checkpoint = true\nperiodic_checkpoint = (time() - LastCkptTime) > 600",
          "PeriodicCheckpoint", "(time() - LastCkptTime) > 600");
    warns("checkpoint_destination = /tmp", "no effect without checkpoint");
    warns("periodic_checkpoint = true", "no effect without checkpoint");
    warns("checkpoint = true\nperiodic_checkpoint = true", "");
    gives("checkpoint = true\ncheckpoint_destination = file:///data", "CheckpointDestination",
          "\"file:///data\"");
    refused("executable = x\ncheckpoint = true\ncheckpoint_destination = s3://b/k\nqueue",
            "checkpoint_destination = s3://b/k: not an absolute directory");
    refused("checkpoint = often\nexecutable = x\nqueue", "job.sub:1: checkpoint=often is invalid");
}

static void a_checkpointed_job_goes_where_its_image_runs(void **state)
{
    (void)state;
    gives("checkpoint = true", "Requirements", ALL " && " RESUMES);
    gives("universe = standard", "Requirements", ALL " && " RESUMES " && TARGET.HasRemoteSyscalls");
    gives("universe = standard\nrequirements = HasRemoteSyscalls", "Requirements",
          "(HasRemoteSyscalls) && " ALL " && " RESUMES);
    gives("universe = standard\nexecutable = relinked", "RemoteWrapped", "true");
    gives("executable = relinked", "RemoteWrapped", "");
    gives("universe = standard\nexecutable = relinked\ncheckpoint = false", "Requirements",
          ALL
          " && (TARGET.HasRemoteSyscalls || (TARGET.HasRemoteWrappers && (CkptSequence ?: 0) == "
          "0))");
    gives("checkpoint = true\nrequirements = HasCheckpointing || true", "Requirements",
          "(HasCheckpointing || true) && " ALL);
    gives("checkpoint = false", "Requirements", ALL);
}

static void what_could_never_be_checkpointed_is_refused(void **state)
{
    (void)state;
    static const char *const CASES[][2] = {
        {"container_image = docker://x/y", "the processes of a container"},
        {"universe = docker\ndocker_image = x", "the processes of a container"},
        {"universe = local", "only jobs of the vanilla and standard"},
        {"universe = parallel\nnode_count = 2", "only jobs of the vanilla and standard"},
        {"+WantParallelScheduling = true", "only jobs of the vanilla and standard"},
        {"request_gpus = 1", "the contents of a GPU"},
        {"My.InteractiveJob = true", "interactive"},
        {"should_transfer_files = YES\nwhen_to_transfer_output = ON_EXIT_OR_EVICT",
         "ON_EXIT_OR_EVICT would keep files of another time"},
        {"should_transfer_files = NO", "should_transfer_files = NO"},
        {"checkpoint_exit_code = 85", "checkpoint_exit_code"},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct strbuf text;
        strbuf_init(&text, 0);
        strbuf_printf(&text, "executable = x\n%s\ncheckpoint = true\nqueue", CASES[i][0]);
        refused(strbuf_text(&text), CASES[i][1]);
        strbuf_fini(&text);
    }
    refused("executable = x\nuniverse = standard\nrequest_gpus = 2\nqueue",
            "universe = standard: ");
    gives("checkpoint = true\nrequest_gpus = 0", "WantCheckpoint", "true");
    gives("universe = docker\ndocker_image = x\ncheckpoint = false", "WantCheckpoint", "false");
}

static void what_a_job_of_the_standard_universe_sees_is_there_when_it_is_submitted(void **state)
{
    (void)state;
    gives("universe = standard\nremote_root = /data", "RemoteRoot", "\"/data\"");
    gives("universe = standard\nremote_root = /data\nremote_readonly = /a, /b", "RemoteReadonly",
          "\"/a,/b\"");
    gives("universe = standard\nallow_network = true", "AllowNetwork", "true");
    refused("executable = x\nuniverse = standard\nremote_root = data\nqueue",
            "job.sub:3: remote_root = data: not an absolute");
    refused("executable = x\nuniverse = standard\nremote_root = /missing\nqueue",
            "job.sub:3: remote_root: /missing: not there");
    refused("executable = x\nuniverse = standard\nremote_readonly = /a b\nqueue",
            "remote_readonly = b: not an absolute");
    refused("executable = x\nuniverse = standard\nremote_root = /data\nremote_readonly = "
            "/missing\nqueue",
            "/data/missing: not there");
    gives("universe = standard\nremote_write = /a, b", "RemoteWrite", "\"/a,b\"");
    refused("executable = x\nuniverse = standard\nremote_write = /missing\nqueue",
            "job.sub:3: remote_write: /missing: not there");
    refused("executable = x\nuniverse = standard\nremote_root = /data\nremote_write = "
            "/missing\nqueue",
            "remote_write: /data/missing: not there");
    refused("executable = x\nuniverse = standard\nremote_root = /data\nremote_write = a\nqueue",
            "remote_write: a is not below remote_root");
    refused("executable = x\nremote_write = /a\nqueue", "remote_write is for jobs");
    refused("executable = x\nremote_root = /data\nqueue",
            "job.sub:2: remote_root is for jobs with universe = standard");
    refused("executable = x\nallow_network = true\nqueue", "allow_network is for jobs");
}

UNIT_TESTS(UNIT(a_job_is_checkpointed_when_it_asks_for_it_or_is_of_the_standard_universe),
           UNIT(a_checkpointed_job_goes_where_its_image_runs),
           UNIT(what_could_never_be_checkpointed_is_refused),
           UNIT(what_a_job_of_the_standard_universe_sees_is_there_when_it_is_submitted))
