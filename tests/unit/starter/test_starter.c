/* A starter with a shadow that the test plays: whose the sandbox is, and when, and what is sent
 * again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/starter/starter_bed.h"

#include "base/digest.h"

struct bed {
    struct starter_bed base;
    const char *job;   /* the ad's text */
    const char *input; /* bytes of the one input file; NULL: none */
    bool cut_input;    /* the connection is cut in the middle of it */
    int damage;        /* so often its checksum is that of other bytes */
    int starts, ran;   /* starts that were told of; jobs that ran, told of at their start or end */
    bool flag;         /* the job is shown that its start was told */
    bool is_told;      /* of the start of the run at hand */
    int renewals;      /* that the startd has told */
    int refusals;      /* JOB_DONE is answered -EAGAIN so often */
    int put_refusals, put_status; /* FILE_PUT is answered with it so often */
    int done_calls, puts_calls, gets_calls;
    char fetched[200]; /* what the last JOB_FETCH said of its run */
    char output[4096]; /* of _condor_stdout, as it came last */
    int64_t hold_code;
    bool gives_new_directory; /* to the next run, in place of the last one's */
    struct stat at_done;      /* of the sandbox */
};

/* The first half, and no more: the connection goes. */
static void send_half(struct bed *bed, struct wire_request *request)
{
    struct ad *args = ad_create();
    ad_set_string(args, "Name", "input");
    ad_set_int(args, "Offset", 0);
    const struct wire_body part = {.args = args,
                                   .blob = bed->input,
                                   .blob_length = strlen(bed->input) / 2};
    assert_true(wire_reply_part(request, &part));
    ad_destroy(args);
    bed->cut_input = false;
    bed->gets_calls++;
    wire_finish(bed->base.wire);
    bed->base.wire = NULL;
    wire_reply_error(request, -ECONNRESET, "cut"); /* to nobody */
}

/* What the starter says that it has must be that half. */
static void send_rest(struct bed *bed, struct wire_request *request)
{
    const struct ad *got = wire_request_args(request);
    struct ad *args = ad_create();
    struct digest *digest = digest_create();
    char checksum[DIGEST_HEX_SIZE];
    size_t half = strlen(bed->input) / 2;
    digest_update(digest, bed->input, half);
    digest_peek(digest, checksum);
    assert_int_equal(ad_int_or(got, "Offset", 0), half);
    assert_string_equal(ad_string_or(got, "Checksum", ""), checksum);
    digest_update(digest, bed->input + half, strlen(bed->input) - half);
    digest_hex(digest, checksum);
    ad_set_string(args, "Name", "input");
    ad_set_int(args, "Offset", (int64_t)half);
    ad_set_string(args, "Checksum", checksum);
    const struct wire_body part = {.args = args,
                                   .blob = bed->input + half,
                                   .blob_length = strlen(bed->input) - half};
    assert_true(wire_reply_part(request, &part));
    wire_reply_ok(request, NULL);
    digest_destroy(digest);
    ad_destroy(args);
    bed->gets_calls++;
}

static void send_input(struct bed *bed, struct wire_request *request)
{
    struct ad *args = ad_create();
    struct digest *digest = digest_create();
    char checksum[DIGEST_HEX_SIZE];
    size_t length = strlen(bed->input);
    digest_update(digest, bed->input, length - (bed->damage > bed->gets_calls++ ? 1 : 0));
    digest_hex(digest, checksum);
    ad_set_string(args, "Name", "input");
    ad_set_int(args, "Offset", 0);
    ad_set_string(args, "Checksum", checksum);
    const struct wire_body part = {.args = args, .blob = bed->input, .blob_length = length};
    assert_true(wire_reply_part(request, &part));
    wire_reply_ok(request, NULL);
    digest_destroy(digest);
    ad_destroy(args);
}

