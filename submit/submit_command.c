/* submit/submit_command.c - the table of submit commands: see submit_command.h.
 *
 * When a daemon learns to obey a command, its row's state becomes COMMAND_OBEYED.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "submit/submit_command.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "submit/submit_file.h"
#include "submit/submit_job.h"
#include "submit/submit_making.h"

static const struct submit_command COMMANDS[] = {
    /* the program */
    {"universe", "JobUniverse", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"executable", "Cmd", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"shell", NULL, COMMAND_SPECIAL, COMMAND_OBEYED},
    {"arguments", "Args", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"arguments2", NULL, COMMAND_SPECIAL, COMMAND_OBEYED},
    {"allow_arguments_v1", NULL, COMMAND_SPECIAL, COMMAND_OBEYED},
    {"environment", "env", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"environment2", NULL, COMMAND_SPECIAL, COMMAND_OBEYED},
    {"allow_environment_v1", NULL, COMMAND_SPECIAL, COMMAND_OBEYED},
    {"getenv", "get_env", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"initialdir", "Iwd", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"initial_dir", "job_iwd", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"remote_initialdir", "RemoteIwd", COMMAND_STRING, COMMAND_REFUSED},
    {"skip_filechecks", NULL, COMMAND_SPECIAL, COMMAND_OBEYED},
    {"machine_count", "MachineCount", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"node_count", "NodeCount", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"want_parallel_scheduling", "WantParallelScheduling", COMMAND_SPECIAL, COMMAND_REFUSED},
    {"container_image", "ContainerImage", COMMAND_SPECIAL, COMMAND_REFUSED},
    {"docker_image", "DockerImage", COMMAND_SPECIAL, COMMAND_REFUSED},
    {"docker_network_type", "DockerNetworkType", COMMAND_STRING, COMMAND_REFUSED},
    {"docker_pull_policy", "DockerPullPolicy", COMMAND_STRING, COMMAND_REFUSED},
    {"docker_override_entrypoint", "DockerOverrideEntrypoint", COMMAND_BOOL, COMMAND_REFUSED},
    {"docker_send_credentials", "DockerSendCredentials", COMMAND_BOOL, COMMAND_REFUSED},
    {"container_target_dir", "ContainerTargetDir", COMMAND_QUOTED, COMMAND_REFUSED},
    {"container_service_names", "ContainerServiceNames", COMMAND_SPECIAL, COMMAND_REFUSED},
    {"transfer_container", "TransferContainer", COMMAND_BOOL, COMMAND_REFUSED},
    {"mount_under_scratch", "MountUnderScratch", COMMAND_EXPR, COMMAND_REFUSED},
    {"stack_size", "StackSize", COMMAND_EXPR, COMMAND_OBEYED},
    {"core_size", "CoreSize", COMMAND_INT, COMMAND_OBEYED},
    {"load_profile", "LoadProfile", COMMAND_BOOL, COMMAND_IGNORED},
    {"run_as_owner", "RunAsOwner", COMMAND_BOOL, COMMAND_IGNORED},
    {"noop_job", "IsNoopJob", COMMAND_EXPR, COMMAND_OBEYED},
    {"noop_job_exit_signal", "NoopJobExitSignal", COMMAND_EXPR, COMMAND_OBEYED},
    {"noop_job_exit_code", "NoopJobExitCode", COMMAND_EXPR, COMMAND_OBEYED},
    {"jar_files", "JarFiles", COMMAND_STRING, COMMAND_REFUSED},
    {"java_vm_args", "JavaVMArgs", COMMAND_STRING, COMMAND_REFUSED},
    {"suspend_job_at_exec", "SuspendJobAtExec", COMMAND_BOOL, COMMAND_REFUSED},
    {"tool_daemon_cmd", "ToolDaemonCmd", COMMAND_STRING, COMMAND_REFUSED},
    {"parallel_script_shadow", "ParallelScriptShadow", COMMAND_STRING, COMMAND_REFUSED},
    {"parallel_script_starter", "ParallelScriptStarter", COMMAND_STRING, COMMAND_REFUSED},
    {"grid_resource", "GridResource", COMMAND_STRING, COMMAND_REFUSED},
    {"x509userproxy", NULL, COMMAND_SPECIAL, COMMAND_REFUSED},
    {"use_x509userproxy", NULL, COMMAND_SPECIAL, COMMAND_REFUSED},
    {"use_oauth_services", NULL, COMMAND_SPECIAL, COMMAND_REFUSED},

    /* files */
    {"input", "stdin", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"output", "stdout", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"error", "stderr", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"stream_input", "StreamIn", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"stream_output", "StreamOut", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"stream_error", "StreamErr", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"transfer_input", "TransferIn", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"transfer_output", "TransferOut", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"transfer_error", "TransferErr", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"transfer_executable", "TransferExecutable", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"transfer_input_files", "TransferInputFiles", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"transfer_output_files", "TransferOutputFiles", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"transfer_output_remaps", "TransferOutputRemaps", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"should_transfer_files", "ShouldTransferFiles", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"when_to_transfer_output", "WhenToTransferOutput", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"transfer_plugins", "TransferPlugins", COMMAND_STRING, COMMAND_REFUSED},
    {"transfer_checkpoint_files", "TransferCheckpoint", COMMAND_STRING, COMMAND_REFUSED},
    {"preserve_relative_paths", "PreserveRelativePaths", COMMAND_BOOL, COMMAND_OBEYED},
    {"max_transfer_input_mb", "MaxTransferInputMB", COMMAND_EXPR, COMMAND_OBEYED},
    {"max_transfer_output_mb", "MaxTransferOutputMB", COMMAND_EXPR, COMMAND_OBEYED},
    {"output_destination", "OutputDestination", COMMAND_STRING, COMMAND_OBEYED},
    {"encrypt_execute_directory", "EncryptExecuteDirectory", COMMAND_BOOL, COMMAND_REFUSED},
    {"encrypt_input_files", "EncryptInputFiles", COMMAND_STRING, COMMAND_OBEYED},
    {"encrypt_output_files", "EncryptOutputFiles", COMMAND_STRING, COMMAND_OBEYED},
    {"dont_encrypt_input_files", "DontEncryptInputFiles", COMMAND_STRING, COMMAND_IGNORED},
    {"dont_encrypt_output_files", "DontEncryptOutputFiles", COMMAND_STRING, COMMAND_IGNORED},
    {"append_files", "AppendFiles", COMMAND_STRING, COMMAND_REFUSED},
    {"buffer_files", "BufferFiles", COMMAND_EXPR, COMMAND_IGNORED},
    {"buffer_size", "BufferSize", COMMAND_EXPR, COMMAND_IGNORED},
    {"buffer_block_size", "BufferBlockSize", COMMAND_EXPR, COMMAND_IGNORED},
    {"compress_files", "CompressFiles", COMMAND_STRING, COMMAND_REFUSED},
    {"fetch_files", "FetchFiles", COMMAND_STRING, COMMAND_REFUSED},
    {"local_files", "LocalFiles", COMMAND_STRING, COMMAND_REFUSED},
    {"file_remaps", "FileRemaps", COMMAND_EXPR, COMMAND_REFUSED},
    {"erase_output_and_error_on_restart", "DontAppend", COMMAND_BOOL, COMMAND_IGNORED},
    {"skip_if_dataflow", "SkipIfDataflow", COMMAND_BOOL, COMMAND_OBEYED},
    {"manifest", "JobManifestDesired", COMMAND_BOOL, COMMAND_REFUSED},
    {"manifest_dir", "JobManifestDir", COMMAND_STRING, COMMAND_REFUSED},
    {"checkpoint_exit_code", "CheckpointExitCode", COMMAND_INT, COMMAND_REFUSED},
    {"checkpoint_destination", "CheckpointDestination", COMMAND_STRING, COMMAND_OBEYED},
    {"checkpoint", "WantCheckpoint", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"periodic_checkpoint", "PeriodicCheckpoint", COMMAND_EXPR, COMMAND_OBEYED},
    {"remote_root", "RemoteRoot", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"remote_readonly", "RemoteReadonly", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"remote_write", "RemoteWrite", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"allow_network", "AllowNetwork", COMMAND_BOOL, COMMAND_OBEYED},
    {"want_io_proxy", "WantIOProxy", COMMAND_BOOL, COMMAND_REFUSED},
    {"copy_to_spool", "CopyToSpool", COMMAND_SPECIAL, COMMAND_IGNORED},
    {"image_size", "ImageSize", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"disk_usage", "DiskUsage", COMMAND_SPECIAL, COMMAND_OBEYED},

    /* log and mail */
    {"log", "UserLog", COMMAND_PATH, COMMAND_OBEYED},
    {"dagman_log", "DAGManNodesLog", COMMAND_PATH, COMMAND_OBEYED},
    {"log_xml", "UserLogUseXML", COMMAND_BOOL, COMMAND_OBEYED},
    {"ulog_execute_attrs", "UserLogExecuteEventAttrs", COMMAND_STRING, COMMAND_OBEYED},
    {"submit_event_notes", "SubmitEventNotes", COMMAND_STRING, COMMAND_OBEYED},
    {"submit_event_user_notes", "SubmitEventUserNotes", COMMAND_STRING, COMMAND_OBEYED},
    {"job_ad_information_attrs", "JobAdInformationAttrs", COMMAND_STRING, COMMAND_OBEYED},
    {"notification", "JobNotification", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"notify_user", "NotifyUser", COMMAND_STRING, COMMAND_OBEYED},
    {"email_attributes", "EmailAttributes", COMMAND_LIST, COMMAND_OBEYED},
    {"dagman_job_id", "DAGManJobId", COMMAND_UINT, COMMAND_OBEYED},
    {"dag_node_name", "DAGNodeName", COMMAND_STRING, COMMAND_OBEYED},
    {"batch_name", "JobBatchName", COMMAND_QUOTED, COMMAND_OBEYED},
    {"batch_id", "JobBatchId", COMMAND_QUOTED, COMMAND_OBEYED},
    {"description", "JobDescription", COMMAND_STRING, COMMAND_OBEYED},
    {"jobset", "JobSetName", COMMAND_QUOTED, COMMAND_OBEYED},
    {"starter_debug", "JobStarterDebug", COMMAND_QUOTED, COMMAND_IGNORED},
    {"starter_log", "JobStarterLog", COMMAND_PATH, COMMAND_IGNORED},

    /* what it needs, and of whom */
    {"requirements", "Requirements", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"rank", "Rank", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"preferences", NULL, COMMAND_SPECIAL, COMMAND_OBEYED},
    {"request_cpus", "RequestCpus", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"request_memory", "RequestMemory", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"request_disk", "RequestDisk", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"request_gpus", "RequestGPUs", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"require_gpus", "RequireGPUs", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"gpus_minimum_capability", "GPUsMinCapability", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"gpus_maximum_capability", "GPUsMaxCapability", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"gpus_minimum_memory", "GPUsMinMemory", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"gpus_minimum_runtime", "GPUsMinRuntime", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"cuda_version", "CUDAVersion", COMMAND_STRING, COMMAND_REFUSED},
    {"concurrency_limits", NULL, COMMAND_SPECIAL, COMMAND_OBEYED},
    {"concurrency_limits_expr", NULL, COMMAND_SPECIAL, COMMAND_OBEYED},
    {"accounting_group", "AccountingGroup", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"accounting_group_user", "AcctGroupUser", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"nice_user", "NiceUser", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"priority", "JobPrio", COMMAND_INT, COMMAND_OBEYED},
    {"prio", NULL, COMMAND_SPECIAL, COMMAND_OBEYED}, /* the same as priority */
    {"match_list_length", "LastMatchListLength", COMMAND_INT, COMMAND_IGNORED},
    {"job_machine_attrs", "JobMachineAttrs", COMMAND_STRING, COMMAND_OBEYED},
    {"job_machine_attrs_history_length", "JobMachineAttrsHistoryLength", COMMAND_INT,
     COMMAND_OBEYED},

    /* its life */
    {"hold", NULL, COMMAND_SPECIAL, COMMAND_OBEYED},
    {"max_retries", "JobMaxRetries", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"retry_until", NULL, COMMAND_SPECIAL, COMMAND_OBEYED},
    {"success_exit_code", "JobSuccessExitCode", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"periodic_hold", "PeriodicHold", COMMAND_EXPR, COMMAND_OBEYED},
    {"periodic_hold_reason", "PeriodicHoldReason", COMMAND_EXPR, COMMAND_OBEYED},
    {"periodic_hold_subcode", "PeriodicHoldSubCode", COMMAND_EXPR, COMMAND_OBEYED},
    {"periodic_release", "PeriodicRelease", COMMAND_EXPR, COMMAND_OBEYED},
    {"periodic_remove", "PeriodicRemove", COMMAND_EXPR, COMMAND_OBEYED},
    {"periodic_vacate", "PeriodicVacate", COMMAND_EXPR, COMMAND_OBEYED},
    {"on_exit_hold", "OnExitHold", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"on_exit_hold_reason", "OnExitHoldReason", COMMAND_EXPR, COMMAND_OBEYED},
    {"on_exit_hold_subcode", "OnExitHoldSubCode", COMMAND_EXPR, COMMAND_OBEYED},
    {"on_exit_remove", "OnExitRemove", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"leave_in_queue", "LeaveJobInQueue", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"allowed_job_duration", "AllowedJobDuration", COMMAND_EXPR, COMMAND_OBEYED},
    {"allowed_execute_duration", "AllowedExecuteDuration", COMMAND_EXPR, COMMAND_OBEYED},
    {"job_lease_duration", "JobLeaseDuration", COMMAND_EXPR, COMMAND_OBEYED},
    {"max_job_retirement_time", "MaxJobRetirementTime", COMMAND_EXPR, COMMAND_OBEYED},
    {"job_max_vacate_time", "JobMaxVacateTime", COMMAND_EXPR, COMMAND_OBEYED},
    {"want_graceful_removal", "WantGracefulRemoval", COMMAND_EXPR, COMMAND_OBEYED},
    {"kill_sig", "KillSig", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"remove_kill_sig", "RemoveKillSig", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"hold_kill_sig", "HoldKillSig", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"kill_sig_timeout", "KillSigTimeout", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"keep_claim_idle", "KeepClaimIdle", COMMAND_EXPR, COMMAND_OBEYED},
    {"next_job_start_delay", "NextJobStartDelay", COMMAND_EXPR, COMMAND_OBEYED},
    {"deferral_time", "DeferralTime", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"deferral_window", "DeferralWindow", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"deferral_prep_time", "DeferralPrepTime", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"cron_window", "CronWindow", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"cron_prep_time", "CronPrepTime", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"cron_minute", "CronMinute", COMMAND_STRING, COMMAND_OBEYED},
    {"cron_hour", "CronHour", COMMAND_STRING, COMMAND_OBEYED},
    {"cron_day_of_month", "CronDayOfMonth", COMMAND_STRING, COMMAND_OBEYED},
    {"cron_month", "CronMonth", COMMAND_STRING, COMMAND_OBEYED},
    {"cron_day_of_week", "CronDayOfWeek", COMMAND_STRING, COMMAND_OBEYED},
    {"max_materialize", "JobMaterializeLimit", COMMAND_SPECIAL, COMMAND_OBEYED},
    {"max_idle", "JobMaterializeMaxIdle", COMMAND_EXPR, COMMAND_OBEYED},
    {"materialize_max_idle", NULL, COMMAND_SPECIAL, COMMAND_OBEYED}, /* the same as max_idle */
};

