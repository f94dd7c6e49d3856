/* shadow/mail.c - sends mail to the owner of a job through the host's sendmail, as the owner.
 *
 * Mail is not essential: if sendmail is missing or fails, this is logged once, and the schedd gets
 * its answer all the same.  A sendmail that hangs is ended after MAIL_TIME_MS.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/mail.h"

#include <errno.h>
#include <signal.h>

#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "classad/ad.h"
#include "shadow/shadow_state.h"
#include "wire/wire.h"

#define MAIL_TIME_MS ((uint64_t)120 * 1000)

struct mailer {
    struct mail *mail; /* mail that is being sent; NULL: none */
    int64_t sent;      /* number of the last mail sent */
    char *sendmail;    /* path; "": mail is not sent */
};

struct mail {
    struct shadow *shadow;
    struct wire_request *request;
    struct loop_timer *timer;
    int64_t number;
    pid_t pid;
};

static void mail_end(struct mail *mail)
{
    mail->shadow->mailer->mail = NULL;
    loop_timer_destroy(mail->timer);
    mem_free(mail);
}

static void mail_exited(void *arg, pid_t pid, const struct os_exit *how)
{
    struct mail *mail = arg;
    (void)pid;
    if (how->status != 0) {
        log_warn(mail->shadow->log, "mail.failed", "sendmail did not accept a mail",
                 LOG_INT("status", how->status), LOG_INT("signal", how->signal));
    }
    mail->shadow->mailer->sent = mail->number;
    wire_reply_ok(mail->request, NULL);
    mail_end(mail);
}

static void mail_hangs(void *arg)
{
    struct mail *mail = arg;
    (void)os_kill(mail->shadow->os, mail->pid, SIGKILL); /* its exit is reported */
}

void mail_begin(struct shadow *shadow, const char *sendmail)
{
    shadow->mailer = mem_zalloc(sizeof(*shadow->mailer));
    shadow->mailer->sendmail = mem_strdup(sendmail);
}

void mail_handle(struct shadow *shadow, struct wire_request *request)
{
    const struct ad *ad = wire_request_ad_count(request) == 1 ? wire_request_ad(request, 0) : NULL;
    int64_t number = ad != NULL ? ad_int_or(ad, "Number", 0) : 0;
    if (number <= 0) {
        wire_reply_error(request, -EINVAL, "JOB_EVENT with Mail needs one ad with Number");
        return;
    }
    if (number <= shadow->mailer->sent || shadow->mailer->sendmail[0] == '\0') {
        wire_reply_ok(request, NULL); /* sent, and the answer was lost; or it is not wanted */
        return;
    }
    if (shadow->mailer->mail != NULL) {
        wire_reply_error(request, -EAGAIN, "the previous mail is still being sent");
        return;
    }
    const char *const argv[] = {shadow->mailer->sendmail, "-oi", "-t", NULL};
    const struct os_spawn spec = {.argv = argv,
                                  .input_text = ad_string_or(ad, "Text", ""),
                                  .new_session = true,
                                  .no_new_privs = true}; /* as the shadow itself has it */
    struct mail *mail = mem_zalloc(sizeof(*mail));
    struct err err = {{0}};
    mail->shadow = shadow;
    mail->request = request;
    mail->number = number;
    mail->timer = loop_timer_create(shadow->loop, mail_hangs, mail);
    shadow->mailer->mail = mail;
    if (os_spawn(shadow->os, &spec, mail_exited, mail, &mail->pid, &err) != 0) {
        log_warn(shadow->log, "mail.not_sent", err.text);
        shadow->mailer->sent = number;
        wire_reply_ok(request, NULL);
        mail_end(mail);
        return;
    }
    loop_timer_set(mail->timer, MAIL_TIME_MS);
}

void mail_forget(struct shadow *shadow)
{
    struct mail *mail = shadow->mailer->mail;
    if (mail != NULL) { /* sendmail goes on by itself */
        os_forget(shadow->os, mail->pid);
        wire_reply_error(mail->request, -ESHUTDOWN, "the shadow is stopping");
        mail_end(mail);
    }
    mem_free(shadow->mailer->sendmail);
    mem_free(shadow->mailer);
}
