/* cli/commands.c - the subcommands: a row for each.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>

#include "cli/cli.h"

static const struct cli_command INIT = {
    "init", cmd_init,
    "DIR [--nodes N] [--cpus-per-node C] [--idle SECONDS] [--asleep] "
    "[--submit-as ACCOUNT]",
    "write a complete personal pool below DIR",
    "  --nodes N          nodes, each a process group of this machine (4)\n"
    "  --cpus-per-node C  slots of a node (1)\n"
    "  --idle SECONDS     a node that had nothing to do for so long goes to sleep (5)\n"
    "  --asleep           all nodes are asleep when the pool is started\n"
    "  --submit-as ACCOUNT  of a pool that root makes: the account that owns the jobs which root\n"
    "                     submits (who called sudo, else nobody), as jobs never run as root\n"};
static const struct cli_command START = {
    "start", cmd_start, "[NODE...]", "start the pool's daemons in the background",
    "  With NODE...: what stays down there because it was drained to exit is started by that\n"
    "  machine's master.\n"};
static const struct cli_command STOP = {"stop", cmd_stop, "",
                                        "stop the pool's daemons, and its nodes", NULL};
static const struct cli_command MASTER = {"master", cmd_master, "",
                                          "run the pool's master in the foreground", NULL};

static const struct cli_command SUBMIT = {
    "submit", cmd_submit,
    "[FILE|-] [NAME=VALUE...] [-append LINE] [-queue ARGS] [-batch-name NAME] "
    "[--dry-run | -dry-run FILE] [-terse] [-interactive]",
    "put the jobs of a submit file into the queue",
    "  -append LINE   a line to be read before the queue statement\n"
    "  -queue ARGS    a queue statement for a file that has none\n"
    "  -batch-name N  the name under which roost q shows them\n"
    "  --dry-run      print the jobs' ads instead of submitting them\n"
    "  -dry-run FILE  the same into a file, as condor_submit\n"
    "  -spool         send the input along, to any schedd; roost transfer-data brings the output\n"
    "  -remote NAME   the same to the schedd NAME of the pool\n"
    "  -resume ID     go on spooling the input of a cluster, after a cut\n"
    "  -terse         print only the first and the last job's id\n"
    "  -interactive   a shell where a job would run, with what it asks for; FILE is not needed\n"};

#define LISTING_USAGE "[-l | --json | -af[:FLAGS] ATTR...] [-constraint EXPR] [-limit N]"
#define LISTING_HELP                                                                       \
    "  -l                   whole ads;  --json  the same as JSON\n"                        \
    "  -jsonl               an ad on each line, as JSON;  -xml  as XML\n"                  \
    "  -attributes A,B      of -l and --json: only these\n"                                \
    "  -af[:FLAGS] ATTR...  values of attributes or expressions; flags: h headings,\n"     \
    "                       j job id, t tabs, ',' commas, n lines, l labels, V quotes,\n"  \
    "                       r unevaluated, g a gap after each ad, T seconds as days and\n" \
    "                       hours, Y seconds since 1970 as dates\n"                        \
    "  -format FMT ATTR     as printf; may be mixed with -af\n"                            \
    "  -constraint EXPR     only ads for which EXPR is true\n"                             \
    "  -limit N             at most N\n"

#define PRINT_FORMAT_HELP \
    "  -print-format FILE   columns as HTCondor's print format files describe them\n"
#define SCHEDDS_HELP                                           \
    "  -global              of all schedds of the pool\n"      \
    "  -submitter NAME      that user's jobs in all schedds\n" \
    "  -wide[:N]            lines are not cut at the terminal's width, or cut at N\n"

static const struct cli_command Q = {
    "q", cmd_q,
    "[ID|OWNER...] [-nobatch|-run|-hold|-idle|-io|-goodput|-ckpt|-totals|-analyze] "
    "[-allusers] " LISTING_USAGE,
    "show the jobs in the queue",
    "  -nobatch             a line for each job, not for each batch (-batch)\n"
    "  -run, -hold, -idle   only jobs that run, are held, are idle\n"
    "  -hold-codes          how many are held for which reason\n"
    "  -io, -goodput        what was transferred; how much of the time counted\n"
    "  -ckpt                checkpoints: how many, age and size of the latest, what they saved\n"
    "  -currentrun          with -nobatch, -run: the time of this run alone\n"
    "  -cputime             likewise: the processors' time\n"
    "  -totals              only totals\n"
    "  -factory             clusters whose jobs are made later, and how far they are\n"
    "  -autocluster         how many jobs are alike for matching\n"
    "  -analyze             why they do not run, in the form of condor_q -better-analyze;\n"
    "                       roost why tells more\n"
    "  -allusers            everybody's jobs\n"
    "  -jobads FILE         jobs of a file of ads\n"
    "                       ST: I idle, R running, < input comes, > output goes (q: it waits\n"
    "                       for its turn), S suspended, H held, C completed, X "
    "removed\n" SCHEDDS_HELP PRINT_FORMAT_HELP LISTING_HELP};
static const struct cli_command HISTORY = {
    "history", cmd_history,
    "[ID|OWNER...] [-since ID|EXPR] [-completedsince TIME] [-forwards] [-summary] " LISTING_USAGE,
    "show the jobs that left the queue, newest first",
    "  -since ID|EXPR       stop at this job or cluster, or where EXPR is true\n"
    "  -completedsince T    only jobs that completed at T (seconds since 1970) or later\n"
    "  -forwards            oldest first;  -backwards  newest first\n"
    "  -match N             as -limit N;  -scanlimit N  look at N jobs at most\n"
    "  -file FILE           jobs of a file of ads\n"
    "  -summary             what each user's jobs came to: how many ended how, hours of machines,\n"
    "                       how many were lost (by evictions, without a checkpoint), hours of\n"
    "                       processors, how much of these was used\n" SCHEDDS_HELP PRINT_FORMAT_HELP
        LISTING_HELP};
static const struct cli_command STATUS = {
    "status", cmd_status, "[MACHINE|SLOT...] [VIEW] " LISTING_USAGE,
    "show the machines of the pool, asleep or awake",
    "  -state               since when they are in their states;  -server  what they have\n"
    "  -claimed             who runs on them;  -available  the free ones\n"
    "  -offline             those that are asleep, why, and when last wanted\n"
    "  -absent              those that vanished and are missed\n"
    "  -problems            ads with something wrong in them, and what\n"
    "  -compact             a line for each machine;  -nocompact  one for each slot\n"
    "  -wide                columns as wide as need be\n"
    "  -total               only totals\n"
    "  -schedd -run -submitters -requests -negotiator -collector -rooster -master -accounting\n"
    "                       other ads than those of machines (-startd)\n"
    "  -any, -generic TYPE  ads of any type, of that type;  -subsystem TYPE  its view\n"
    "  -sort EXPR           by ascending values (may be repeated);  -natural  as they come\n"
    "  -xml                 whole ads as XML\n"
    "  -ads FILE            ads of a file instead of the collector's\n"
    "  -target FILE         what TARGET is in -constraint, -af and -format: an ad\n"
    "  -pool HOST[:PORT]    of another pool\n" PRINT_FORMAT_HELP LISTING_HELP};

static const struct cli_command WHY = {
    "why", cmd_why, "JOB...|MACHINE...|-user NAME...|-slot NAME... [-verbose] " LISTING_USAGE,
    "why a job does not run, a slot runs nothing, a machine is up or not",
    "  JOB              12.3, or 12 for each kind of job of the cluster.  Tells what it waits "
    "for;\n"
    "                   where no slot is to be had: which clause of the job's Requirements and of\n"
    "                   the slots' rules out how many, awake and asleep, how many it alone does,\n"
    "                   and the smallest changes of the job that would match (each was tried)\n"
    "  -user NAME       all that the user has in the queue, jobs alike once\n"
    "  MACHINE          who or what switched it, why it is up, what keeps it from sleeping, how "
    "it\n"
    "                   is woken, what became of it the last times; then each of its slots\n"
    "  -slot NAME       a slot or machine instead: which of the idle jobs it could run, and why\n"
    "                   not the others\n"
    "  -verbose         the clauses also where something matches\n" LISTING_HELP};

static const struct cli_command ADVERTISE = {
    "advertise", cmd_advertise,
    "[COMMAND|TYPE] [FILE|-] | -delete TYPE -name NAME...|-constraint EXPR",
    "send ads to the collector, or take them back",
    "  COMMAND            as condor_advertise: UPDATE_STARTD_AD, INVALIDATE_STARTD_ADS ...\n"
    "  TYPE               of ads that do not say it: Machine, Scheduler, or one of your own\n"
    "  FILE               long form with empty lines between ads, or new syntax;  -  stdin\n"
    "  -delete            take back ads of these names, or those that the file names\n"
    "  -name NAME         this one (may be repeated);  -constraint EXPR  all for which it is true\n"
    "  -offline, -absent  ... of machines that are asleep, that are absent\n"
    "  -multiple, -tcp, -udp   of condor_advertise: they change nothing\n"
    "  -pool HOST[:PORT]  of another pool\n"};

#define ACT_USAGE "ID...|OWNER...|-constraint EXPR|-all [-reason TEXT]"
static const struct cli_command RM = {"rm", cmd_act, ACT_USAGE, "remove jobs from the queue", NULL};
static const struct cli_command HOLD = {"hold", cmd_act, ACT_USAGE " [-subcode N]",
                                        "hold jobs: they do not run until they are released", NULL};
static const struct cli_command RELEASE = {"release", cmd_act, ACT_USAGE, "release held jobs",
                                           NULL};
static const struct cli_command VACATE = {"vacate", cmd_act, ACT_USAGE " [-fast]",
                                          "take jobs off the machines they run on", NULL};
static const struct cli_command SUSPEND = {"suspend", cmd_act, ACT_USAGE,
                                           "let running jobs stand still where they are", NULL};
static const struct cli_command CONTINUE = {"continue", cmd_act, ACT_USAGE,
                                            "let suspended jobs go on", NULL};

static const struct cli_command CHECKPOINT = {
    "checkpoint", cmd_act, "ID...|OWNER...|-constraint EXPR|-all",
    "take checkpoints of running jobs now",
    "  ID               12.3, or 12 for all jobs of that cluster; waits until each is kept\n"
    "  OWNER, -constraint, -all   of those that run and are checkpointed (checkpoint = true)\n"
    "                   Exit status 1 when there was none of a job, with a line that says why.\n"};

static const struct cli_command EDIT = {
    "edit", cmd_edit, "ID...|OWNER|-constraint EXPR ATTR VALUE [ATTR VALUE...]",
    "set attributes of jobs in the queue",
    "  VALUE            an expression; a text is to be in double quotes: '\"text\"'\n"
    "                   A run that has begun goes on with what it began with.\n"};
static const struct cli_command WAIT = {
    "wait", cmd_wait,
    "[ID|OWNER...] [--timeout TIME] [-echo] | LOG [ID] [-wait TIME] [-num N] [-status] [-echo]",
    "wait until jobs have left the queue",
    "  ID, OWNER        whose; all of your own when none is named\n"
    "  --timeout TIME   give up after 90, 5m, 1h ... (exit status 1)\n"
    "  -echo            say how each job ended\n"
    "  LOG              a job event log: until the jobs in it (that of ID) are over\n"
    "  -num N           N ends are enough;  -status  a line for each event;  -echo  all of it\n"};
static const struct cli_command TAIL = {
    "tail", cmd_tail, "[-follow] [-stderr] [-no-stdout] [-maxbytes N] JOB [FILE...]",
    "show the end of what a running job writes",
    "  FILE             files below the job's sandbox, beside its standard output\n"
    "  -follow          go on until the job ends;  -f  the same\n"
    "  -stderr          its standard error instead;  -no-stdout  the named files only\n"
    "  -maxbytes N      begin so many bytes before the end (1024)\n"
    "  -auto-retry      wait for a job that does not run yet\n"
    "  -debug           say what fails and is tried again\n"};
static const struct cli_command SSH = {
    "ssh", cmd_ssh, "[-t|-T] [-auto-retry] JOB [COMMAND...]",
    "a shell, or a command, beside a running job",
    "  COMMAND          a line of shell; without one: a shell, with a terminal if there is one\n"
    "  -t, -T           a terminal for COMMAND, too; none for a shell\n"
    "  -auto-retry      wait for a job that does not run yet, or is suspended\n"
    "  ~.               at the beginning of a line: end it (~~ is one ~)\n"
    "                   It runs where the job runs, as the job does: in its directory, with its\n"
    "                   environment, counted with it, suspended with it, ended with it.  The exit\n"
    "                   status is the command's, 128 + N of signal N, or 255.\n"};
static const struct cli_command TRANSFER_DATA = {
    "transfer-data", cmd_transfer, "ID...|OWNER...|-constraint EXPR|-all",
    "bring back the output of spooled jobs",
    "  Output goes where the submit file said; jobs that are completed leave the queue then.\n"
    "  Of jobs that are not completed only the event log comes.\n"
    "  -all             of all jobs that were submitted with -spool\n"};
static const struct cli_command USERPRIO = {
    "userprio", cmd_userprio,
    "[NAME] [-all] [-allusers] [-grouporder|-grouprollup|-quotas|-surplus] " LISTING_USAGE
    " | -history [-hours] [NAME] | -machines | -setprio|-setfactor|-setceil|-setfloor|-setaccum|"
    "-setbegin|-setlast NAME VALUE | -resetusage|-delete NAME | -resetall",
    "show and change users' and groups' priorities",
    "  -all                 more columns;  -allusers  also who used nothing for a day\n"
    "  -grouporder          users below their groups;  -grouprollup  groups with their parts\n"
    "  -quotas, -surplus    what groups may use, and whether they may use what others leave\n"
    "  -priority            only what priorities are made of;  -usage  only what was used\n"
    "  -activefrom M D Y    who used something since that day\n"
    "  -inputfile FILE      accounts of a file of ads;  -name NEGOTIATOR  of that one\n"
    "  -history [-hours]    what was used in each day or hour, of all or of NAME\n"
    "  -machines            submitting machines and their Prio (UPDATE_PRIO)\n"
    "  -setprio NAME P      the real priority;  -setfactor NAME F  0: the default\n"
    "  -setceil NAME W      at most that much in use, -1: no limit;  -setfloor NAME W  at least\n"
    "  -setaccum NAME S     weighted seconds used;  -setbegin, -setlast NAME T  since 1970\n"
    "  -resetusage NAME     forget what was used;  -resetall  of everybody\n"
    "  -delete NAME         forget the account\n"
    "  -pool HOST[:PORT]    of another pool\n" PRINT_FORMAT_HELP LISTING_HELP};
static const struct cli_command POWER = {
    "power", cmd_power,
    "status|on|wake|off|sleep|keep|test|history|report [NODE...] [--all] "
    "[--after-drain|--now|--force] [--until T] [--reason TEXT] [--dry-run] " LISTING_USAGE,
    "show and switch the machines' power",
    "  status             the nodes that the rooster knows, and their states\n"
    "  on NODE...         wake them, whether or not a job wants them; also: wake\n"
    "  off NODE...        switch them off, until `on`: only who runs no job, unless\n"
    "     --after-drain   their jobs end first, as `roost drain --graceful` lets them\n"
    "     --now           their jobs are asked to end, as by `roost drain --quick`\n"
    "     --force         their jobs are ended, and nothing that keeps them up is asked\n"
    "  sleep NODE...      the same, until a job wants them\n"
    "  --dry-run          on, off, sleep: what would be done, by the machine's own judgement\n"
    "  keep NODE... --until T   they stay up until then: 2h, 18:30, 2026-11-21T08:00:00Z; now: as\n"
    "                     they would without\n"
    "  test NODE...|--all  wake them, see that they come, and put them to sleep again; all: that\n"
    "                     sleep\n"
    "  history            every wake and every going to sleep, newest first\n"
    "  report             what they drew, and what sleeping saved over being always on: hours, "
    "kWh\n"
    "     --days N        of the last 30 days, or N; --since DAY  from that one on (2026-11-01, "
    "UTC);\n"
    "     --users         of users;  --csv  for a spreadsheet\n"
    "                     NODE... are names, folded or not: lab[01-16,20]\n" LISTING_HELP};
static const struct cli_command DRAIN = {
    "drain", cmd_drain,
    "NODE... [--graceful|--quick|--fast] [--slots S,...] [--check E] [--start E] [--deadline T] "
    "[--then WHAT] [--reclaimable] [--reason TEXT] [--wait] | --estimate NODE... | --cancel "
    "ID|NODE... | status "
    "[NODE...]",
    "empty machines of jobs, keep new ones away",
    "  NODE...            names, folded or not: lab[01-16,20]; all are asked at once\n"
    "  --graceful         jobs keep the retirement time that they were promised (the default)\n"
    "  --quick            they are asked to end now\n"
    "  --fast             they are killed now\n"
    "  --slots S,...      only these slots of each machine: slot1,slot[3-4], or their numbers: "
    "1,3-4\n"
    "  --check EXPR       refuse a machine unless EXPR is true of each of its slots\n"
    "  --start EXPR       jobs for which EXPR is true may start while others are still there\n"
    "  --deadline T       no job is left then: 2h, 22:30, 2026-11-20T22:30\n"
    "  --then WHAT        when all is drained: stay (the default), resume, restart, exit, sleep,\n"
    "                     off (no job wakes it then: `roost power on`); also\n"
    "                     -resume-on-completion, -restart-on-completion and -exit-on-completion\n"
    "  --reclaimable      with --then sleep or off: only to save power; jobs that would wake\n"
    "                     another machine end it, and run there\n"
    "  --reason TEXT      for people who ask why\n"
    "  --wait             until all is done; what was begun goes on without it\n"
    "  --estimate         only say how long it would take, and how much work would be lost\n"
    "  --cancel ID        end that request: the machine works again; --cancel NODE... whichever\n"
    "                     there is; -request-id ID only that\n"
    "  status [NODE...]   what drains now; exit status 1 if a named machine does not\n"
    "  -pool HOST[:PORT]  of another pool\n"
    "                     One machine that refuses keeps no other from draining; the exit status\n"
    "                     is 1 then.\n" LISTING_HELP};
static const struct cli_command TOKEN = {
    "token", cmd_token, "request|create|accept|list|revoke|key ...",
    "ask for, make, list and revoke tokens",
    "  request NAME[@DOMAIN] [--scope READ,WRITE] [--expires TIME]\n"
    "         [--name-pattern GLOB] [--slots N] [--pool NAME]\n"
    "         [--directory DIR] [--out FILE] [--again]\n"
    "                     on the machine that is to have the token: make its key, which "
    "never leaves it, and a request for the administrator. What is asked for is a wish. "
    "DIR is ~/.roost; --again gives up a request that still waits\n"
    "  create --request FILE|- [--fingerprint F] [--collector HOST[:PORT]]\n"
    "         [--file FILE] [--identity ...]\n"
    "                     the administrator: after comparing fingerprints with the holder, "
    "sign a token for that key. The options below go before what was asked for; only they "
    "give scopes other than READ, WRITE and ADVERTISE. The answer, which holds no secret, "
    "is printed, or goes to --file\n"
    "  accept FILE|- [--fingerprint F] [--directory DIR] [--bundle FILE]\n"
    "                     the holder: after comparing fingerprints with the administrator, "
    "put token, CA and configuration below DIR; --bundle: instead all into one file for "
    "roost-pilot\n"
    "  create --identity NAME@POOL [--scope READ,WRITE] [--expires TIME|never]\n"
    "         [--name-pattern GLOB] [--slots N] [--uid-domain DOMAIN|none]\n"
    "         [--owners GLOB] [--file FILE] [--bundle]\n"
    "                     make token and key here, for a holder that cannot ask: the key "
    "then travels with the token, and whoever reads the file on its way is its holder, "
    "too. It is printed unless a file is named. Scopes: READ, WRITE, ADVERTISE (machines), "
    "SCHEDD, ROOSTER, MASTER, NEGOTIATOR, ADMINISTRATOR. The pattern is of the names it "
    "may advertise: 'wn*' allows slot1@wn01, 'submit1' the schedd submit1\n"
    "                     --slots: how many slots may be advertised with it, on all its "
    "machines together (without: 64 of each machine); a bundle: glideins x slots\n"
    "                     --uid-domain, --owners: of a schedd. Its jobs run in their owners' "
    "accounts only if these are users of that domain (without: UID_DOMAIN) whose names match\n"
    "                     --bundle adds the pool's CA and public keys: for roost-pilot "
    "--token\n"
    "  list               those that were made here\n"
    "  revoke ID...       refuse them from now on, all over the pool\n"
    "  key create NAME [--by KEY]\n"
    "                     another signing key, for which KEY (without: TOKEN_KEY) answers: tokens "
    "of the new one are good wherever KEY's public half is. Set TOKEN_KEY to use it\n"
    "  key endorse NAME [--by KEY]\n"
    "                     the same for a key that is there already\n" LISTING_HELP};

static const struct cli_command CERT = {
    "cert", cmd_cert, "create|renew ...", "make the certificates of collectors and schedds",
    "  create collector|schedd NAME [--directory DIR]\n"
    "                     the first one of a server of that name (SCHEDD_NAME, COLLECTOR_NAME):\n"
    "                     DIR/schedd.pem and DIR/schedd-key.pem, to be brought to its host\n"
    "  renew              those of this host's configuration anew, with new keys\n"
    "                     Both need the key of the pool's CA (SEC_DIRECTORY/ca-key.pem): run them\n"
    "                     where `roost init` made the pool.  Clients want each server's role and\n"
    "                     name in its certificate; renewing also puts them into old ones.\n"};

static const struct cli_command CONFIG = {
    "config", cmd_config, "dump|get|check|reload|set|unset ...",
    "show, check and change what is configured",
    "  dump [KNOB...]       every knob and macro, or these; '*' and '?' stand for parts of names\n"
    "  get KNOB...          the values alone\n"
    "  check [FILE]         whether daemons will take it, and names that are no knob\n"
    "  reload               the daemons of this host read their configuration again\n"
    "  set KNOB=VALUE...    at run time, for good; needs --node, and ENABLE_PERSISTENT_CONFIG and\n"
    "                       SETTABLE_ATTRS_ADMINISTRATOR there to allow it\n"
    "  unset KNOB...        take back what was set\n"
    "  --node NAME          that machine's startd; may be said several times; reload: all its "
    "daemons\n"
    "  --subsystem NAME     as that daemon reads it; with --node: that daemon (SCHEDD, MASTER "
    "...);\n"
    "                       COLLECTOR needs no --node\n"
    "  --why                also the layer, file and line that won, and what was written "
    "there\n" LISTING_HELP};

static const struct cli_command RECONFIG = {"reconfig", cmd_reconfig, "[--node NAME]...",
                                            "the same as `roost config reload`", NULL};

static const struct cli_command CLASSAD = {
    "classad", cmd_classad, "eval|unparse|match|convert|check ...",
    "evaluate, print, match, convert and check ClassAds",
    "  eval [--ad FILE|-] [--target FILE] [--old] EXPR...\n"
    "                     the value of each expression; --old: strings as in submit files\n"
    "  eval --batch [--old] [--ad FILE] [--target FILE]\n"
    "                     an expression on each line of standard input, answered by a line\n"
    "  eval --batch --tsv lines of ad TAB expression, or my TAB target TAB expression,\n"
    "                     where the expression may be symmetric-match\n"
    "  unparse [--old] EXPR...|--batch\n"
    "                     the canonical text of each expression\n"
    "  --explain          of --batch: why a line was answered by PARSE-ERROR\n"
    "  match A B          do two ads want one another (exit status 0), and what is in the way\n"
    "  convert --to FORM [--from FORM] [FILE|-...]\n"
    "                     forms: old or long, new, json, xml; without --from it is found out\n"
    "  check [--from FORM] [--limit N] FILE|-...\n"
    "                     every fault with its line and column, at most N (20)\n"};

static const struct cli_command TOP = {
    "top", cmd_top, "[ID|OWNER...] [-delay TIME] [-b [-count N]] [-constraint EXPR] | -daemons",
    "watch machines and jobs, or this host's daemons",
    "  ID, OWNER            only these jobs; -clusters ID is the same\n"
    "  -delay TIME          between frames: 2, 500ms, 1m (2 s)\n"
    "  -batch               plain text instead of a screen, as where standard output is no\n"
    "                       terminal: one frame;  -count N  so many\n"
    "  -constraint EXPR     only jobs for which EXPR is true\n"
    "  -daemons             this host's daemons: their processor time and memory\n"
    "  -schedd, -startd, -collector, -negotiator, -rooster, -master, -shadow, -starter\n"
    "                       only these of them\n"
    "                       Keys: q ends, a blank asks at once.\n"};
static const struct cli_command WHO = {
    "who", cmd_who, "[-daemons] [-wide] " LISTING_USAGE, "show the jobs that run on this machine",
    "  -daemons             the daemons of this machine instead, and their pids\n"
    "  -wide                lines are not cut at the terminal's width\n"
    "                       What runs is read from the starters' own records, which belong to\n"
    "                       root; others are answered by the collector, without pid and "
    "program.\n" PRINT_FORMAT_HELP LISTING_HELP};

static const struct cli_command COMPLETION = {"completion", cmd_completion, "bash|zsh",
                                              "print the script that completes this command line",
                                              "  . <(roost completion bash)   in a shell's "
                                              "start-up file; `make install` puts it into place\n"};

static const struct cli_command HELP = {
    "help", cmd_help, "[COMMAND...] | --man [PAGE...]", "say what commands do",
    "  --man PAGE...        manual pages, as man reads them: roost-q.1, roost_config.5;\n"
    "                       without one their names\n"};

const struct cli_command *const cli_commands[] = {
    &INIT,       &START,    &STOP,          &MASTER, &SUBMIT,  &Q,         &STATUS,     &HISTORY,
    &RM,         &HOLD,     &RELEASE,       &VACATE, &SUSPEND, &CONTINUE,  &CHECKPOINT, &EDIT,
    &WAIT,       &USERPRIO, &POWER,         &DRAIN,  &TOKEN,   &CERT,      &CONFIG,     &RECONFIG,
    &TAIL,       &SSH,      &TRANSFER_DATA, &WHY,    &CLASSAD, &ADVERTISE, &TOP,        &WHO,
    &COMPLETION, &HELP,     NULL,
};