static void shadow_asked(void *arg, struct wire_request *request)
{
    struct bed *bed = arg;
    const struct ad *args = wire_request_args(request);
    size_t length;
    const void *blob = wire_request_blob(request, &length);
    struct err err;
    char path[256];
    switch (wire_request_verb(request)) {
    case VERB_JOB_FETCH: {
        (void)snprintf(bed->fetched, sizeof bed->fetched, "%s %lld %s",
                       ad_string_or(args, "JobId", ""), (long long)ad_int_or(args, "ClaimEpoch", 0),
                       wire_request_secret(request, SECRET_NONCE));
        struct ad *job;
        assert_int_equal(ad_parse(bed->job, strlen(bed->job), &job, &err), 0);
        struct ad *input = ad_create();
        ad_set_string(input, "Name", "input");
        ad_set_int(input, "Size", bed->input != NULL ? (int64_t)strlen(bed->input) : 0);
        ad_set_int(input, "Mode", 0644);
        const struct ad *ads[2] = {job, input};
        const struct wire_body body = {.ads = ads, .ad_count = bed->input != NULL ? 2 : 1};
        wire_reply_ok(request, &body);
        ad_destroy(input);
        ad_destroy(job);
        return;
    }
    case VERB_FILE_GET:
        assert_string_equal(ad_string_or(args, "Name", ""), "input");
        if (bed->cut_input) {
            send_half(bed, request);
        } else if (ad_has(args, "Offset")) {
            send_rest(bed, request);
        } else {
            send_input(bed, request);
        }
        return;
    case VERB_JOB_STARTED:
        bed->starts++;
        bed->ran++;
        bed->is_told = true;
        if (bed->flag) {
            (void)snprintf(path, sizeof path, "%s/sandbox/told", bed->base.run_dir);
            assert_int_equal(os_write_file(bed->base.os, path, "", 0, 0644, false, &err), 0);
        }
        wire_reply_ok(request, NULL);
        return;
    case VERB_FILE_PUT:
        bed->puts_calls++;
        if (bed->put_refusals > 0) {
            bed->put_refusals--;
            wire_reply_error(request, bed->put_status, "output cannot be written");
            return;
        }
        if (strcmp(ad_string_or(args, "Name", ""), "_condor_stdout") == 0) {
            assert_true(length < sizeof bed->output);
            memcpy(bed->output, length > 0 ? blob : "", length);
            bed->output[length] = '\0';
        }
        wire_reply_ok(request, NULL);
        return;
    case VERB_JOB_DONE:
        bed->done_calls++;
        bed->hold_code = ad_int_or(args, "HoldReasonCode", 0);
        bed->ran += bed->hold_code == 0 && !bed->is_told ? 1 : 0;
        bed->is_told = bed->hold_code == 0; /* it may be said again */
        (void)snprintf(path, sizeof path, "%s/sandbox", bed->base.run_dir);
        assert_int_equal(stat(path, &bed->at_done), 0);
        if (bed->done_calls <= bed->refusals) {
            wire_reply_error(request, -EAGAIN, "output '_condor_stdout' was damaged");
            return;
        }
        wire_reply_ok(request, NULL);
        bed->base.over = true;
        return;
    default:
        wire_reply_ok(request, NULL);
    }
}

/* A startd that knows where the shadow is now. */
static void startd_asked(void *arg, struct wire_request *request)
{
    struct bed *bed = arg;
    struct ad *args = ad_create();
    ad_set_int(args, "LeaseDuration", 600);
    ad_set_int(args, "LeaseEndMs", 4000000000000 + bed->renewals++);
    ad_set_string(args, "ShadowAddress", listener_address(bed->base.listener));
    const struct wire_body body = {.args = args};
    wire_reply_ok(request, &body);
    ad_destroy(args);
}

static struct bed *bed_create_where(const char *job, int64_t disk_kib, bool moved)
{
    struct bed *bed = mem_zalloc(sizeof *bed);
    char slot[60];
    bed->job = job;
    bed->base.has_moved = moved;
    starter_bed_open(&bed->base, shadow_asked, moved ? startd_asked : NULL);
    (void)snprintf(slot, sizeof slot, "[ Disk = %lld ]", (long long)disk_kib);
    write_record(&bed->base, "1.0", tls_identity_pin(bed->base.identity),
                 disk_kib > 0 ? slot : NULL, NULL);
    starter_bed_start(&bed->base);
    return bed;
}

