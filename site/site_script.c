/* site/site_script.c - see site_script.h.
 *
 * A shell may read more of its input than it has executed.  So what another program is to read
 * comes only after SITE_SCRIPT_READY, which is printed by the last command that the shell reads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "site/site_script.h"

#include <inttypes.h>
#include <string.h>

#include "base/shell_words.h"
#include "base/strbuf.h"

#define ENDED_KEPT_MIN  60 /* of NAME.end */
#define OUTPUT_KEPT_DAY 7  /* of NAME.out */
#define LIST_LEASE_S    20 /* of a pclient that only lists or kills */

/* A glidein's first process: says at its end how the pilot has ended. */
#define WRAPPER                                                                  \
    "n=$0; p=$1; shift; \"$p\" --token \"$PWD/$n.token\" --name \"$n\" \"$@\"; " \
    "echo $? >\"$n.end\""

/* As any shell reads it, also with newlines: shell_words_append() writes those as bash does. */
static void put_word(struct strbuf *out, const char *word)
{
    strbuf_putc(out, '\'');
    for (; *word != '\0'; word++) {
        if (*word == '\'') {
            strbuf_puts(out, "'\\''");
        } else {
            strbuf_putc(out, *word);
        }
    }
    strbuf_putc(out, '\'');
}

static void put_assignment(struct strbuf *out, const char *name, const char *word)
{
    strbuf_printf(out, "%s=", name);
    put_word(out, word);
    strbuf_putc(out, '\n');
}

/* Goes to the directory of the host, with $c as the pclient and $u as the mask of the user. */
static void put_beginning(const struct site_script *script, struct strbuf *out)
{
    strbuf_puts(out, "u=$(umask); umask 077\n");
    if (script->directory != NULL) {
        put_assignment(out, "d", script->directory);
    } else {
        strbuf_puts(out, "d=${ROOST_SITE_DIR:-$HOME/.roost-site}\n");
    }
    put_assignment(out, "h", script->host);
    put_assignment(out, "c", script->pclient);
    strbuf_puts(out,
                "mkdir -p \"$d\" && cd \"$d\" && mkdir -p bin \"$h\" && chmod 700 . bin \"$h\" && "
                "cd \"$h\" || exit 1\n");
}

/* Sets $j to the answer to "jobs". */
static void put_jobs(struct strbuf *out)
{
    strbuf_printf(
        out,
        "jobs() {\n"
        "case $c in ../*) [ -x \"$c\" ] || { j=NJOBS; echo 'M pclient'; return; };; esac\n"
        "j=$(printf 'jobs\\nexit\\n' | \"$c\" -lease %d) || exit 1\n"
        "case $j in NJOBS*) ;; *) echo \"$c does not list its jobs: $j\" >&2; exit 1;; esac\n"
        "}\n",
        LIST_LEASE_S);
}

void site_script_look(const struct site_script *script, struct strbuf *out)
{
    put_beginning(script, out);
    put_jobs(out);
    strbuf_printf(out,
                  "find . -name '%s*.end' -mmin +%d -exec rm -f {} +\n"
                  "find . -name '%s*.out' -mtime +%d -exec rm -f {} +\n",
                  script->prefix, ENDED_KEPT_MIN, script->prefix, OUTPUT_KEPT_DAY);
    if (script->pilot != NULL) {
        put_assignment(out, "p", script->pilot);
        strbuf_puts(out, "case $p in ../*) [ -x \"$p\" ] || echo 'M pilot';; esac\n");
    }
    /* The files first: of a glidein that ends meanwhile both are seen.  One without NAME.out was
     * never started. */
    strbuf_printf(
        out,
        "t=; for f in %s*.token; do [ ! -e \"$f\" ] || t=\"$t ${f%%.token}\"; done\n"
        "jobs\n"
        "printf '%%s\\n' \"$j\" | while read -r n i s; do\n"
        "case $n in %s*) echo \"R $n $i\";; esac; done\n"
        "for n in $t; do case \"\n$j\" in *\"\n$n \"*) ;; *)\n"
        "[ -e \"$n.end\" ] || [ ! -e \"$n.out\" ] || echo lost >\"$n.end\"\n"
        "rm -f \"$n.token\";; esac; done\n"
        "for f in %s*.end; do [ ! -e \"$f\" ] || { read -r s <\"$f\"; echo \"E ${f%%.end} "
        "$s\"; }; done\n"
        "echo %s\n",
        script->prefix, script->prefix, script->prefix, SITE_SCRIPT_DONE);
}

