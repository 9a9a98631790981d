import { checkReplyPin } from '#auth/reply_pins.ts';
import type { AppContext } from '#entry/compose.ts';
import type { AnswerPage } from '#entry/http/answers/answer_page.ts';
import type { Id } from '#kernel/ids.ts';
import { storesOf } from '#modules/stores.ts';

const FAULTS = {
  missing: 'Enter the PIN that you have set for replies.',
  wrong: 'That PIN is wrong. Nothing was changed.',
  locked: 'Too many wrong PINs. Try again in 15 minutes, or use the console.',
} as const;

type PinFault = (typeof FAULTS)[keyof typeof FAULTS];

/**
 * Returns whether the person has set a PIN. If so, the link needs it as a reply does: somebody who reads another
 * person's SMS still lacks their PIN.
 */
export async function hasPin({ db }: AppContext, userId: Id<'user'>): Promise<boolean> {
  return (await storesOf(db.session()).phoneNumbers.findPin(userId)) !== null;
}

/** Returns the fault of the PIN that came with an answer; null if it is right, or the person has set none. */
export async function pinFault(
  { db, clock }: AppContext,
  userId: Id<'user'>,
  entered: unknown,
): Promise<PinFault | null> {
  const pin = typeof entered === 'string' ? entered.trim() : null;
  const check = await checkReplyPin(storesOf(db.session()), userId, pin, clock.now());
  return check === 'none_set' || check === 'right' ? null : FAULTS[check];
}

/** Returns the question again, with the fault of the PIN above it. */
export function refuseWith(fault: PinFault, question: AnswerPage): AnswerPage {
  return { ...question, status: 403, paragraphs: [fault, ...question.paragraphs] };
}