const struct submit_command *command_at(size_t index)
{
    return index < ARRAY_COUNT(COMMANDS) ? &COMMANDS[index] : NULL;
}

const struct submit_command *command_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(COMMANDS); i++) {
        if (text_equal_nocase(COMMANDS[i].name, name) ||
            (COMMANDS[i].attribute != NULL && text_equal_nocase(COMMANDS[i].attribute, name))) {
            return &COMMANDS[i];
        }
    }
    return NULL;
}

static int set_number(struct submit_making *making, const struct submit_command *command,
                      const char *value, struct err *err)
{
    int64_t number;
    if (!making_int(value, &number)) {
        return making_refuse(making, err, "%s=%.200s is invalid, must eval to an integer.",
                             command->name, value);
    }
    if (strcmp(command->name, "job_machine_attrs_history_length") == 0 &&
        (number < 0 || number > INT32_MAX)) {
        return making_refuse(making, err, "%s=%lld is out of bounds 0 to %d", command->name,
                             (long long)number, INT32_MAX);
    }
    if (command->kind == COMMAND_UINT && number < 0) {
        return making_refuse(making, err,
                             "%s=%.200s is invalid, must eval to a non-negative integer.",
                             command->name, value);
    }
    ad_set_int(making->ad, command->attribute, number);
    return 0;
}

