import type { ActionContext } from '#actions/action_context.ts';
import { AppError, notFound } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';

interface NamedUser {
  readonly path: string;
  readonly userId: string;
}

/** Returns the ids of the entries of an array, with their paths: `userIds[0]`, `userIds[1]`, … */
export function namedUsers(path: string, userIds: readonly string[]): NamedUser[] {
  return userIds.map((userId, index) => ({ path: `${path}[${index}]`, userId }));
}

/** Returns the ids if each names a user of the organization; throws `not_found` with the paths of those that do not. */
export async function requireUsers(
  named: readonly NamedUser[],
  { caller, stores }: Pick<ActionContext, 'caller' | 'stores'>,
): Promise<Id<'user'>[]> {
  const people = await stores.people.listPeople(
    caller.orgId,
    named.map(({ userId }) => userId),
  );
  const refusals = named.filter(({ userId }) => !people.has(userId)).map(({ path }) => notFound(path, 'user'));
  if (refusals.length > 0) {
    const message = refusals.map((refusal) => refusal.message).join('; ');
    throw new AppError('not_found', message, { faults: refusals.flatMap(({ faults }) => faults) });
  }
  return named.map(({ userId }) => userId as Id<'user'>);
}
