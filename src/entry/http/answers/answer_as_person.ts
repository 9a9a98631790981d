import pLimit from 'p-limit';

import { acknowledgeIncident } from '#modules/incidents/operations/acknowledge_incident.ts';
import { resolveIncident } from '#modules/incidents/operations/resolve_incident.ts';
import { runAction } from '#actions/run_action.ts';
import type { Refusal } from '#auth/may_act.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import type { AppContext } from '#entry/compose.ts';
import { type Answerer, refusalSentence, speakFor } from '#entry/http/answers/answerer.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Answer } from '#notify/answer_link.ts';

export interface Answered {
  readonly outcome: 'done' | 'nothing_left' | 'resolved_already' | 'not_allowed' | 'refused';
  /** Number of incidents acknowledged or resolved by now. */
  readonly count: number;
  /** Incidents that this answer has acknowledged or resolved. */
  readonly doneIds: readonly Id<'incident'>[];
  /** Sentence that says why the message may not speak for its person; null unless it was refused. */
  readonly refusal: string | null;
}

/** Incidents answered concurrently: a storm has hundreds, and a caller waits on the line until all are acknowledged. */
const CONCURRENCY = 8;

/** Acknowledges or resolves incidents through the same actions as everybody, with the person's current role. */
export async function answerAsPerson(
  context: AppContext,
  answerer: Answerer,
  incidentIds: readonly Id<'incident'>[],
  answer: Answer,
): Promise<Answered> {
  const speaking = await speakFor(context, answerer, wantsOf(answer));
  if ('refusal' in speaking) {
    return { outcome: 'refused', count: 0, doneIds: [], refusal: refusalSentence(speaking.refusal, context, answerer) };
  }
  const outcomes = await pLimit(CONCURRENCY).map(incidentIds, (id) =>
    answerOne(context, speaking.caller, answerer.origin, id, answer),
  );
  const doneIds = incidentIds.filter((_, nth) => outcomes[nth] === 'done');
  const count = doneIds.length;
  return { outcome: count > 0 ? 'done' : (outcomes[0] ?? 'nothing_left'), count, doneIds, refusal: null };
}

/** Returns why this person may not give this answer; null if they may, as far as it does not depend on their role. */
export async function refusalOfAnswer(
  context: AppContext,
  answerer: Omit<Answerer, 'origin'>,
  answer: Answer,
): Promise<Refusal | null> {
  const speaking = await speakFor(context, answerer, wantsOf(answer));
  return 'refusal' in speaking ? speaking.refusal : null;
}

function wantsOf(answer: Answer): 'acknowledge' | 'more' {
  return answer === 'acknowledge' ? 'acknowledge' : 'more';
}

async function answerOne(
  context: AppContext,
  caller: Caller,
  origin: RequestOrigin,
  incidentId: Id<'incident'>,
  answer: Answer,
): Promise<Answered['outcome']> {
  const action = answer === 'acknowledge' ? acknowledgeIncident : resolveIncident;
  try {
    await runAction(context.actions, action, caller, { incidentId }, origin);
    return 'done';
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === 'conflict') return 'resolved_already';
    if (error.code === 'forbidden') return 'not_allowed';
    if (error.code === 'not_found') return 'nothing_left';
    throw error;
  }
}

/** Returns the outcome as a sentence. */
export function answeredSentence({ outcome, count, refusal }: Omit<Answered, 'doneIds'>, answer: Answer): string {
  switch (outcome) {
    case 'done': {
      const done = answer === 'acknowledge' ? 'Acknowledged' : 'Resolved';
      return count === 1 ? `${done}. Thank you.` : `${done} ${count} incidents. Thank you.`;
    }
    case 'nothing_left':
      return 'No incident of yours waits for an answer.';
    case 'resolved_already':
      return 'This incident is resolved already.';
    case 'not_allowed':
      return 'Your role does not allow this.';
    case 'refused':
      return refusal ?? 'This message may not answer.';
  }
}
