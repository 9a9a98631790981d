import { Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { mayAnswer, type Role } from '#kernel/permissions.ts';

/** Field for the warnings of results that put people on call. */
export const DutyWarnings = Type.Array(Type.String(), {
  description: 'who is put on call but may not answer, and what to do; none when all may',
});

export function cannotAnswerText(name: string, role: Role): string {
  return `${name} is paged, but the role ${role} may neither acknowledge nor resolve: give them the role responder, or take them out.`;
}

/** Returns a sentence for each of these people whose role does not let them answer a page. */
export async function readDutyWarnings(
  userIds: readonly string[],
  { caller, stores }: Pick<ActionContext, 'caller' | 'stores'>,
): Promise<string[]> {
  const people = await stores.people.listReachable(caller.orgId, userIds);
  return [...people.values()]
    .filter(({ role }) => !mayAnswer(role))
    .map(({ name, role }) => cannotAnswerText(name, role));
}