static struct bed *bed_create_with(const char *job, int64_t disk_kib)
{
    return bed_create_where(job, disk_kib, false);
}

static struct bed *bed_create(const char *job)
{
    return bed_create_with(job, 0);
}

static void bed_destroy(struct bed *bed)
{
    starter_bed_close(&bed->base);
    mem_free(bed);
}

/* Waits until the test has seen the end. */
static void finish(struct bed *bed)
{
    loop_rig_await(bed->base.loop, &bed->base.over, NULL);
}

/* What the job says of its own directory, then it opens it to everybody. */
#define CURIOUS                                                                   \
    "[ Cmd = \"/bin/sh\"; Arguments = \"-c 'stat -c %u .; chmod 0777 .'\"; "      \
    "Out = \"_condor_stdout\"; Owner = \"nobody-here\"; User = \"x@elsewhere\"; " \
    "TransferOutput = \"\" ]"

static void the_sandbox_is_the_accounts_only_while_the_job_runs(void **state)
{
    (void)state;
    if (getuid() != 0) {
        skip(); /* without root there is one account */
    }
    struct bed *bed = bed_create(CURIOUS);
    struct stat before;
    char path[256];
    (void)snprintf(path, sizeof path, "%s/sandbox", bed->base.run_dir);
    assert_int_equal(stat(path, &before), 0);
    assert_int_equal(before.st_uid, 0); /* inputs are written to it as root */
    finish(bed);
    assert_int_not_equal(strtol(bed->output, NULL, 10), 0);
    assert_int_equal(bed->at_done.st_uid, 0); /* and outputs read */
    assert_int_equal(bed->at_done.st_mode & 0777, 0700);
    bed_destroy(bed);
}

static void output_that_did_not_arrive_whole_is_sent_again(void **state)
{
    (void)state;
    struct bed *bed = bed_create(CURIOUS);
    bed->refusals = 2;
    finish(bed);
    assert_int_equal(bed->done_calls, 3);
    assert_int_equal(bed->puts_calls, 3);
    assert_int_equal(bed->hold_code, 0);
    if (getuid() != 0) {
        assert_int_equal(strtol(bed->output, NULL, 10), getuid());
    }
    bed_destroy(bed);
}

static void output_waits_for_a_submit_host_that_cannot_store_it_now(void **state)
{
    (void)state;
    struct bed *bed = bed_create(CURIOUS);
    bed->put_refusals = 1;
    bed->put_status = -EIO;
    finish(bed); /* the connection is closed */
    assert_int_equal(bed->done_calls, 0);
    bed->base.over = false;
    finish(bed);
    assert_int_equal(bed->puts_calls, 2);
    assert_int_equal(bed->base.connections, 2);
    assert_int_equal(bed->done_calls, 1);
    assert_int_equal(bed->hold_code, 0);
    assert_int_not_equal(bed->output[0], '\0');
    bed_destroy(bed);
}

static void output_that_may_not_be_stored_holds_the_job_at_once(void **state)
{
    (void)state;
    struct bed *bed = bed_create(CURIOUS);
    bed->put_refusals = 1;
    bed->put_status = -EPERM;
    finish(bed);
    assert_int_equal(bed->puts_calls, 1);
    assert_int_equal(bed->done_calls, 1);
    assert_int_equal(bed->hold_code, 12);
    bed_destroy(bed);
}

#define READS                                                                 \
    "[ Cmd = \"/bin/cat\"; Arguments = \"input\"; Out = \"_condor_stdout\"; " \
    "Owner = \"nobody-here\"; User = \"x@elsewhere\"; TransferOutput = \"\" ]"

