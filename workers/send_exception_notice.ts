import { sendExceptionNotice } from '#storage/queue/jobs.ts';
import { asId } from '#kernel/ids.ts';
import { linkTo, PAGES } from '#modules/pages/decide/pages.ts';
import { exceptionNoticeMail } from '#notify/mail/notices.ts';
import { messageIdOf, sendMail } from '#notify/mail/send_mail.ts';
import { storesOf } from '#modules/stores.ts';
import { handleJob, type JobHandler } from '#storage/queue/job_workers.ts';
import type { AccountMailRuntime } from '#workers/send_password_reset.ts';

export const onSendExceptionNotice = (
  runtime: Pick<AccountMailRuntime, 'mail' | 'baseUrl' | 'db' | 'clock'>,
): JobHandler =>
  handleJob(sendExceptionNotice, async ({ orgId, groupId, activityId, userId }) => {
    const { mail, baseUrl, db } = runtime;
    if (mail === null) return;
    const { people, exceptionGroups, groupActivity } = storesOf(db.session());
    const id = asId('group', groupId);
    const [members, groups, entry] = await Promise.all([
      people.listPeople(asId('org', orgId), [userId]),
      exceptionGroups.findListed([id]),
      groupActivity.find(id, activityId),
    ]);
    const [person, group] = [members.get(userId), groups.get(id)];
    // The person has left, or the group is gone.
    if (person === undefined || group === undefined || entry === null) return;
    const url = linkTo(baseUrl, `${PAGES.exceptions}/${groupId}`, orgId);
    const text = exceptionNoticeMail(entry.facts, { title: group.title, url });
    if (text === null) return;
    const messageId = messageIdOf(`${activityId}.${userId}`, new URL(baseUrl).hostname);
    const delivery = await sendMail(mail, { to: person.email, messageId, ...text, priority: 'normal' });
    if (delivery.kind === 'retry') throw new Error(`the mail could not be sent: ${delivery.reason}`);
  });
