import { asId } from '#kernel/ids.ts';
import { linkTo, PAGES } from '#modules/pages/decide/pages.ts';
import { storesOf } from '#modules/stores.ts';
import { dutyNoticeMail } from '#notify/mail/notices.ts';
import { messageIdOf, sendMail } from '#notify/mail/send_mail.ts';
import { handleJob, type JobHandler } from '#storage/queue/job_workers.ts';
import { sendDutyNotice } from '#storage/queue/jobs.ts';
import type { AccountMailRuntime } from '#workers/send_password_reset.ts';

export const onSendDutyNotice = (runtime: Pick<AccountMailRuntime, 'mail' | 'baseUrl' | 'db' | 'clock'>): JobHandler =>
  handleJob(sendDutyNotice, async ({ orgId, userId, byUserId, changes, changeId }) => {
    const { mail, baseUrl, db } = runtime;
    if (mail === null) return;
    const { people, schedules } = storesOf(db.session());
    const org = asId('org', orgId);
    const members = await people.listPeople(org, byUserId === null ? [userId] : [userId, byUserId]);
    const person = members.get(userId);
    // The person has left.
    if (person === undefined) return;
    const scheduleIds = [...new Set(changes.map(({ scheduleId }) => scheduleId))];
    const page = await schedules.listPage(org, { scheduleIds }, { offset: 0, limit: scheduleIds.length });
    const scheduleOf = new Map<string, (typeof page)[number]>(page.map((schedule) => [schedule.id, schedule]));
    const toldChanges = changes.flatMap(({ scheduleId, ...change }) => {
      const schedule = scheduleOf.get(scheduleId);
      if (schedule === undefined) return [];
      const url = linkTo(baseUrl, `${PAGES.onCall}/schedules/${scheduleId}`, orgId);
      const { name, timezone, teamName } = schedule;
      return [{ ...change, schedule: name, team: teamName, timezone, url }];
    });
    if (toldChanges.length === 0) return;
    const text = dutyNoticeMail(byUserId === null ? null : (members.get(byUserId)?.name ?? null), toldChanges);
    const messageId = messageIdOf(`${changeId}.${userId}`, new URL(baseUrl).hostname);
    const delivery = await sendMail(mail, { to: person.email, messageId, ...text, priority: 'normal' });
    if (delivery.kind === 'retry') throw new Error(`the mail could not be sent: ${delivery.reason}`);
  });
