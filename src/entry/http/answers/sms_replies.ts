import type { FastifyRequest } from 'fastify';

import { checkReplyPin } from '#auth/passwords.ts';
import type { AppContext } from '#entry/compose.ts';
import {
  answerAsPerson,
  type Answered,
  answeredSentence,
  answerProposalAsPerson,
} from '#entry/http/answers/answer_as_person.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import { invalidInput } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { ProposalRow } from '#modules/agents/store/proposal_store.ts';
import type { PagedAtNumber } from '#modules/contacts/store/phone_number_store.ts';
import { asksToStop, parseSmsReply, type SmsReply } from '#modules/notifications/decide/sms_reply.ts';
import { type Stores, storesOf } from '#modules/stores.ts';
import { type InboundSms, inboundSms } from '#notify/channels/sms/reports.ts';
import type { Fields } from '#notify/channel.ts';
import { withoutLinks } from '#notify/texts/without_links.ts';
import { replyBySms } from '#notify/twilio/twiml.ts';

/**
 * Runs the command of an SMS, and answers it. The same message sent again gets the same answer and does nothing. An
 * unknown number gets no information, not even that an incident exists.
 */
export async function answerSms(context: AppContext, request: FastifyRequest, fields: Fields): Promise<string> {
  const sms = inboundSms(fields);
  if (sms === null) throw invalidInput([{ path: '', message: 'MessageSid and From are missing' }]);
  const { inboundMessages } = storesOf(context.db.session());
  if (!(await inboundMessages.take(sms.providerId, context.clock.now()))) {
    return replyBySms(await inboundMessages.findAnswer(sms.providerId));
  }
  try {
    const answer = await act(context, request, sms);
    await inboundMessages.setAnswer(sms.providerId, answer);
    return replyBySms(answer);
  } catch (error) {
    await inboundMessages.release(sms.providerId);
    throw error;
  }
}

const HOW_TO =
  'Answer ACK or RES and the number of the incident, for example: ACK 1234. ACK ALL acknowledges all of yours. YES or NO and its number answers an agent.';

const HOW_TO_STOP = 'To stop SMS of this number, send STOP and nothing else; START resumes them.';

const NOTHING_WAITS = 'No incident of yours waits for an answer.';

/** Limit on the incidents named in an answer: with more, it would not fit into a message. */
const NAMED_MAX = 5;

/** Outcomes, best first: this order decides which one the sender reads if several apply. */
const OUTCOMES: readonly Answered['outcome'][] = ['done', 'resolved_already', 'not_allowed', 'refused', 'nothing_left'];

/**
 * Returns the text of the answer; null for none. The sender speaks only for people who were paged at this number, or
 * who have confirmed it and were paged otherwise, in every organization that paged them.
 */
async function act(
  context: AppContext,
  request: FastifyRequest,
  { from, text, optOut }: InboundSms,
): Promise<string | null> {
  const stores = storesOf(context.db.session());
  if (await isOptOut(context, stores, from, optOut)) return null;
  const reply = parseSmsReply(text);
  const origin = { requestId: request.id, address: null };
  if (reply.kind === 'yes' || reply.kind === 'no') return await answerProposalBySms(context, { from, reply, origin });
  const { numbers, pin: typedPin } = await numbersOf(stores, from, reply);
  const byNumber = await listPagedByNumber(stores, from, numbers);
  const paged = numbers === null ? await stores.phoneNumbers.listPagedAt(from, null) : [...byNumber.values()].flat();
  const unknownNumbers = [...byNumber].flatMap(([number, people]) => (people.length === 0 ? [number] : []));
  if (paged.length === 0 && !(await stores.phoneNumbers.isKnown(from))) return null;
  if (reply.kind === 'unknown' && asksToStop(text)) return HOW_TO_STOP;
  if (reply.kind === 'unknown') return (await whatToSend(stores, from)) ?? HOW_TO;
  if (paged.length === 0 && numbers !== null) {
    return [noIncidentSentence(unknownNumbers), await whatToSend(stores, from)].join(' ').trim();
  }
  if (paged.length === 0) return [NOTHING_WAITS, await whatToSend(stores, from)].join(' ').trim();
  const isOfSeveral = new Set(paged.map(({ incidentId }) => incidentId)).size > 1;
  if (reply.kind === 'acknowledge_only' && isOfSeveral) return (await whatToSend(stores, from)) ?? HOW_TO;
  const answer = reply.kind === 'resolve' ? 'resolve' : 'acknowledge';
  const answered: Answered[] = [];
  const about: { orgId: Id<'org'>; incidentIds: readonly Id<'incident'>[] }[] = [];
  const changedIds = new Set<string>();
  for (const [{ orgId, userId }, ofPerson] of byPerson(paged)) {
    const incidentIds = ofPerson.map(({ incidentId }) => incidentId).filter((id) => !changedIds.has(id));
    if (incidentIds.length === 0) continue;
    const pin = await checkReplyPin(stores, userId, typedPin, context.clock.now());
    if (pin === 'missing' || pin === 'wrong' || pin === 'locked') return PIN_REFUSALS_BY_SMS[pin];
    await stores.notifications.markRepliedTo(from, incidentIds, context.clock.now());
    const outcome = await answerAsPerson(
      context,
      { orgId, userId, via: 'sms', number: from, origin },
      incidentIds,
      answer,
    );
    answered.push(outcome);
    about.push({ orgId, incidentIds: outcome.count > 0 ? outcome.doneIds : numbers === null ? [] : incidentIds });
    for (const id of outcome.doneIds) changedIds.add(id);
  }
  const outcome = OUTCOMES.find((candidate) => answered.some((reply) => reply.outcome === candidate)) ?? 'nothing_left';
  const count = answered.reduce((sum, reply) => sum + reply.count, 0);
  const refusal = answered.find((reply) => reply.refusal !== null)?.refusal ?? null;
  const named = about.filter(({ incidentIds }) => incidentIds.length > 0);
  const sentence = answeredSentence({ outcome, count, refusal }, answer) + (await answeredAbout(stores, named));
  const unchanged = [...byNumber].flatMap(([number, people]) =>
    people.length > 0 && !people.some(({ incidentId }) => changedIds.has(incidentId)) ? [number] : [],
  );
  return [
    sentence,
    ...(count > 0 && unchanged.length > 0 ? [`Not changed: ${unchanged.join(', ')}.`] : []),
    ...(unknownNumbers.length > 0 ? [noIncidentSentence(unknownNumbers)] : []),
  ].join(' ');
}

