import { asId } from '#kernel/ids.ts';
import { linkTo, PAGES } from '#modules/pages/decide/pages.ts';
import { storesOf } from '#modules/stores.ts';
import { numberRequestMail } from '#notify/mail/account_mail_text.ts';
import { messageIdOf, sendMail } from '#notify/mail/send_mail.ts';
import { handleJob, type JobHandler } from '#storage/queue/job_workers.ts';
import { sendNumberRequest } from '#storage/queue/jobs.ts';
import type { AccountMailRuntime } from '#workers/send_password_reset.ts';

/** Mails nobody who has done everything meanwhile, or whose campaign has ended. */
export const onSendNumberRequest = ({ mail, baseUrl, db, clock }: AccountMailRuntime): JobHandler =>
  handleJob(sendNumberRequest, async ({ orgId: org, userId: user }) => {
    if (mail === null) return;
    const [orgId, userId] = [asId('org', org), asId('user', user)];
    const { numberCampaigns, people } = storesOf(db.session());
    const campaign = await numberCampaigns.find(orgId);
    const person = (await people.listPeople(orgId, [userId])).get(userId);
    const now = clock.now();
    if (campaign === null || person === undefined || !(await numberCampaigns.isOpen(orgId, userId, now))) return;
    const text = numberRequestMail({ link: linkTo(baseUrl, PAGES.me, orgId) });
    const messageId = messageIdOf(`${orgId}.${userId}.${now.epochMilliseconds}`, new URL(baseUrl).hostname);
    const delivery = await sendMail(mail, { to: person.email, messageId, ...text, priority: 'normal' });
    if (delivery.kind === 'retry') throw new Error(`the mail could not be sent: ${delivery.reason}`);
  });
