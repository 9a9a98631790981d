import { listPagedBy } from '#modules/organizations/roles.ts';
import { readUncovered } from '#modules/provisioning/coverage_after.ts';
import { asId } from '#kernel/ids.ts';
import { mayAnswer } from '#kernel/permissions.ts';
import { linkTo, PAGES } from '#modules/pages/decide/pages.ts';
import { deactivationMail } from '#notify/mail/account_mail_text.ts';
import { messageIdOf, sendMail } from '#notify/mail/send_mail.ts';
import { storesOf } from '#modules/stores.ts';
import { sendDeactivationNotice } from '#storage/queue/jobs.ts';
import { handleJob, type JobHandler } from '#storage/queue/job_workers.ts';
import type { AccountMailRuntime } from '#workers/send_password_reset.ts';

const MANAGERS_MAX = 20;
const RECIPIENTS_MAX = 50;
const NAMED_MAX = 50;

/** Mails owners, admins and the teams of the schedules; one after another, and all of them again when one must be. */
export const onSendDeactivationNotice = ({ mail, baseUrl, db, clock }: AccountMailRuntime): JobHandler =>
  handleJob(sendDeactivationNotice, async ({ orgId: org, userId: user, noticeId }) => {
    if (mail === null) return;
    const [orgId, userId] = [asId('org', org), asId('user', user)];
    const stores = storesOf(db.session());
    const person = await stores.people.findUser(userId);
    const role = await stores.people.findRole(orgId, userId);
    // Activated again meanwhile, or given another role: nothing is uncovered.
    if (person === null || (role !== null && mayAnswer(role))) return;
    const now = clock.now();
    const paging =
      role === null
        ? await readUncovered(stores, orgId, userId, now)
        : (await listPagedBy(stores, orgId, userId, now)).map(({ teamId, name }) => ({ teamId, text: name }));
    if (paging.length === 0) return;
    const members = await stores.teams.listMembers(orgId, [...new Set(paging.map(({ teamId }) => teamId))]);
    const managers = await stores.people.listManagers(orgId, MANAGERS_MAX);
    const recipients = [...new Set([...managers, ...members].map(({ email }) => email))].slice(0, RECIPIENTS_MAX);
    const text = deactivationMail({
      name: person.name,
      role,
      paging: paging.slice(0, NAMED_MAX).map(({ text: sentence }) => sentence),
      link: linkTo(baseUrl, PAGES.onCall, orgId),
    });
    const host = new URL(baseUrl).hostname;
    for (const [index, to] of recipients.entries()) {
      const messageId = messageIdOf(`${noticeId}.${index}`, host);
      const delivery = await sendMail(mail, { to, messageId, ...text, priority: 'normal' });
      if (delivery.kind === 'retry') throw new Error(`the mail could not be sent: ${delivery.reason}`);
    }
  });
