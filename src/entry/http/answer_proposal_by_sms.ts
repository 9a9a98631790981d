import { checkReplyPin } from '#auth/reply_pins.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import type { SmsReply } from '#core/oncall/sms_reply.ts';
import type { AppContext } from '#entry/compose.ts';
import { answerProposalAsPerson } from '#entry/http/answer_proposal_as_person.ts';
import { storesOf } from '#storage/postgres/stores.ts';

export const PIN_REFUSALS_BY_SMS = {
  missing: 'Add your PIN at the end, for example: ACK 1234 PIN.',
  wrong: 'That PIN is wrong. Nothing was changed.',
  locked: 'Too many wrong PINs. Try again in 15 minutes, or use the console.',
} as const;

type Reply = Extract<SmsReply, { kind: 'yes' | 'no' }>;

/**
 * Answers a proposal for who sent this; null for no answer. The same people may as for the incident itself: those who were
 * paged at this number, or who have confirmed it and were paged otherwise.
 */
export async function answerProposalBySms(
  context: AppContext,
  { from, reply, origin }: { readonly from: string; readonly reply: Reply; readonly origin: RequestOrigin },
): Promise<string | null> {
  const stores = storesOf(context.db.session());
  const about = await stores.proposals.listIncidentsOf(reply.number);
  const paged = await stores.phoneNumbers.listPagedAbout(from, about);
  const proposal = await stores.proposals.findByNumber(
    reply.number,
    paged.map(({ incidentId }) => incidentId),
  );
  const person = paged.find(({ incidentId }) => incidentId === proposal?.incidentId);
  if (proposal === null || person === undefined) {
    return (await stores.phoneNumbers.isKnown(from)) ? `No agent asks you anything under ${reply.number}.` : null;
  }
  const { orgId, userId } = person;
  const pin = await checkReplyPin(stores, userId, reply.pin, context.clock.now());
  if (pin === 'missing' || pin === 'wrong' || pin === 'locked') return PIN_REFUSALS_BY_SMS[pin];
  const { sentence } = await answerProposalAsPerson(
    context,
    { orgId, userId, via: 'sms', origin },
    proposal,
    reply.kind,
  );
  return sentence;
}