static void set_list(struct submit_making *making, const char *attribute, const char *value)
{
    struct vec items = {0};
    struct strbuf text;
    strbuf_init(&text, 0);
    making_split(value, ", \t", &items);
    making_join(&items, &text);
    ad_set_string(making->ad, attribute, strbuf_text(&text));
    strbuf_fini(&text);
    vec_fini(&items, mem_free);
}

/* Sets the attribute of a command.  The string value may be changed in here. */
static int set_attribute(struct submit_making *making, const struct submit_command *command,
                         char *value, struct err *err)
{
    bool truth;
    switch (command->kind) {
    case COMMAND_EXPR:
        return making_expr(making, command->attribute, value, err);
    case COMMAND_BOOL:
        if (!making_bool(value, &truth)) {
            return making_refuse(making, err, "%s=%.200s is invalid, must eval to a boolean.",
                                 command->name, value);
        }
        ad_set_bool(making->ad, command->attribute, truth);
        return 0;
    case COMMAND_INT:
    case COMMAND_UINT:
        return set_number(making, command, value, err);
    case COMMAND_STRING:
        ad_set_string(making->ad, command->attribute, value);
        return 0;
    case COMMAND_QUOTED:
        ad_set_string(making->ad, command->attribute, making_unquote(value));
        return 0;
    case COMMAND_LIST:
        set_list(making, command->attribute, value);
        return 0;
    case COMMAND_PATH: {
        char *path = making_path(ad_string_or(making->ad, "Iwd", "/"), making_unquote(value));
        ad_set_string(making->ad, command->attribute, path);
        mem_free(path);
        return 0;
    }
    case COMMAND_SPECIAL:
        break;
    }
    return 0;
}