static void a_shadow_that_has_moved_is_found(void **state)
{
    (void)state;
    struct bed *bed = bed_create_where(READS, 0, true);
    bed->input = "the input";
    finish(bed);
    assert_string_equal(bed->output, "the input");
    bed_destroy(bed);
}

static void a_job_reads_its_input(void **state)
{
    (void)state;
    struct bed *bed = bed_create(READS);
    bed->input = "the input";
    finish(bed);
    assert_int_equal(bed->ran, 1);
    assert_string_equal(bed->output, "the input");
    bed_destroy(bed);
}

static void after_a_cut_only_the_rest_of_an_input_is_asked_for(void **state)
{
    (void)state;
    struct bed *bed = bed_create(READS);
    bed->input = "the input";
    bed->cut_input = true;
    finish(bed);
    assert_int_equal(bed->gets_calls, 2);
    assert_int_equal(bed->ran, 1);
    assert_string_equal(bed->output, "the input");
    bed_destroy(bed);
}

#define WAITS                                                                            \
    "[ Cmd = \"/bin/sh\"; Arguments = \"-c 'until [ -e told ]; do sleep 0.02; done'\"; " \
    "Out = \"_condor_stdout\"; Owner = \"nobody-here\"; User = \"x@elsewhere\"; "        \
    "TransferOutput = \"\" ]"

static void the_start_of_a_job_that_goes_on_is_told_while_it_runs(void **state)
{
    (void)state;
    struct bed *bed = bed_create(WAITS);
    bed->flag = true;
    finish(bed);
    assert_int_equal(bed->starts, 1);
    bed_destroy(bed);
}

static void a_job_never_starts_on_a_damaged_input(void **state)
{
    (void)state;
    struct bed *bed = bed_create(READS);
    bed->input = "the input";
    bed->damage = 100;
    finish(bed);
    assert_int_equal(bed->ran, 0);
    assert_int_equal(bed->gets_calls, 3);
    assert_int_equal(bed->done_calls, 1);
    assert_int_equal(bed->hold_code, 13);
    bed_destroy(bed);
}

static void input_that_its_disk_does_not_hold_holds_the_job(void **state)
{
    (void)state;
    static char many[5 * 1024];
    memset(many, 'i', sizeof many - 1);
    struct bed *bed = bed_create_with(READS, 3);
    bed->input = many;
    finish(bed);
    assert_int_equal(bed->ran, 0);
    assert_int_equal(bed->gets_calls, 1);
    assert_int_equal(bed->done_calls, 1);
    assert_int_equal(bed->hold_code, 34);
    bed_destroy(bed);
}

static void input_that_its_disk_holds_does_not(void **state)
{
    (void)state;
    static char some[3 * 1024];
    memset(some, 'i', sizeof some - 1);
    struct bed *bed = bed_create_with(READS, 1000);
    bed->input = some;
    finish(bed);
    assert_int_equal(bed->ran, 1);
    assert_string_equal(bed->output, some);
    bed_destroy(bed);
}

static void an_input_that_came_damaged_is_asked_for_again(void **state)
{
    (void)state;
    struct bed *bed = bed_create(READS);
    bed->input = "the input";
    bed->damage = 2;
    finish(bed);
    assert_int_equal(bed->gets_calls, 3);
    assert_int_equal(bed->ran, 1);
    assert_int_equal(bed->hold_code, 0);
    assert_string_equal(bed->output, "the input");
    bed_destroy(bed);
}

static void wait_for_phase(struct bed *bed, enum starter_phase phase)
{
    LOOP_RIG_UNTIL(bed->base.loop, bed->base.starter->run.phase == phase, "");
}

/* The first job ended as it should, and the startd keeps the starter. */
static struct starter *ran_one(struct bed *bed)
{
    struct starter *starter = bed->base.starter;
    finish(bed);
    wait_for_phase(bed, STARTER_TELL);
    return starter;
}

