/* cli/commands.c - the table of subcommands, with usage and help.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>

#include "cli/cli.h"

static const struct cli_command INIT = {
    "init", cmd_init,
    "DIR [--nodes N] [--cpus-per-node C] [--idle SECONDS] [--asleep] "
    "[--submit-as ACCOUNT] [--pool NAME] [--host NAME]",
    "write a complete personal pool below DIR",
    "  --nodes N          number of nodes, 0 to 10000; each is a process group on this machine "
    "(4)\n"
    "  --cpus-per-node C  number of slots of each node (1)\n"
    "  --idle SECONDS     a node that is idle for this long goes to sleep (5)\n"
    "  --asleep           all nodes are asleep when the pool starts\n"
    "  --submit-as ACCOUNT  for a pool that root makes: the account that owns the jobs submitted "
    "by root, because jobs never run as root (default: the account that called sudo, otherwise "
    "nobody)\n"
    "  --pool NAME        the pool's name and domain: tokens are of NAME (personal)\n"
    "  --host NAME        name or address at which other machines reach this one: for glideins "
    "elsewhere (default: the pool can be reached from this machine only)\n"};
static const struct cli_command START = {
    "start", cmd_start, "[NODE...]", "start the pool's daemons in the background",
    "  With NODE...: the machine's master starts again the daemons that stay down because `roost "
    "drain` made them exit.\n"};
static const struct cli_command STOP = {
    "stop", cmd_stop, "[--for-shutdown]",
    "stop the pool's daemons, nodes and jobs that run on them",
    "  --for-shutdown  this machine is being shut down: it leaves offline ads, so that jobs wake "
    "it (for the system's own scripts; the systemd unit does so)\n"};
static const struct cli_command MASTER = {"master", cmd_master, "",
                                          "run the pool's master in the foreground", NULL};

static const struct cli_command SUBMIT = {
    "submit", cmd_submit,
    "[FILE|-] [NAME=VALUE...] [-append LINE] [-queue ARGS] [-batch-name NAME] "
    "[--dry-run | -dry-run FILE] [-terse] [-interactive]",
    "submit the jobs of a submit file to the queue",
    "  -append LINE   add a line before the queue statement\n"
    "  -queue ARGS    use this queue statement for a file that has none\n"
    "  -batch-name N  show the jobs under this name in roost q\n"
    "  --dry-run      print the jobs' ads instead of submitting them\n"
    "  -dry-run FILE  write the jobs' ads to a file, as condor_submit does\n"
    "  -spool         send the input files along, to any schedd; fetch the output later with roost "
    "transfer-data\n"
    "  -remote NAME   like -spool, to the schedd NAME of the pool\n"
    "  -resume ID     continue to send the input files of a cluster after a lost connection\n"
    "  -terse         print only the ids of the first and the last job\n"
    "  -interactive   open a shell where such a job would run, with its resources; FILE is not "
    "needed\n"};

#define LISTING_USAGE "[-l | --json | -af[:FLAGS] ATTR...] [-constraint EXPR] [-limit N]"
#define LISTING_HELP                                                                     \
    "  -l                   print whole ads\n"                                           \
    "  --json               print whole ads as JSON\n"                                   \
    "  -jsonl               print each ad as JSON on one line\n"                         \
    "  -xml                 print whole ads as XML\n"                                    \
    "  -attributes A,B      with -l and --json: print only these attributes\n"           \
    "  -af[:FLAGS] ATTR...  print values of attributes or expressions; flags:\n"         \
    "                       h headings, j job id, t tabs, ',' commas,\n"                 \
    "                       n lines, l labels, V quotes, r unevaluated,\n"               \
    "                       g an empty line after each ad,\n"                            \
    "                       T seconds as days and hours,\n"                              \
    "                       Y seconds since 1970 as dates\n"                             \
    "  -format FMT ATTR     print a value with a printf format; may be mixed with -af\n" \
    "  -constraint EXPR     only ads for which EXPR is true\n"                           \
    "  -limit N             at most N ads\n"

#define PRINT_FORMAT_HELP \
    "  -print-format FILE   print columns that a print format file of HTCondor describes\n"
#define SCHEDDS_HELP                                            \
    "  -global              jobs of all schedds of the pool\n"  \
    "  -submitter NAME      jobs of this user at all schedds\n" \
    "  -wide[:N]            do not cut lines at the terminal's width, or cut them at N columns\n"

static const struct cli_command Q = {
    "q", cmd_q,
    "[ID|OWNER...] [-nobatch|-run|-hold|-idle|-io|-goodput|-ckpt|-totals|-analyze] "
    "[-allusers] " LISTING_USAGE,
    "show the jobs in the queue",
    "  -nobatch             print a line for each job, not for each batch (-batch)\n"
    "  -run, -hold, -idle   only jobs that are running, held, idle\n"
    "  -hold-codes          count the held jobs by reason\n"
    "  -io, -goodput        bytes transferred; share of the run time that was not lost\n"
    "  -ckpt                checkpoints: number, age and size of the latest, time they saved\n"
    "  -currentrun          with -nobatch or -run: show the time of the current run only\n"
    "  -cputime             with -nobatch or -run: show the CPU time\n"
    "  -totals              print only totals\n"
    "  -factory             clusters whose jobs are created later, and how many exist so far\n"
    "  -autocluster         count the jobs that are alike for matching\n"
    "  -analyze             why jobs do not run, in the layout of condor_q -better-analyze; roost "
    "why tells more\n"
    "  -allusers            jobs of all users\n"
    "  -jobads FILE         jobs from a file of ads\n"
    "                       ST: I idle, R running, < transferring input, > transferring output (q: "
    "waiting for a transfer), S suspended, H held, C completed, X removed\n" SCHEDDS_HELP
        PRINT_FORMAT_HELP LISTING_HELP};
static const struct cli_command HISTORY = {
    "history", cmd_history,
    "[ID|OWNER...] [-since ID|EXPR] [-completedsince TIME] [-forwards] [-summary] " LISTING_USAGE,
    "show the jobs that left the queue, newest first",
    "  -since ID|EXPR       stop at this job or cluster, or at the first job for which EXPR is "
    "true\n"
    "  -completedsince T    only jobs that completed at time T (seconds since 1970) or later\n"
    "  -forwards            oldest first\n"
    "  -backwards           newest first\n"
    "  -match N             like -limit N\n"
    "  -scanlimit N         examine at most N jobs\n"
    "  -file FILE           jobs from a file of ads\n"
    "  -summary             sums for each user: how many jobs ended in which way, machine hours, "
    "how many hours were lost (evictions without a checkpoint), CPU hours, and how much of these "
    "was used\n" SCHEDDS_HELP PRINT_FORMAT_HELP LISTING_HELP};
static const struct cli_command STATUS = {
    "status", cmd_status, "[MACHINE|SLOT...] [VIEW] " LISTING_USAGE,
    "show the machines of the pool, asleep or awake",
    "  -state               when the slots entered their states\n"
    "  -server              resources of the machines\n"
    "  -claimed             slots that are claimed, and by whom\n"
    "  -available           slots that are free\n"
    "  -offline             machines that are asleep, why, and when they were last wanted\n"
    "  -absent              machines that disappeared and are expected back\n"
    "  -problems            ads with errors, and what is wrong\n"
    "  -compact             print a line for each machine\n"
    "  -nocompact           print a line for each slot\n"
    "  -wide                make columns as wide as needed\n"
    "  -total               print only totals\n"
    "  -schedd -run -submitters -requests -negotiator -collector -rooster -master -accounting "
    "-factory -site -glidein\n"
    "                       show other ads than those of machines (-startd)\n"
    "  -any                 ads of all types\n"
    "  -generic TYPE        ads of this type\n"
    "  -subsystem TYPE      the view for this type of daemon\n"
    "  -sort EXPR           sort by ascending values (may be repeated)\n"
    "  -natural             do not sort\n"
    "  -ads FILE            ads from a file instead of the collector\n"
    "  -target FILE         an ad that is TARGET in -constraint, -af and -format\n"
    "  -pool HOST[:PORT]    ask another pool\n" PRINT_FORMAT_HELP LISTING_HELP};

static const struct cli_command WHY = {
    "why", cmd_why, "JOB...|MACHINE...|-user NAME...|-slot NAME... [-verbose] " LISTING_USAGE,
    "explain why a job does not run, a slot is not used, a machine is on or off",
    "  JOB              12.3, or 12 for each kind of job in the cluster.  Tells what the job waits "
    "for.  If no slot matches: how many slots, awake and asleep, each clause of the job's and the "
    "slots' Requirements rules out, how many it alone rules out, and the smallest changes of the "
    "job that would match (each was tried)\n"
    "  -user NAME       all jobs of the user in the queue; similar jobs are shown once\n"
    "  MACHINE          who or what switched the machine, why it is on, what keeps it from "
    "sleeping, how it is woken, and how recent wakes ended; then the same for each of its slots\n"
    "  -slot NAME       for a slot or machine: which idle jobs it could run, and why not the "
    "others\n"
    "  -verbose         show the clauses even if something matches\n" LISTING_HELP};

static const struct cli_command ADVERTISE = {
    "advertise", cmd_advertise,
    "[COMMAND|TYPE] [FILE|-] | -delete TYPE -name NAME...|-constraint EXPR",
    "send ads to the collector, or remove them from it",
    "  COMMAND            as in condor_advertise: UPDATE_STARTD_AD, INVALIDATE_STARTD_ADS ...\n"
    "  TYPE               type of ads without MyType: Machine, Scheduler, or a type of your own\n"
    "  FILE               ads in long form, separated by empty lines, or in new syntax;  -  is "
    "stdin\n"
    "  -delete            remove ads: those named by -name, or those that the file names\n"
    "  -name NAME         remove this ad (may be repeated)\n"
    "  -constraint EXPR   remove all ads for which EXPR is true\n"
    "  -offline, -absent  with -delete: ads of machines that are asleep, or absent\n"
    "  -multiple, -tcp, -udp   accepted as in condor_advertise; they change nothing\n"
    "  -pool HOST[:PORT]  send to another pool\n"};

#define ACT_USAGE "ID...|OWNER...|-constraint EXPR|-all [-reason TEXT]"
static const struct cli_command RM = {"rm", cmd_act, ACT_USAGE, "remove jobs from the queue", NULL};
static const struct cli_command HOLD = {"hold", cmd_act, ACT_USAGE " [-subcode N]",
                                        "hold jobs, so that they do not run until released", NULL};
static const struct cli_command RELEASE = {"release", cmd_act, ACT_USAGE, "release held jobs",
                                           NULL};
static const struct cli_command VACATE = {"vacate", cmd_act, ACT_USAGE " [-fast]",
                                          "make running jobs leave their machines", NULL};
static const struct cli_command SUSPEND = {"suspend", cmd_act, ACT_USAGE,
                                           "pause running jobs on their machines", NULL};
static const struct cli_command CONTINUE = {"continue", cmd_act, ACT_USAGE,
                                            "continue suspended jobs", NULL};

static const struct cli_command CHECKPOINT = {
    "checkpoint", cmd_act, "ID...|OWNER...|-constraint EXPR|-all",
    "take checkpoints of running jobs now",
    "  ID               12.3, or 12 for all jobs of that cluster; waits until each checkpoint is "
    "stored\n"
    "  OWNER, -constraint, -all   select among running jobs with checkpoint = true\n"
    "                   Exit status 1 if a job made no checkpoint; a line says why.\n"};

static const struct cli_command EDIT = {
    "edit", cmd_edit, "ID...|OWNER|-constraint EXPR ATTR VALUE|ATTR=VALUE...",
    "set attributes of jobs in the queue",
    "  VALUE            an expression; put a string into double quotes: '\"text\"'\n"
    "                   A run that has already begun does not see the change.\n"};
static const struct cli_command WAIT = {
    "wait", cmd_wait,
    "[ID|OWNER...] [--timeout TIME] [-echo] | LOG [ID] [-wait TIME] [-num N] [-status] [-echo]",
    "wait until jobs have left the queue",
    "  ID, OWNER        jobs to wait for (default: all your own jobs)\n"
    "  --timeout TIME   give up after this time: 90, 5m, 1h ... (exit status 1)\n"
    "  -echo            print how each job ended; with LOG: print every event\n"
    "  LOG              a job event log; waits until its jobs, or those of ID, have ended\n"
    "  -num N           with LOG: wait until N jobs have ended\n"
    "  -status          with LOG: print a line for each event\n"};
static const struct cli_command TAIL = {
    "tail", cmd_tail, "[-follow] [-stderr] [-no-stdout] [-maxbytes N] JOB [FILE...]",
    "show the end of a running job's output",
    "  FILE             also show files in the job's sandbox\n"
    "  -follow          show new output until the job ends\n"
    "  -f               same as -follow\n"
    "  -stderr          show standard error instead of standard output\n"
    "  -no-stdout       show only the named files\n"
    "  -maxbytes N      begin N bytes before the end (1024)\n"
    "  -auto-retry      wait for a job that is not running yet\n"
    "  -debug           report failures that are tried again\n"};
static const struct cli_command SSH = {
    "ssh", cmd_ssh, "[-t|-T] [-auto-retry] JOB [COMMAND...]",
    "run a shell or a command beside a running job",
    "  COMMAND          a shell command line; without it: a shell, with a terminal if there is "
    "one\n"
    "  -t               use a terminal for COMMAND too\n"
    "  -T               use no terminal, even for a shell\n"
    "  -auto-retry      wait for a job that is not running yet or is suspended\n"
    "  ~.               at the beginning of a line: end the session (~~ sends one ~)\n"
    "                   The shell or command runs like the job: in its directory, with its "
    "environment and resource limits; it is suspended and ended with the job.  The exit status is "
    "the command's, 128 + N for signal N, or 255.\n"};
static const struct cli_command TRANSFER_DATA = {
    "transfer-data", cmd_transfer, "ID...|OWNER...|-constraint EXPR|-all",
    "fetch the output of spooled jobs",
    "  The output goes where the submit file says; completed jobs then leave the queue.\n"
    "  For jobs that are not completed, only the event log is fetched.\n"
    "  -all             all jobs that were submitted with -spool\n"};
static const struct cli_command USERPRIO = {
    "userprio", cmd_userprio,
    "[NAME] [-all] [-allusers] [-grouporder|-grouprollup|-quotas|-surplus] " LISTING_USAGE
    " | -history [-hours] [NAME] | -machines | -setprio|-setfactor|-setceil|-setfloor|-setaccum|"
    "-setbegin|-setlast NAME VALUE | -resetusage|-delete NAME | -resetall",
    "show and change users' and groups' priorities",
    "  -all                 show more columns\n"
    "  -allusers            also users without usage in the last day\n"
    "  -grouporder          show users below their groups\n"
    "  -grouprollup         show groups including their subgroups\n"
    "  -quotas, -surplus    quotas of groups; whether they may use what other groups leave\n"
    "  -priority            show only the parts of the priority\n"
    "  -usage               show only the usage\n"
    "  -activefrom M D Y    users with usage since that day\n"
    "  -inputfile FILE      accounts from a file of ads\n"
    "  -name NEGOTIATOR     ask this negotiator\n"
    "  -history [-hours]    usage for each day or hour, of all accounts or of NAME\n"
    "  -machines            submitting machines and their Prio (UPDATE_PRIO)\n"
    "  -setprio NAME P      set the real priority\n"
    "  -setfactor NAME F    set the priority factor; 0: the default\n"
    "  -setceil NAME W      set the largest weight of slots in use; -1: no limit\n"
    "  -setfloor NAME W     set the weight of slots that is guaranteed\n"
    "  -setaccum NAME S     set the weighted seconds used\n"
    "  -setbegin, -setlast NAME T  set the first and the last usage (seconds since 1970)\n"
    "  -resetusage NAME     forget the usage of NAME\n"
    "  -resetall            forget the usage of all accounts\n"
    "  -delete NAME         delete the account\n"
    "  -pool HOST[:PORT]    ask another pool\n" PRINT_FORMAT_HELP LISTING_HELP};
static const struct cli_command POWER = {
    "power", cmd_power,
    "status|on|wake|off|sleep|lock|unlock|keep|test|history|report [NODE...] [--all] "
    "[--after-drain|--now|--force] [--until T] [--reason TEXT] [--dry-run] " LISTING_USAGE,
    "show and switch the machines' power",
    "  status             the nodes that the rooster manages, and their states\n"
    "  on NODE...         wake nodes, even if no job needs them; also: wake\n"
    "  off NODE...        switch nodes off until `on`; only nodes without jobs, unless:\n"
    "     --after-drain   wait for their jobs to end, as with `roost drain --peaceful`\n"
    "     --now           their jobs are asked to end, as with `roost drain --quick`\n"
    "     --force         their jobs are ended at once; whatever keeps them awake is ignored\n"
    "  sleep NODE...      switch nodes off until a job needs them; options as for off\n"
    "  lock NODE...       keep machines out of work, awake or asleep, until `unlock`: no job wakes "
    "them, none is matched to them, running jobs run to their end; also: --until T\n"
    "  unlock NODE...     undo lock\n"
    "  --constraint E     the machines that have a slot for which E is true, instead of names\n"
    "  --dry-run          with on, off, sleep: only print what each machine would do\n"
    "  keep NODE... --until T   keep nodes awake until T: 2h, 18:30, 2026-11-21T08:00:00Z; now: no "
    "longer keep them awake; waits for nodes that are being woken\n"
    "  test NODE...|--all  wake nodes, check that they boot, and put them to sleep again; --all: "
    "all nodes that are asleep\n"
    "  history            all wakes and all times of going to sleep, newest first\n"
    "  report             energy used, and energy saved by sleeping compared with always on: "
    "hours, kWh\n"
    "     --days N        for the last N days (30)\n"
    "     --since DAY     since this day (2026-11-01, UTC)\n"
    "     --users         for users instead of machines\n"
    "     --csv           as CSV, for a spreadsheet\n"
    "                     NODE... are names, ranges of names, or groups "
    "(NODE_GROUP_RACK1): lab[01-16,20], @rack1\n" LISTING_HELP};
static const struct cli_command DRAIN = {
    "drain", cmd_drain,
    "NODE... [--peaceful|--graceful|--quick|--fast] [--slots S,...] [--check E] [--start E] "
    "[--deadline T] "
    "[--then WHAT] [--reclaimable] [--reason TEXT] [--wait] | --estimate NODE... | --cancel "
    "ID|NODE... | status "
    "[NODE...]",
    "let the jobs of machines end, and start no new jobs there",
    "  NODE...            names, ranges of names, or groups (NODE_GROUP_RACK1): "
    "lab[01-16,20], @rack1; all are drained at the same time\n"
    "  --peaceful         wait until the jobs have ended by themselves; none is evicted before "
    "--deadline\n"
    "  --graceful         jobs may use the retirement time that they were promised "
    "(MAXJOBRETIREMENTTIME), then they are asked to end (default)\n"
    "  --quick            jobs are asked to end now\n"
    "  --fast             jobs are killed now\n"
    "  --slots S,...      drain only these slots of each machine: slot1,slot[3-4], or numbers: "
    "1,3-4\n"
    "  --check EXPR       refuse a machine unless EXPR is true for each of its slots\n"
    "  --start EXPR       jobs for which EXPR is true may start until the old jobs have ended\n"
    "  --deadline T       no job is left at this time: 2h, 22:30, 2026-11-20T22:30\n"
    "  --then WHAT        action when all is drained: stay (default), resume, restart, exit, "
    "sleep, off (off: no job wakes the machine, only `roost power on`); also "
    "-resume-on-completion, -restart-on-completion and -exit-on-completion\n"
    "                     A machine that is asleep already is locked with stay (no job wakes it "
    "until "
    "--cancel NODE...) and off, and left as it is with resume and sleep\n"
    "  --reclaimable      with --then sleep or off: drain only to save power; if jobs would "
    "otherwise wake another machine, they end the draining and run here\n"
    "  --reason TEXT      reason that is shown to other users\n"
    "  --constraint E     drain the machines that have a slot for which E is true\n"
    "  --at-once N        drain at most N machines at the same time: the next ones when others "
    "are drained, or have done what --then says; waits for all\n"
    "                     A machine whose draining somebody cancels meanwhile, also before its "
    "turn, is left out and counts as failed.\n"
    "  --wait             wait until all is drained; interrupting the wait does not stop the "
    "draining\n"
    "  --estimate         only print how long draining would take, and how much work would be "
    "lost\n"
    "  --cancel ID        cancel this request; the machine works again\n"
    "                     --cancel NODE... cancels any request, and fails where there is none; "
    "-request-id ID only this one\n"
    "  status [NODE...]   machines that are draining; exit status 1 if a named machine is not\n"
    "  -pool HOST[:PORT]  ask another pool\n"
    "                     A machine that refuses does not stop the others from draining; the exit "
    "status is then 1.\n" LISTING_HELP};
static const struct cli_command FACTORY = {
    "factory", cmd_factory,
    "status|sites|glideins|why|grow|shrink|pause|resume|test|log|reconcile [SITE...] [N --site "
    "SITE] "
    "[GLIDEIN] [--all] [--reason TEXT] [--force] [--timeout T] " LISTING_USAGE,
    "show the sites where the pool may grow, and give orders about them",
    "  status             the factory, its sites, what stops them, and what went wrong last\n"
    "  sites              only the table of sites\n"
    "  glideins [SITE]    the glideins of all sites, or of one\n"
    "  why SITE           what waits for the site, what limits it, what went wrong last, and what "
    "its samples stand for\n"
    "  grow N --site SITE  ask for N glideins more now, although no jobs wait; they end by "
    "themselves when they are idle\n"
    "  shrink N --site SITE  remove N glideins: first those that the site has not started, then "
    "idle ones; those with jobs only with --force\n"
    "  test SITE          send one glidein through its whole life, also at a site that is paused, "
    "and "
    "print each step when it is done; exit status 1: it was stuck, and its log is shown. The "
    "glidein gets no jobs, and is removed, also when you interrupt the test. --timeout T: for each "
    "step (start_timeout)\n"
    "  log GLIDEIN        print the end of a glidein's log, as its site has it\n"
    "  reconcile [SITE...]  look at the sites now, and tell of which glideins site, journal and "
    "pool say different things\n"
    "  pause SITE...|--all  ask for no more glideins there, and let no job wait for the site, "
    "until "
    "`resume`; glideins that run go on; also: --reason TEXT\n"
    "  resume SITE...|--all  undo pause, and the pause of a site whose program said that an option "
    "is wrong\n"
    "                     SITE is the title of a site's section, or SITE@FACTORY where the pool "
    "has several factories\n"
    "  -pool HOST[:PORT]  ask another pool\n" LISTING_HELP};
static const struct cli_command TOKEN = {
    "token", cmd_token, "request|create|accept|list|revoke|key ...",
    "request, create, list and revoke tokens",
    "  request NAME[@DOMAIN] [--scope READ,WRITE] [--expires TIME]\n"
    "         [--name-pattern GLOB] [--slots N] [--pool NAME]\n"
    "         [--directory DIR] [--out FILE] [--again]\n"
    "                     on the machine that needs the token: make its key, which never leaves "
    "the machine, and a request for the administrator, who may change what is requested. DIR is "
    "~/.roost; --again discards a request that is still open\n"
    "  create --request FILE|- [--fingerprint F] [--collector HOST[:PORT]]\n"
    "         [--file FILE] [--identity ...]\n"
    "                     for the administrator: compare fingerprints with the holder, then sign a "
    "token for the requested key. The options below override the request; only they can grant "
    "scopes other than READ, WRITE and ADVERTISE. The answer contains no secret; it is printed, or "
    "written to --file\n"
    "  accept FILE|- [--fingerprint F] [--directory DIR] [--bundle FILE]\n"
    "                     for the holder: compare fingerprints with the administrator, then store "
    "token, CA and configuration below DIR; --bundle: instead write everything to one file for "
    "roost-pilot\n"
    "  create --identity NAME@POOL [--scope READ,WRITE] [--expires TIME|never]\n"
    "         [--name-pattern GLOB] [--slots N] [--uid-domain DOMAIN|none]\n"
    "         [--owners GLOB] [--file FILE] [--bundle]\n"
    "                     make token and key here, for a holder who cannot make a request. The key "
    "travels with the token: anyone who reads the file on its way can use it. The token is printed "
    "unless a file is named. Scopes: READ, WRITE, ADVERTISE (machines), SCHEDD, ROOSTER, MASTER, "
    "NEGOTIATOR, FACTORY, ADMINISTRATOR. The pattern limits the names that may be advertised: "
    "'wn*' allows "
    "slot1@wn01, 'submit1' the schedd submit1\n"
    "                     --slots: how many slots may be advertised with the token, on all its "
    "machines together (default: 64 on each machine); for a bundle: glideins x slots\n"
    "                     --uid-domain, --owners: for a schedd. Its jobs run as their owners' "
    "accounts only if the owners are users of that domain (default: UID_DOMAIN) whose names match\n"
    "                     --bundle adds the pool's CA and public keys, for roost-pilot --token\n"
    "  list               the tokens that were made here\n"
    "  revoke [--elsewhere] ID...\n"
    "                     refuse these tokens from now on, in the whole pool; --elsewhere: also "
    "those that were not made on this host\n"
    "  key create NAME [--by KEY]\n"
    "                     make another signing key, endorsed by KEY (default: TOKEN_KEY): its "
    "tokens are accepted wherever KEY's public half is installed. Set TOKEN_KEY to use it\n"
    "  key endorse NAME [--by KEY]\n"
    "                     endorse a key that already exists\n"
    "  key create NAME --names 'PREFIX*' [--life TIME] [--expires TIME] [--by KEY]\n"
    "                     make a limited signing key, for a factory (FACTORY_KEY): it can sign "
    "only "
    "tokens of machines whose names begin with PREFIX, each valid for at most --life (31d), until "
    "--expires (365d)\n" LISTING_HELP};

static const struct cli_command CERT = {
    "cert", cmd_cert, "create|renew ...", "make the certificates of collectors and schedds",
    "  create collector|schedd NAME [--directory DIR]\n"
    "                     make the first certificate of a server with that name (SCHEDD_NAME, "
    "COLLECTOR_NAME), for example DIR/schedd.pem and DIR/schedd-key.pem; copy both files to the "
    "server's host\n"
    "  renew              make the certificates of this host's configuration again, with new keys\n"
    "                     Both need the key of the pool's CA (SEC_DIRECTORY/ca-key.pem): run them "
    "where `roost init` made the pool.  Clients require the server's role and name in its "
    "certificate; renew adds them to certificates without them.\n"};

static const struct cli_command CONFIG = {
    "config", cmd_config, "dump|get|check|reload|set|unset ...",
    "show, check and change the configuration",
    "  dump [KNOB...]       print all knobs and macros, or these; '*' and '?' are wildcards\n"
    "  get KNOB...          print only the values\n"
    "  check [FILE]         check that daemons would accept it, and report unknown knobs\n"
    "  reload               make the daemons of this host read their configuration again\n"
    "  set KNOB=VALUE...    set knobs of a running daemon, permanently; needs --node, and there "
    "ENABLE_PERSISTENT_CONFIG and SETTABLE_ATTRS_ADMINISTRATOR\n"
    "  unset KNOB...        remove what was set\n"
    "  --node NAME          ask that machine's startd (may be repeated); with reload: all its "
    "daemons\n"
    "  --subsystem NAME     show the values for that daemon (SCHEDD, MASTER ...); with --node: ask "
    "that daemon; COLLECTOR needs no --node\n"
    "  --why                also show the layer, file and line that set the value, and the text "
    "there\n" LISTING_HELP};

static const struct cli_command RECONFIG = {"reconfig", cmd_reconfig, "[--node NAME]...",
                                            "the same as `roost config reload`", NULL};

static const struct cli_command CLASSAD = {
    "classad", cmd_classad, "eval|unparse|match|convert|check ...",
    "evaluate, print, match, convert and check ClassAds",
    "  eval [--ad FILE|-] [--target FILE] [--old] EXPR...\n"
    "                     print the value of each expression; --old: strings as in submit files\n"
    "  eval --batch [--old] [--ad FILE] [--target FILE]\n"
    "                     read expressions from standard input, one on each line, and print a line "
    "with the value of each\n"
    "  eval --batch --tsv\n"
    "                     read lines of ad TAB expression, or my TAB target TAB expression; the "
    "expression may be symmetric-match\n"
    "  unparse [--old] EXPR...|--batch\n"
    "                     print the canonical text of each expression\n"
    "  --explain          with --batch: print why a line was answered PARSE-ERROR\n"
    "  match A B          whether two ads match (exit status 0), and if not, why\n"
    "  convert --to FORM [--from FORM] [FILE|-...]\n"
    "                     forms: old or long, new, json, xml; without --from the form is detected\n"
    "  check [--from FORM] [--limit N] FILE|-...\n"
    "                     print all errors with line and column, at most N (20)\n"};

static const struct cli_command STORE = {
    "store", cmd_store,
    "check FILE | salvage FILE NEW | accept-loss FILE | export FILE | import [--empty] FILE",
    "check and repair the store of a daemon that is stopped",
    "  check FILE           read all pages and rows of the store; exit status 1: damage was found\n"
    "  salvage FILE NEW     read from the pages of a damaged store all rows whose checksums are "
    "right, and make the store NEW of them; exit status 3: some rows are missing\n"
    "  accept-loss FILE     go on without the changes in a write-ahead log that is lost or "
    "damaged\n"
    "  export FILE          print all rows, one ad on each line; the attribute Ad is the value, "
    "such as a job, and may be edited\n"
    "  import FILE          make the store FILE from such lines on standard input\n"
    "  import --empty FILE  make an empty store where one was lost; ids that were given are not "
    "given again\n"
    "                       The daemon must be stopped. The file FILE.witness should be beside "
    "FILE. "
    "docs/howto/damaged-store.md goes through it step by step.\n"};
static const struct cli_command TOP = {
    "top", cmd_top, "[ID|OWNER...] [-delay TIME] [-b [-count N]] [-constraint EXPR] | -daemons",
    "watch machines and jobs, or this host's daemons",
    "  ID, OWNER            show only these jobs; -clusters ID does the same\n"
    "  -delay TIME          time between updates: 2, 500ms, 1m (2 s)\n"
    "  -batch               print plain text instead of a screen, one update; this is the default "
    "if standard output is not a terminal\n"
    "  -count N             print N updates\n"
    "  -constraint EXPR     only jobs for which EXPR is true\n"
    "  -daemons             show this host's daemons with their CPU time and memory\n"
    "  -schedd, -startd, -collector, -negotiator, -rooster, -master, -shadow, -starter, "
    "-factory\n"
    "                       show only these daemons\n"
    "                       Keys: q quits, the space bar updates at once.\n"};
static const struct cli_command WHO = {
    "who", cmd_who, "[-daemons] [-wide] " LISTING_USAGE, "show the jobs that run on this machine",
    "  -daemons             show the daemons of this machine and their pids instead\n"
    "  -wide                do not cut lines at the terminal's width\n"
    "                       The jobs are read from the starters' records, which only root can "
    "read; for other users the collector is asked, without pid and program.\n" PRINT_FORMAT_HELP
        LISTING_HELP};

static const struct cli_command COMPLETION = {"completion", cmd_completion, "bash|zsh",
                                              "print the script that completes this command line",
                                              "  . <(roost completion bash)   in a shell's "
                                              "start-up file; `make install` installs it\n"};

static const struct cli_command HELP = {
    "help", cmd_help, "[COMMAND...] | --man [PAGE...]", "show the help of commands",
    "  --man PAGE...        print manual pages, as input for man: roost-q.1, roost_config.5\n"
    "  --man                print the names of all manual pages\n"};

const struct cli_command *const cli_commands[] = {
    &INIT,     &START,    &STOP,       &MASTER,        &SUBMIT,  &Q,        &STATUS,     &HISTORY,
    &RM,       &HOLD,     &RELEASE,    &VACATE,        &SUSPEND, &CONTINUE, &CHECKPOINT, &EDIT,
    &WAIT,     &USERPRIO, &POWER,      &DRAIN,         &FACTORY, &TOKEN,    &CERT,       &CONFIG,
    &RECONFIG, &TAIL,     &SSH,        &TRANSFER_DATA, &WHY,     &CLASSAD,  &ADVERTISE,  &STORE,
    &TOP,      &WHO,      &COMPLETION, &HELP,          NULL,
};
