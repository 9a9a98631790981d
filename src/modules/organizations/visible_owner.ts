import { callerUser } from '#modules/accounts/caller_user.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import type { Id } from '#kernel/ids.ts';

/** Returns whose keys and connections a person may see and end: everybody's (null) as a manager, else their own. */
export function visibleOwner(caller: Caller): Id<'user'> | null {
  return caller.permissions.has('organization:manage') ? null : callerUser(caller);
}