function noIncidentSentence(numbers: readonly number[]): string {
  return `There is no incident ${numbers.join(' and no incident ')}.`;
}

/**
 * Returns the numbers that a reply names, null if it names none, and its PIN. What stands where a PIN does is the number
 * of another incident if it is one and none of these people has set a PIN.
 */
async function numbersOf(
  stores: Stores,
  from: string,
  reply: SmsReply,
): Promise<{ readonly numbers: readonly number[] | null; readonly pin: string | null }> {
  const pin = 'pin' in reply ? reply.pin : null;
  if (!('numbers' in reply)) return { numbers: null, pin };
  const { numbers } = reply;
  if (pin === null || numbers.includes(Number(pin))) return { numbers, pin };
  const people = [...(await listPagedByNumber(stores, from, numbers)).values()].flat();
  const pins = await Promise.all(people.map(({ userId }) => stores.phoneNumbers.findPin(userId)));
  const isNumber = pins.every((set) => set === null) && (await listPaged(stores, from, Number(pin))).length > 0;
  return isNumber ? { numbers: [...numbers, Number(pin)], pin: null } : { numbers, pin };
}

/** Lists the people paged about each number; empty if there are no numbers. */
async function listPagedByNumber(
  stores: Stores,
  from: string,
  numbers: readonly number[] | null,
): Promise<Map<number, readonly PagedAtNumber[]>> {
  const paged = await Promise.all(
    (numbers ?? []).map(async (number) => [number, await listPaged(stores, from, number)] as const),
  );
  return new Map(paged);
}

/**
 * Lists the people paged about a number: about the incident that messages to the phone gave this number, or, if there
 * is none, about the incident whose own number it is.
 */
async function listPaged(
  { phoneNumbers, replyNumbers }: Stores,
  from: string,
  number: number,
): Promise<PagedAtNumber[]> {
  const named = await replyNumbers.find(from, 'incident', number);
  const paged = named === null ? [] : await phoneNumbers.listPagedAbout(from, named);
  return paged.length > 0 ? paged : await phoneNumbers.listPagedAt(from, number);
}

/** Whether the network has obeyed and answered this text itself; records its effect. */
async function isOptOut(
  { clock }: AppContext,
  { phoneNumbers }: Stores,
  from: string,
  optOut: InboundSms['optOut'],
): Promise<boolean> {
  switch (optOut) {
    case null:
      return false;
    case 'stop':
      if (await phoneNumbers.isKnown(from)) await phoneNumbers.stopSms(from, clock.now());
      return true;
    case 'start':
      await phoneNumbers.resumeSms(from, clock.now());
      return true;
    case 'yes':
      return await phoneNumbers.resumeSms(from, clock.now());
    case 'help':
      return true;
  }
}

/** Lists the commands for the incidents that this number may answer; null if there are none. */
async function whatToSend({ phoneNumbers, replyNumbers }: Stores, from: string): Promise<string | null> {
  const open = await phoneNumbers.listOpen(from, NAMED_MAX + 1);
  const commands = await Promise.all(
    open.slice(0, NAMED_MAX).map(async ({ incidentId, number: incidentNumber, isWaiting }) => {
      const number = await replyNumbers.assign(from, { incidentId, proposalId: null, number: incidentNumber });
      return isWaiting ? `ACK ${number} or RES ${number}` : `RES ${number}`;
    }),
  );
  if (commands.length === 0) return null;
  const waiting = open.filter(({ isWaiting }) => isWaiting).length;
  const answer = `Answer ${commands.join(', ')}${open.length > NAMED_MAX ? ', ...' : '.'}`;
  return waiting > 1 ? `${answer} ACK ALL acknowledges all of yours.` : answer;
}

