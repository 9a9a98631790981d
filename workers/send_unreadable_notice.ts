import { asId } from '#kernel/ids.ts';
import { linkTo } from '#modules/pages/decide/pages.ts';
import { storesOf } from '#modules/stores.ts';
import { UNREADABLE_KINDS, unreadableText } from '#modules/unreadable_rows/decide/unreadable_kinds.ts';
import { unreadableRowsMail } from '#notify/mail/account_mail_text.ts';
import { messageIdOf, sendMail } from '#notify/mail/send_mail.ts';
import { handleJob, type JobHandler } from '#storage/queue/job_workers.ts';
import { sendUnreadableNotice } from '#storage/queue/jobs.ts';
import type { AccountMailRuntime } from '#workers/send_password_reset.ts';

const ROWS_MAX = 20;

export const onSendUnreadableNotice = (runtime: AccountMailRuntime): JobHandler =>
  handleJob(sendUnreadableNotice, async ({ orgId, userId }) => {
    const { mail, baseUrl, db } = runtime;
    const { unreadableRows, people } = storesOf(db.session());
    const rows = await unreadableRows.list(asId('org', orgId), ROWS_MAX);
    const [newest] = rows;
    if (mail === null || newest === undefined) return;
    const owner = (await people.listPeople(newest.orgId, [userId])).get(asId('user', userId));
    if (owner === undefined) return;
    const messageId = messageIdOf(`${orgId}.${newest.since.epochMilliseconds}`, new URL(baseUrl).hostname);
    const link = linkTo(baseUrl, UNREADABLE_KINDS[newest.kind].page, newest.orgId);
    const text = unreadableRowsMail({ rows: rows.map(unreadableText), link });
    const delivery = await sendMail(mail, { to: owner.email, messageId, ...text, priority: 'normal' });
    if (delivery.kind === 'retry') throw new Error(`the mail could not be sent: ${delivery.reason}`);
  });