static void begin_next(struct bed *bed, const char *job_id, const char *pin)
{
    struct starter *starter = bed->base.starter;
    starter_rest(starter);
    char before[sizeof bed->base.run_dir];
    (void)snprintf(before, sizeof before, "%s", bed->base.run_dir);
    (void)snprintf(bed->base.run_dir, sizeof bed->base.run_dir, "%s/dir_slot1_%s_1", bed->base.dir,
                   job_id);
    if (bed->gives_new_directory ||
        rename(before, bed->base.run_dir) != 0) { /* as the startd does */
        MUST(os_mkdirs(bed->base.os, bed->base.run_dir, 0711, err));
    }
    write_record(&bed->base, job_id, pin, NULL, NULL);
    bed->base.over = bed->is_told = false;
    MUST(starter_begin(starter, bed->base.run_dir, err));
}

static void a_kept_starter_runs_the_next_job_over_the_same_connection(void **state)
{
    (void)state;
    struct bed *bed = bed_create(READS);
    bed->input = "the input";
    struct starter *starter = ran_one(bed);
    assert_string_equal(bed->fetched, " 0 "); /* its hello said it */
    assert_true(job_run_may_stay(starter));
    assert_int_equal(access(bed->base.run_dir, F_OK), getuid() == 0 ? 0 : -1); /* kept, or gone */
    bed->input = "another input";
    begin_next(bed, "2.0", tls_identity_pin(bed->base.identity));
    finish(bed);
    assert_string_equal(bed->output, "another input");
    assert_string_equal(bed->fetched, "2.0 1 00000000000000000000000000000000");
    assert_int_equal(bed->base.connections, 1);
    assert_int_equal(bed->ran + bed->done_calls, 4);
    assert_string_equal(starter->run.job_id, "2.0");
    bed_destroy(bed);
}

/* Litters all that it can write to, and gives the sandbox to everybody. */
#define LITTERS                                                                                 \
    "[ Cmd = \"/bin/sh\"; Arguments = \"-c 'mkdir -p a/b; echo >a/b/c; echo >.hidden; ln -s / " \
    "root; rm -f .job.ad; echo mine >.machine.ad.2; mv .machine.ad .job.ad; for d in /tmp "     \
    "/var/tmp; do echo >$d/file; mkdir $d/directory; done; chmod 0777 .'\"; "                   \
    "Out = \"_condor_stdout\"; Owner = \"nobody-here\"; User = \"x@elsewhere\"; "               \
    "TransferOutput = \"\" ]"
#define LOOKS                                                                               \
    "[ Cmd = \"/bin/sh\"; Arguments = \"-c 'ls -A . /tmp /var/tmp; stat -c %a . /tmp; cat " \
    ".job.ad | "                                                                            \
    "grep -c LOOKS_LIKE_THIS'\"; Looks = \"LOOKS_LIKE_THIS\"; Out = \"_condor_stdout\"; "   \
    "Owner = \"nobody-here\"; User = \"x@elsewhere\"; TransferOutput = \"\" ]"
#define SEEN_BY_A_NEW_ONE ".:\n.job.ad\n_condor_stdout\n\n/tmp:\n\n/var/tmp:\n700\n1777\n2\n"

static ino_t sandbox_inode(const struct bed *bed)
{
    struct stat st;
    char path[256];
    (void)snprintf(path, sizeof path, "%s/sandbox", bed->base.run_dir);
    return stat(path, &st) == 0 ? st.st_ino : 0;
}

static void the_next_job_finds_the_directories_of_the_last_as_new(void **state)
{
    (void)state;
    if (getuid() != 0) {
        skip(); /* they are made anew */
    }
    struct bed *bed = bed_create(LITTERS);
    struct starter *starter = ran_one(bed);
    ino_t inode = sandbox_inode(bed);
    assert_string_equal(starter->nest.directory, bed->base.run_dir);
    bed->job = LOOKS;
    begin_next(bed, "2.0", tls_identity_pin(bed->base.identity));
    assert_null(starter->nest.directory);
    assert_int_equal(sandbox_inode(bed), inode);
    finish(bed);
    assert_string_equal(bed->output, SEEN_BY_A_NEW_ONE);
    bed_destroy(bed);
}