void site_script_remove(const struct site_script *script, const char *const *names, size_t count,
                        struct strbuf *out)
{
    put_beginning(script, out);
    put_jobs(out);
    strbuf_puts(out, "w='");
    for (size_t i = 0; i < count; i++) {
        strbuf_printf(out, "%s%s", i > 0 ? " " : "", names[i]);
    }
    strbuf_printf(
        out,
        "'\njobs; k=\n"
        "for n in $w; do case \"\n$j\" in *\"\n$n \"*) k=\"$k $n\";; esac; done\n"
        "[ -z \"$k\" ] || { { printf 'kill %%s\\n' $k; echo exit; } | \"$c\" -lease %d "
        ">/dev/null; jobs; }\n"
        "for n in $k; do case \"\n$j\" in *\"\n$n \"*) echo \"S $n\";; *) echo \"G $n\";; "
        "esac; done\n"
        "echo %s\n",
        LIST_LEASE_S, SITE_SCRIPT_DONE);
}

void site_script_log(const struct site_script *script, const char *name, size_t length,
                     struct strbuf *out)
{
    put_beginning(script, out);
    strbuf_printf(out, "[ -e %s.out ] || exit 3\necho %s\ntail -c %zu %s.out\n", name,
                  SITE_SCRIPT_DONE, length, name);
}

void site_script_copy(const struct site_script *script, const char *path, const char *sha256,
                      struct strbuf *out)
{
    put_beginning(script, out);
    put_assignment(out, "p", path);
    strbuf_printf(
        out,
        "{ echo %s; cat >\"$p.$$\" && s=$(sha256sum <\"$p.$$\") && [ \"${s%%%% *}\" = %s ] && "
        "chmod 700 \"$p.$$\" && mv -f \"$p.$$\" \"$p\" && exit 0; rm -f \"$p.$$\"; exit 1; }\n",
        SITE_SCRIPT_READY, sha256);
}

void site_script_start(const struct site_script *script, const char *const *names, size_t count,
                       const struct site_request *request, int64_t lease_s, struct strbuf *out)
{
    put_beginning(script, out);
    put_assignment(out, "s", request->secret);
    for (size_t i = 0; i < count; i++) {
        put_assignment(out, "t", site_request_ticket(request, names[i]));
        /* printf is a part of the shell: no argument of a program */
        strbuf_printf(out, "printf '%%s%%s' \"$t\" \"$s\" >%s.token || exit 1\n", names[i]);
    }
    strbuf_printf(out, "{ umask \"$u\"; echo %s; exec \"$c\" -lease %" PRId64 "; }\n",
                  SITE_SCRIPT_READY, lease_s);
}

void site_script_jobs(const struct site_script *script, const char *const *names, size_t count,
                      const struct site_request *request, int64_t lease_s, struct strbuf *out)
{
    for (size_t i = 0; i < count; i++) {
        struct strbuf line;
        strbuf_init(&line, SITE_LINE_MAX);
        strbuf_printf(&line,
                      "job -detach %s -lease %" PRId64 " -stdout %s.out -stderr %s.out -- sh -c",
                      names[i], lease_s, names[i], names[i]);
        shell_words_append(&line, WRAPPER);
        shell_words_append(&line, names[i]);
        shell_words_append(&line, script->pilot);
        for (size_t k = 0; k < request->argument_count; k++) {
            shell_words_append(&line, request->arguments[k]);
        }
        strbuf_puts(out, strbuf_text(&line));
        strbuf_putc(out, '\n');
        strbuf_fini(&line);
    }
    strbuf_puts(out, "exit\n");
}
