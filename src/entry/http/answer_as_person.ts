import { acknowledgeIncident } from '#actions/incidents/acknowledge_incident.ts';
import { resolveIncident } from '#actions/incidents/resolve_incident.ts';
import { runAction } from '#actions/run_action.ts';
import type { House } from '#entry/compose.ts';
import type { Caller, RequestOrigin, Via } from '#kernel/caller.ts';
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

export type AnswerOutcome = 'done' | 'resolved_already' | 'not_allowed' | 'left_organization';

/** Acknowledges or resolves through the same actions as everybody, with the role that the person has at this moment. */
export async function answerAsPerson(
  house: House,
  { orgId, userId, via, origin }: Answerer,
  incidentId: Id<'incident'>,
  answer: Answer,
): Promise<AnswerOutcome> {
  const role = await storesOf(house.db.session()).people.findRole(orgId, userId);
  if (role === null) return 'left_organization';
  const actor = { kind: 'user', userId, apiKeyId: null } as const;
  const caller: Caller = { orgId, actor, via, permissions: new Set(ROLE_PERMISSIONS[role]) };
  const action = answer === 'acknowledge' ? acknowledgeIncident : resolveIncident;
  try {
    await runAction(house.actions, action, caller, { incidentId }, origin);
    return 'done';
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === 'conflict') return 'resolved_already';
    if (error.code === 'forbidden') return 'not_allowed';
    throw error;
  }
}

/** What came of it, in a sentence. */
export function outcomeSentence(outcome: AnswerOutcome, answer: Answer): string {
  switch (outcome) {
    case 'done':
      return answer === 'acknowledge' ? 'Acknowledged. Thank you.' : 'Resolved. Thank you.';
    case 'resolved_already':
      return 'This incident is resolved already.';
    case 'not_allowed':
      return 'Your role does not allow this.';
    case 'left_organization':
      return 'You no longer belong to this organization.';
  }
}
