import { asId } from '#kernel/ids.ts';
import { linkTo, PAGES, SETTINGS_PAGES } from '#modules/pages/decide/pages.ts';
import { storesOf } from '#modules/stores.ts';
import { auditStreamFailingMail } from '#notify/mail/account_mail_text.ts';
import { messageIdOf, sendMail } from '#notify/mail/send_mail.ts';
import { handleJob, type JobHandler } from '#storage/queue/job_workers.ts';
import { sendAuditStreamFailing } from '#storage/queue/jobs.ts';
import type { AccountMailRuntime } from '#workers/send_password_reset.ts';

export const onSendAuditStreamFailing = (runtime: AccountMailRuntime): JobHandler =>
  handleJob(sendAuditStreamFailing, async ({ auditStreamId, userId }) => {
    const { mail, baseUrl, db } = runtime;
    const { auditStreams, people } = storesOf(db.session());
    const stream = await auditStreams.find(auditStreamId);
    if (mail === null || stream === null || stream.toldAt === null) return;
    const owner = (await people.listPeople(stream.orgId, [userId])).get(asId('user', userId));
    if (owner === undefined) return;
    const { shown, lastFailure, toldAt, orgId } = stream;
    const messageId = messageIdOf(`${auditStreamId}.${toldAt.epochMilliseconds}`, new URL(baseUrl).hostname);
    const link = linkTo(baseUrl, `${PAGES.settings}${SETTINGS_PAGES.audit}`, orgId);
    const text = auditStreamFailingMail({ target: shown, lastFailure, link });
    const delivery = await sendMail(mail, { to: owner.email, messageId, ...text, priority: 'normal' });
    if (delivery.kind === 'retry') throw new Error(`the mail could not be sent: ${delivery.reason}`);
  });
