import { checkReplyPin } from '#auth/reply_pins.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import type { SmsReply } from '#modules/notifications/decide/sms_reply.ts';
import type { AppContext } from '#entry/compose.ts';
import { answeredAbout } from '#entry/http/answers/answered_about.ts';
import { answerProposalAsPerson } from '#entry/http/answers/answer_proposal_as_person.ts';
import type { PagedAtNumber } from '#modules/contacts/store/phone_number_store.ts';
import type { ProposalRow } from '#modules/agents/store/proposal_store.ts';
import { type Stores, storesOf } from '#modules/stores.ts';

export const PIN_REFUSALS_BY_SMS = {
  missing: 'Add your PIN at the end, for example: ACK 1234 PIN.',
  wrong: 'That PIN is wrong. Nothing was changed.',
  locked: 'Too many wrong PINs. Try again in 15 minutes, or use the console.',
} as const;

type Reply = Extract<SmsReply, { kind: 'yes' | 'no' }>;

/**
 * Answers a proposal for the sender of an SMS; null if there is no reply. The same people may answer as for the
 * incident itself: those who were paged at this number, or who have confirmed it and were paged otherwise.
 */
export async function answerProposalBySms(
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
    const [person] = await phoneNumbers.listPagedAbout(from, [named.incidentId]);
    const proposal = person === undefined ? null : await proposals.find(person.orgId, named.proposalId);
    if (person !== undefined && proposal !== null) return { proposal, person };
  }
  const paged = await phoneNumbers.listPagedAbout(from, await proposals.listIncidentsOf(number));
  const proposal = await proposals.findByNumber(
    number,
    paged.map(({ incidentId }) => incidentId),
  );
  const person = paged.find(({ incidentId }) => incidentId === proposal?.incidentId);
  return proposal === null || person === undefined ? null : { proposal, person };
}