static void a_directory_that_is_not_taken_for_the_next_run_is_removed(void **state)
{
    (void)state;
    struct bed *bed = bed_create(LITTERS);
    (void)ran_one(bed);
    char before[256];
    (void)snprintf(before, sizeof before, "%s", bed->base.run_dir);
    bed->gives_new_directory = true;
    bed->job = LOOKS;
    begin_next(bed, "2.0", tls_identity_pin(bed->base.identity));
    assert_int_not_equal(access(before, F_OK), 0);
    finish(bed);
    if (getuid() == 0) {
        assert_string_equal(bed->output, SEEN_BY_A_NEW_ONE);
    }
    bed_destroy(bed);
}

static void a_kept_directory_goes_with_its_starter(void **state)
{
    (void)state;
    struct bed *bed = bed_create(LITTERS);
    starter_rest(ran_one(bed));
    nest_remove(bed->base.starter);
    assert_int_not_equal(access(bed->base.run_dir, F_OK), 0);
    bed_destroy(bed);
}

static void a_directory_with_something_unknown_in_it_is_not_kept(void **state)
{
    (void)state;
    struct bed *bed = bed_create("[ Cmd = \"/bin/sh\"; Arguments = \"-c 'echo >file'\"; Out = "
                                 "\"_condor_stdout\"; Owner = \"nobody-here\"; "
                                 "User = \"x@elsewhere\"; TransferOutput = \"\" ]");
    char path[256];
    (void)snprintf(path, sizeof path, "%s/unknown", bed->base.run_dir); /* whoever put it there */
    MUST(os_mkdirs(bed->base.os, path, 0755, err));
    const struct starter *starter = ran_one(bed);
    assert_null(starter->nest.directory);
    assert_int_not_equal(access(bed->base.run_dir, F_OK), 0);
    assert_true(job_run_may_stay(starter));
    bed_destroy(bed);
}

#define STUBBORN                                                                 \
    "[ Cmd = \"/bin/sh\"; "                                                      \
    "Arguments = \"-c 'trap : TERM; echo >ready; while :; do sleep 1; done'\"; " \
    "Out = \"_condor_stdout\"; Owner = \"nobody-here\"; User = \"x@elsewhere\" ]"

static void the_next_job_is_killed_when_it_does_not_stop_in_time(void **state)
{
    (void)state;
    struct bed *bed = bed_create(READS);
    bed->input = "the input";
    struct starter *starter = ran_one(bed);
    bed->job = STUBBORN;
    bed->input = NULL;
    begin_next(bed, "2.0", tls_identity_pin(bed->base.identity));
    wait_for_phase(bed, STARTER_RUN);
    char path[256];
    (void)snprintf(path, sizeof path, "%s/sandbox/ready", bed->base.run_dir);
    while (access(path, F_OK) != 0) { /* it hears the signal, and goes on */
        usleep(1000);
    }
    starter_stop(starter, false);
    assert_true(loop_timer_is_set(starter->timers[TIMER_KILL]));
    loop_timer_set(starter->timers[TIMER_KILL], 0); /* its grace is over */
    wait_for_phase(bed, STARTER_TELL);
    assert_int_not_equal(access(bed->base.run_dir, F_OK), 0);
    assert_false(job_run_may_stay(starter));
    bed_destroy(bed);
}

static void who_is_told_to_stop_by_a_signal_does_not_wait_for_a_startd(void **state)
{
    (void)state;
    struct bed *bed = bed_create(READS);
    bed->input = "the input";
    (void)ran_one(bed); /* no startd hears of it; with patience that would take 30 s */
    begin_next(bed, "2.0", tls_identity_pin(bed->base.identity));
    /* The job is short: on a busy machine it may have ended before anybody looks. */
    LOOP_RIG_UNTIL(bed->base.loop, bed->base.starter->run.phase >= STARTER_RUN, "");
    uint64_t begun_ms = loop_now_ms(bed->base.loop);
    starter_daemon.stop(bed->base.starter);
    wait_for_phase(bed, STARTER_END);
    assert_in_range(loop_now_ms(bed->base.loop) - begun_ms, 0, 25000);
    bed_destroy(bed);
}

