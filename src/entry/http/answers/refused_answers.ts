import type { FastifyRequest } from 'fastify';

import { checkReplyPin } from '#auth/passwords.ts';
import type { AnswerPage } from '#entry/http/answers/answer_page.ts';
import type { Id } from '#kernel/ids.ts';
import { recordRefusedAnswer } from '#modules/audit/operations/record_refused_answer.ts';
import { networkOf } from '#kernel/ip_address.ts';
import type { AppContext } from '#entry/compose.ts';
import type { SharedLimits } from '#entry/http/shared_limits.ts';
import type { Via } from '#modules/accounts/decide/caller.ts';
import type { SharedLimit } from '#kernel/shared_limit.ts';
import type { NotificationRow } from '#modules/notifications/store/notification_row.ts';
import { storesOf } from '#modules/stores.ts';

interface Refusal {
  readonly action: string;
  readonly via: Via;
  /** Message, if it is known: without one no organization is concerned, and only our own log records it. */
  readonly notification: NotificationRow | null;
  readonly why: string;
}

/** Context of answers to messages and of callbacks about them. */
export interface AnswerContext extends AppContext {
  readonly refusedAnswers: RefusedAnswers;
}

/** Share of an organization's limit that one address may use, so that it leaves room for others. */
const SHARE_OF_ADDRESS = 0.1;

const HOUR_SECONDS = 3_600;

/**
 * Records answers and reports that were forged, altered or too old. Their senders are unknown and may try without end,
 * so only a limited number an hour is recorded for each organization, and a tenth of that for each address; the rest
 * are counted.
 */
export class RefusedAnswers {
  readonly #context: AppContext;
  readonly #ofAddress: SharedLimit;
  readonly #ofOrganization: SharedLimit;

  constructor(context: AppContext, { openLimit, set }: SharedLimits) {
    const burst = set.refusedAnswersPerHour;
    const least = Math.max(1, burst * SHARE_OF_ADDRESS);
    this.#context = context;
    this.#ofOrganization = openLimit('refusedAnswers', { burst, perSecond: burst / HOUR_SECONDS });
    this.#ofAddress = openLimit('refusedAnswersOfAddress', { burst: least, perSecond: least / HOUR_SECONDS });
  }

  async record(request: FastifyRequest, { action, via, notification, why }: Refusal): Promise<void> {
    const { log, reachedLimits } = this.#context;
    const network = networkOf(request.ip);
    const orgId = notification?.orgId ?? '';
    const isLeft =
      (await this.#ofAddress.take(`${orgId} ${network}`, 1)) === 0 && (await this.#ofOrganization.take(orgId, 1)) === 0;
    if (!isLeft) return reachedLimits.record('refusedAnswersPerHour', network);
    const origin = { requestId: request.id, address: request.ip };
    log.warn({ ...origin, action, why, notificationId: notification?.id }, 'refused');
    if (notification === null) return;
    await recordRefusedAnswer(this.#context, notification, { action, via, why, origin });
  }
}

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
