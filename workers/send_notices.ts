import type { Cipher } from '#auth/cipher.ts';
import { asId, type Id } from '#kernel/ids.ts';
import { mayAnswer } from '#kernel/permissions.ts';
import { findAddress, wantsChannel } from '#modules/contacts/decide/contact.ts';
import { readContacts } from '#modules/incidents/paging/read_contacts.ts';
import { listPagedBy } from '#modules/organizations/roles.ts';
import { linkTo, PAGES, SETTINGS_PAGES } from '#modules/pages/decide/pages.ts';
import { placeDeclarationOf } from '#modules/places/decide/place_kinds.ts';
import { areRoutes } from '#modules/places/decide/place_route.ts';
import { readUncovered } from '#modules/provisioning/coverage_after.ts';
import { type Stores, storesOf } from '#modules/stores.ts';
import { UNREADABLE_KINDS, unreadableText } from '#modules/unreadable_rows/decide/unreadable_kinds.ts';
import {
  auditStreamFailingMail,
  deactivationMail,
  invitationMail,
  numberRequestMail,
  placeOffMail,
  unreadableRowsMail,
} from '#notify/mail/account_mail_text.ts';
import { dutyNoticeMail, dutyText, exceptionNoticeMail } from '#notify/mail/notices.ts';
import { messageIdOf, sendMail } from '#notify/mail/send_mail.ts';
import type { Senders } from '#notify/registry.ts';
import { handleJob, type JobHandler } from '#storage/queue/job_workers.ts';
import {
  sendAuditStreamFailing,
  sendDeactivationNotice,
  sendDutyNotice,
  sendExceptionNotice,
  sendInvitation,
  sendNumberRequest,
  sendPlaceOff,
  sendUnreadableNotice,
} from '#storage/queue/jobs.ts';
import type { AccountMailRuntime } from '#workers/send_password_reset.ts';

type DutyRuntime = Pick<AccountMailRuntime, 'mail' | 'baseUrl' | 'db' | 'clock'> & { readonly senders: Senders };

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

interface InvitationRuntime extends AccountMailRuntime {
  readonly invitationCipher: Cipher;
}

export const onSendInvitation = (runtime: InvitationRuntime): JobHandler =>
  handleJob(sendInvitation, async ({ invitationId, orgId, sealedLink }) => {
    const { mail, baseUrl, db, clock, invitationCipher } = runtime;
    const { invitations } = storesOf(db.session());
    const invitation = await invitations.find(asId('org', orgId), invitationId, clock.now());
    if (mail === null || invitation === null || !invitation.isOpen) return;
    const { organizationName: organization, invitedBy, role, email: to } = invitation;
    const link = invitationCipher.decrypt(Buffer.from(sealedLink, 'base64'));
    const messageId = messageIdOf(invitationId, new URL(baseUrl).hostname);
    const text = invitationMail({ organization, invitedBy, role, link });
    const delivery = await sendMail(mail, { to, messageId, ...text, priority: 'normal' });
    if (delivery.kind === 'retry') throw new Error(`the mail could not be sent: ${delivery.reason}`);
  });

/** Mails nobody who has done everything meanwhile, or whose campaign has ended. */
export const onSendNumberRequest = ({
  mail,
  baseUrl,
  db,
  clock,
  simulatedIds,
}: AccountMailRuntime & { readonly simulatedIds: string }): JobHandler =>
  handleJob(sendNumberRequest, async ({ orgId: org, userId: user }) => {
    if (mail === null) return;
    const [orgId, userId] = [asId('org', org), asId('user', user)];
    const { numberCampaigns, people } = storesOf(db.session());
    const campaign = await numberCampaigns.find(orgId);
    const person = (await people.listPeople(orgId, [userId])).get(userId);
    const now = clock.now();
    if (campaign === null || person === undefined || !(await numberCampaigns.isOpen(orgId, userId, simulatedIds, now)))
      return;
    const text = numberRequestMail({ link: linkTo(baseUrl, PAGES.me, orgId) });
    const messageId = messageIdOf(`${orgId}.${userId}.${now.epochMilliseconds}`, new URL(baseUrl).hostname);
    const delivery = await sendMail(mail, { to: person.email, messageId, ...text, priority: 'normal' });
    if (delivery.kind === 'retry') throw new Error(`the mail could not be sent: ${delivery.reason}`);
  });

export const onSendPlaceOff = (runtime: AccountMailRuntime): JobHandler =>
  handleJob(sendPlaceOff, async ({ placeId, userId }) => {
    const { mail, baseUrl, db } = runtime;
    const { places, people } = storesOf(db.session());
    const place = await places.find(placeId);
    if (mail === null || place === null || place.switchedOffAt === null) return;
    const owner = (await people.listPeople(place.orgId, [userId])).get(asId('user', userId));
    if (owner === undefined) return;
    const { name, kind, lastFailure } = place;
    const messageId = messageIdOf(`${placeId}.${place.switchedOffAt.epochMilliseconds}`, new URL(baseUrl).hostname);
    const text = placeOffMail({
      name,
      kind: placeDeclarationOf(kind).title,
      isUnreadable: !areRoutes(place.routes),
      lastFailure,
      link: linkTo(baseUrl, `${PAGES.settings}${SETTINGS_PAGES.places}`, place.orgId),
    });
    const delivery = await sendMail(mail, { to: owner.email, messageId, ...text, priority: 'normal' });
    if (delivery.kind === 'retry') throw new Error(`the mail could not be sent: ${delivery.reason}`);
  });

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