static void nothing_of_a_run_is_there_for_the_next(void **state)
{
    (void)state;
    struct bed *bed = bed_create(READS);
    bed->input = "the input";
    struct starter *starter = ran_one(bed);
    starter_rest(starter);
    const struct job_run *run = &starter->run;
    assert_int_equal(run->phase, STARTER_IDLE);
    assert_string_equal(run->job_id, "");
    assert_int_equal(run->input.list.count + run->output.list.count, 0);
    assert_int_equal(run->output.checksums.count, 0);
    assert_true(run->job == NULL && run->cage == NULL);
    assert_int_equal(run->process.pid, 0);
    assert_int_equal(run->lease.end_ms, 0);
    assert_false(run->process.started_told);
    for (size_t i = 0; i < TIMER_COUNT; i++) {
        assert_false(loop_timer_is_set(starter->timers[i]));
    }
    assert_int_equal(run->process.exit.status, 0);
    bed_destroy(bed);
}

static void another_shadow_is_dialled_anew(void **state)
{
    (void)state;
    struct bed *bed = bed_create(READS);
    bed->input = "the input";
    struct starter *starter = ran_one(bed);
    begin_next(bed, "2.0", "0011223344556677001122334455667700112233445566770011223344556677");
    finish(bed);                          /* the connection is closed */
    assert_int_equal(bed->done_calls, 1); /* whom it was not told to trust, it tells nothing */
    assert_string_equal(starter->run.job_id, "2.0");
    bed_destroy(bed);
}

static void a_starter_whose_job_was_held_takes_no_other(void **state)
{
    (void)state;
    struct bed *bed = bed_create("[ Cmd = \"/nowhere/at/all\"; Out = \"_condor_stdout\"; "
                                 "Owner = \"nobody-here\"; User = \"x@elsewhere\" ]");
    struct starter *starter = ran_one(bed);
    assert_int_not_equal(bed->hold_code, 0);
    assert_false(job_run_may_stay(starter));
    bed_destroy(bed);
}

UNIT_TESTS(UNIT(a_kept_starter_runs_the_next_job_over_the_same_connection),
           UNIT(who_is_told_to_stop_by_a_signal_does_not_wait_for_a_startd),
           UNIT(nothing_of_a_run_is_there_for_the_next),
           UNIT(the_next_job_is_killed_when_it_does_not_stop_in_time),
           UNIT(another_shadow_is_dialled_anew), UNIT(a_starter_whose_job_was_held_takes_no_other),
           UNIT(a_shadow_that_has_moved_is_found), UNIT(a_job_reads_its_input),
           UNIT(the_start_of_a_job_that_goes_on_is_told_while_it_runs),
           UNIT(a_job_never_starts_on_a_damaged_input),
           UNIT(the_next_job_finds_the_directories_of_the_last_as_new),
           UNIT(a_directory_that_is_not_taken_for_the_next_run_is_removed),
           UNIT(a_kept_directory_goes_with_its_starter),
           UNIT(a_directory_with_something_unknown_in_it_is_not_kept),
           UNIT(input_that_its_disk_does_not_hold_holds_the_job),
           UNIT(input_that_its_disk_holds_does_not),
           UNIT(an_input_that_came_damaged_is_asked_for_again),
           UNIT(after_a_cut_only_the_rest_of_an_input_is_asked_for),
           UNIT(the_sandbox_is_the_accounts_only_while_the_job_runs),
           UNIT(output_waits_for_a_submit_host_that_cannot_store_it_now),
           UNIT(output_that_may_not_be_stored_holds_the_job_at_once),
           UNIT(output_that_did_not_arrive_whole_is_sent_again))