/** Groups by person in the order given, which puts people who have confirmed the number first. */
function byPerson(paged: readonly PagedAtNumber[]): [PagedAtNumber, PagedAtNumber[]][] {
  const groups = Map.groupBy(paged, ({ orgId, userId }) => `${orgId} ${userId}`);
  return [...groups.values()].flatMap((group): [PagedAtNumber, PagedAtNumber[]][] =>
    group[0] ? [[group[0], group]] : [],
  );
}

const PIN_REFUSALS_BY_SMS = {
  missing: 'Add your PIN at the end, for example: ACK 1234 PIN.',
  wrong: 'That PIN is wrong. Nothing was changed.',
  locked: 'Too many wrong PINs. Try again in 15 minutes, or use the console.',
} as const;

type Reply = Extract<SmsReply, { kind: 'yes' | 'no' }>;

/**
 * Answers a proposal for the sender of an SMS; null if there is no reply. The same people may answer as for the
 * incident itself: those who were paged at this number, or who have confirmed it and were paged otherwise.
 */
async function answerProposalBySms(
  context: AppContext,
  { from, reply, origin }: { readonly from: string; readonly reply: Reply; readonly origin: RequestOrigin },
): Promise<string | null> {
  const stores = storesOf(context.db.session());
  const asked = await findAsked(stores, from, reply.number);
  if (asked === null) {
    return (await stores.phoneNumbers.isKnown(from)) ? `No agent asks you anything under ${reply.number}.` : null;
  }
  const { proposal, person } = asked;
  const { orgId, userId } = person;
  const pin = await checkReplyPin(stores, userId, reply.pin, context.clock.now());
  if (pin === 'missing' || pin === 'wrong' || pin === 'locked') return PIN_REFUSALS_BY_SMS[pin];
  const { isDone, sentence } = await answerProposalAsPerson(
    context,
    { orgId, userId, via: 'sms', number: from, origin },
    proposal,
    reply.kind,
  );
  return isDone ? sentence + (await answeredAbout(stores, [{ orgId, incidentIds: [proposal.incidentId] }])) : sentence;
}

interface Asked {
  readonly proposal: ProposalRow;
  readonly person: PagedAtNumber;
}

/**
 * Returns the proposal that messages to the phone gave this number, or else the newest with this number, and the person
 * for whom the phone speaks; null if there is none.
 */
async function findAsked(
  { phoneNumbers, proposals, replyNumbers }: Stores,
  from: string,
  number: number,
): Promise<Asked | null> {
  const named = await replyNumbers.find(from, 'proposal', number);
  if (named !== null && named.proposalId !== null) {
    const [person] = await phoneNumbers.listPagedAbout(from, named);
    const proposal = person === undefined ? null : await proposals.find(person.orgId, named.proposalId);
    if (person !== undefined && proposal !== null) return { proposal, person };
  }
  const paged = await phoneNumbers.listPagedAbout(from, { proposalNumber: number });
  const proposal = await proposals.findByNumber(
    number,
    paged.map(({ incidentId }) => incidentId),
  );
  const person = paged.find(({ incidentId }) => incidentId === proposal?.incidentId);
  return proposal === null || person === undefined ? null : { proposal, person };
}

interface AnsweredIncidents {
  readonly orgId: Id<'org'>;
  readonly incidentIds: readonly Id<'incident'>[];
}

const NAME_LENGTH_MAX = 40;
const ABOUT_MAX = 3;

/** Names what was answered: "(checkout, Acme)" for one incident; for several, their organizations if they differ. */
async function answeredAbout(
  { people, incidents }: Pick<Stores, 'people' | 'incidents'>,
  answered: readonly AnsweredIncidents[],
): Promise<string> {
  const orgIds = [...new Set(answered.map(({ orgId }) => orgId))].slice(0, ABOUT_MAX);
  const organizations = await Promise.all(orgIds.map((orgId) => people.findOrganization(orgId)));
  const names = organizations.flatMap((organization) => (organization === null ? [] : [organization.name]));
  const [first] = answered;
  const ids = new Set(answered.flatMap(({ incidentIds }) => incidentIds));
  if (first !== undefined && ids.size === 1) {
    const [incident] = (await incidents.findAll(first.orgId, [...ids])).values();
    if (incident !== undefined) names.unshift(incident.serviceName);
  }
  return names.length < 2 ? '' : ` (${names.map(shown).join(', ')})`;
}

function shown(name: string): string {
  return withoutLinks(name.slice(0, NAME_LENGTH_MAX).toWellFormed());
}
