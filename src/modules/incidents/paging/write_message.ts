import { refusalOf } from '#auth/may_act.ts';
import type { NewsEvent } from '#modules/incidents/decide/incident.ts';
import { actorName } from '#modules/incidents/decide/incident_actor.ts';
import { declarationOf } from '#modules/contacts/decide/channel.ts';
import { describeProposal } from '#modules/agents/proposed_objects.ts';
import { guidanceOf, type RuleGuidance } from '#modules/rules/decide/kind_settings.ts';
import type { Id } from '#kernel/ids.ts';
import type { DigestItem, Message, Offer, OutgoingMessage } from '#notify/message.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import type { NotificationRow } from '#modules/notifications/store/notification_row.ts';
import type { Stores } from '#modules/stores.ts';

/** Writes the message of a notification, the same at every try; null when what it is about is gone. */
export async function writeMessage(stores: Stores, notification: NotificationRow): Promise<OutgoingMessage | null> {
  const { id: notificationId, orgId, createdAt, address: to, userId } = notification;
  const message = await contentOf(stores, notification);
  return message && { notificationId, orgId, createdAt, to, userId, message };
}

async function contentOf(stores: Stores, notification: NotificationRow): Promise<Message | null> {
  const { kind } = notification;
  if (kind === 'test' || kind === 'number_changed' || kind === 'member_number_changed') return { kind };
  if (kind === 'code') {
    const code = await stores.phoneNumbers.findCodeOf(notification.id);
    return code === null ? null : { kind: 'code', code };
  }
  if (kind === 'digest') {
    const members = await stores.digests.listMembers(notification.id);
    const items = await itemsOf(
      stores,
      members.filter(({ status }) => status !== 'cancelled'),
    );
    return items.length === 0 ? null : { kind: 'digest', items, offer: await offerOf(stores, notification) };
  }
  const [item] = await itemsOf(stores, [notification]);
  if (item === undefined) return null;
  const { news: event } = item;
  const numbered = numbersOf(stores, notification);
  const subject = { ...item.subject, number: await numbered(item.subject.id, null, item.subject.number) };
  if (notification.proposalId !== null) {
    const question = await stores.proposals.find(notification.orgId, notification.proposalId);
    if (question === null) return null;
    const number = await numbered(subject.id, question.id, question.number);
    const proposal = { ...(await describeProposal(stores, question)), number };
    return { kind: 'proposal', subject, proposal, offer: await offerOf(stores, notification) };
  }
  if (event === null) {
    const guidance = await readGuidance(stores, subject);
    return { kind: 'page', subject, offer: await offerOf(stores, notification), ...(guidance && { guidance }) };
  }
  return { kind: 'news', subject, event, by: await actorOf(stores, subject, event) };
}

/** Reads the guidance of the rule as it is now; null without a rule. */
async function readGuidance({ ruleSearch }: Stores, { orgId, ruleId }: IncidentRow): Promise<RuleGuidance | null> {
  if (ruleId === null) return null;
  const rule = (await ruleSearch.findAll(orgId, [ruleId])).get(ruleId);
  return rule === undefined ? null : guidanceOf(rule.settings);
}

/** Returns the actions that an answer to the message may take. */
async function offerOf(
  { people, phoneNumbers }: Stores,
  { orgId, userId, channel, address }: NotificationRow,
): Promise<Offer> {
  const isPhone = declarationOf(channel).addressKind === 'phone';
  const number = isPhone && address !== null ? await phoneNumbers.claimOf(userId, address) : null;
  const standing = await people.findStanding(orgId, userId);
  const may = (wants: 'acknowledge' | 'more'): boolean =>
    refusalOf(standing, { kind: 'message', number, wants }) === null;
  if (may('more')) return 'everything';
  return may('acknowledge') ? 'acknowledge' : 'nothing';
}

/**
 * Returns the number by which the receiver answers: on one phone each number is unique, whichever organization pages
 * it.
 */
function numbersOf({ replyNumbers }: Stores, { channel, address }: NotificationRow) {
  const isPhone = declarationOf(channel).addressKind === 'phone';
  return async (incidentId: Id<'incident'>, proposalId: Id<'proposal'> | null, number: number): Promise<number> =>
    isPhone && address !== null ? await replyNumbers.assign(address, { incidentId, proposalId, number }) : number;
}

/** Returns who acknowledged or resolved it, in words; null if that was undone meanwhile. */
async function actorOf(stores: Stores, incident: IncidentRow, event: NewsEvent): Promise<string | null> {
  const by = { acknowledged: incident.acknowledgedBy, resolved: incident.resolvedBy, reopened: null, proposed: null }[
    event
  ];
  if (by === null) return null;
  const people = await stores.people.listPeople(incident.orgId, 'userId' in by ? [by.userId] : []);
  return actorName(by, (userId) => people.get(userId)?.name ?? 'somebody who has left');
}

/** Returns the items in the order given, without those whose incident is gone. */
async function itemsOf(
  stores: Stores,
  entries: readonly NotificationRow[],
): Promise<(DigestItem & { readonly subject: IncidentRow })[]> {
  const [first] = entries;
  if (first === undefined) return [];
  const incidentIds = entries.flatMap(({ incidentId }) => incidentId ?? []);
  const incidents = await stores.incidents.findAll(first.orgId, incidentIds);
  return entries.flatMap(({ id: notificationId, incidentId, kind, news }) => {
    const subject = incidents.get(incidentId ?? '');
    if (subject === undefined) return [];
    return [{ notificationId, subject, news: kind === 'update' ? (news ?? 'acknowledged') : null }];
  });
}
