import { asId, type Id } from '#kernel/ids.ts';
import { linkTo, PAGES } from '#modules/pages/decide/pages.ts';
import { type Stores, storesOf } from '#modules/stores.ts';
import { findAddress, wantsChannel } from '#modules/contacts/decide/contact.ts';
import { readContacts } from '#modules/incidents/paging/read_contacts.ts';
import { dutyNoticeMail, dutyText } from '#notify/mail/notices.ts';
import type { Senders } from '#notify/registry.ts';
import { messageIdOf, sendMail } from '#notify/mail/send_mail.ts';
import { handleJob, type JobHandler } from '#storage/queue/job_workers.ts';
import { sendDutyNotice } from '#storage/queue/jobs.ts';
import type { AccountMailRuntime } from '#workers/send_password_reset.ts';

export type DutyRuntime = Pick<AccountMailRuntime, 'mail' | 'baseUrl' | 'db' | 'clock'> & { readonly senders: Senders };

export const onSendDutyNotice = (runtime: DutyRuntime): JobHandler =>
  handleJob(
    sendDutyNotice,
    async ({ orgId, userId, byUserId, changes, changeId, isReminder = false, byPush = false }) => {
      const { mail, baseUrl, db } = runtime;
      if (mail === null && !byPush) return;
      const stores = storesOf(db.session());
      const { people, schedules } = stores;
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
      const by = byUserId === null ? null : (members.get(byUserId)?.name ?? null);
      const text = dutyText(by, toldChanges, isReminder);
      if (byPush)
        return await push(runtime, stores, { orgId: org, userId: asId('user', userId), changeId }, page[0], text);
      if (mail === null) return;
      const messageId = messageIdOf(`${changeId}.${userId}`, new URL(baseUrl).hostname);
      const delivery = await sendMail(mail, {
        to: person.email,
        messageId,
        ...dutyNoticeMail(text),
        priority: 'normal',
      });
      if (delivery.kind === 'retry') throw new Error(`the mail could not be sent: ${delivery.reason}`);
    },
  );

/** Sends a notice to the browsers of a person who has push on in the team of the schedule. */
async function push(
  { senders, clock }: DutyRuntime,
  stores: Pick<Stores, 'people' | 'pushSubscriptions' | 'teams'>,
  { orgId, userId, changeId }: { readonly orgId: Id<'org'>; readonly userId: Id<'user'>; readonly changeId: string },
  schedule: { readonly id: string; readonly teamId: Id<'team'> } | undefined,
  { subject, sentences }: ReturnType<typeof dutyText>,
): Promise<void> {
  const sender = senders.get('push');
  if (schedule === undefined || sender === undefined) return;
  const contact = (await readContacts(stores, { orgId, teamId: schedule.teamId }, [userId])).get(userId);
  if (contact === undefined || !wantsChannel(contact, 'push') || findAddress(contact, 'push') === null) return;
  const path = `${PAGES.onCall}/schedules/${schedule.id}`;
  const delivery = await sender.send({
    notificationId: `${changeId}.${userId}`,
    orgId,
    createdAt: clock.now(),
    to: null,
    userId,
    message: { kind: 'duty', title: subject, body: sentences.join(' '), path },
  });
  if (delivery.kind === 'retry') throw new Error(`the push message could not be sent: ${delivery.reason}`);
}
