import type { Caller } from '#modules/accounts/decide/caller.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';

/** Returns the person who acts; throws `forbidden` for a key of the organization, which is nobody. */
export function callerUser({ actor }: Caller): Id<'user'> {
  if (actor.kind === 'user') return actor.userId;
  throw new AppError(
    'forbidden',
    'only a person can do this; an API key of the organization does not belong to a person',
  );
}