int command_set_simple(struct submit_making *making, struct err *err)
{
    int rc = 0;
    for (size_t i = 0; i < ARRAY_COUNT(COMMANDS) && rc == 0; i++) {
        const struct submit_command *command = &COMMANDS[i];
        char *value = NULL;
        if (command->kind == COMMAND_SPECIAL) {
            continue;
        }
        rc = making_value(making, command->name, command->attribute, &value, err);
        if (rc == 0 && value == NULL && strcmp(command->name, "priority") == 0) {
            rc = making_value(making, "prio", NULL, &value, err);
        } else if (rc == 0 && value == NULL && strcmp(command->name, "max_idle") == 0) {
            rc = making_value(making, "materialize_max_idle", NULL, &value, err);
        }
        if (rc == 0 && value != NULL) {
            rc = set_attribute(making, command, value, err);
        }
        mem_free(value);
    }
    return rc;
}

int command_check_obeyed(struct submit_making *making, struct err *err)
{
    size_t at = 0;
    const char *name;
    bool plus;
    unsigned line;
    if (!making->place->obeyed_only) {
        return 0;
    }
    while (submit_file_walk(making->file, &at, &name, &plus, &line)) {
        const struct submit_command *command = command_find(name);
        if (command == NULL || command->state == COMMAND_OBEYED ||
            (plus &&
             (command->attribute == NULL || !text_equal_nocase(command->attribute, name)))) {
            continue;
        }
        if (command->state == COMMAND_REFUSED) {
            return err_set(err, -EINVAL,
                           "%s:%u: %s: this command is not supported yet; remove the command to "
                           "submit the job",
                           making->file_name, line, name);
        }
        if (making->is_first) {
            making_warn(making, "%s:%u: %s has no effect in this version", making->file_name, line,
                        name);
        }
    }
    return 0;
}

const char *command_nearest(const char *name)
{
    const char *best = NULL;
    size_t least = strlen(name) < 6 ? 2 : 3;
    for (size_t i = 0; i < ARRAY_COUNT(COMMANDS); i++) {
        size_t distance = text_distance(name, COMMANDS[i].name, least);
        if (distance < least) {
            least = distance;
            best = COMMANDS[i].name;
        }
    }
    return best;
}
