import pLimit from 'p-limit';

import { acknowledgeIncident } from '#actions/incidents/acknowledge_incident.ts';
import { resolveIncident } from '#actions/incidents/resolve_incident.ts';
import { runAction } from '#actions/run_action.ts';
import type { AppContext } from '#entry/compose.ts';
import type { Caller } from '#core/access/caller.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import type { Via } from '#core/access/via.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { ROLE_PERMISSIONS } from '#kernel/permissions.ts';
import type { Answer } from '#notify/answer_link.ts';
import { storesOf } from '#storage/postgres/stores.ts';

/** Who answers a message, and how. */
export interface Answerer {
  readonly orgId: Id<'org'>;
  readonly userId: Id<'user'>;
  readonly via: Via;
  readonly origin: RequestOrigin;
}

export interface Answered {
  readonly outcome: 'done' | 'nothing_left' | 'resolved_already' | 'not_allowed' | 'left_organization';
  /** How many incidents are acknowledged or resolved now. */
  readonly count: number;
}

/** A storm has hundreds of incidents, and a caller waits on the line until all are acknowledged. */
const CONCURRENCY = 8;

/** Acknowledges or resolves through the same actions as everybody, with the person's current role. */
export async function answerAsPerson(
  context: AppContext,
  { orgId, userId, via, origin }: Answerer,
  incidentIds: readonly Id<'incident'>[],
  answer: Answer,
): Promise<Answered> {
  const role = await storesOf(context.db.session()).people.findRole(orgId, userId);
  if (role === null) return { outcome: 'left_organization', count: 0 };
  const actor = { kind: 'user', userId, apiKeyId: null } as const;
  const caller: Caller = { orgId, actor, via, permissions: new Set(ROLE_PERMISSIONS[role]) };
  const outcomes = await pLimit(CONCURRENCY).map(incidentIds, (id) => answerOne(context, caller, origin, id, answer));
  const count = outcomes.filter((outcome) => outcome === 'done').length;
  return { outcome: count > 0 ? 'done' : (outcomes[0] ?? 'nothing_left'), count };
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

/** What came of it, in a sentence. */
export function answeredSentence({ outcome, count }: Answered, answer: Answer): string {
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
    case 'left_organization':
      return 'You no longer belong to this organization.';
  }
}
