import { callerUser } from '#actions/me/caller_user.ts';
import type { Caller } from '#kernel/caller.ts';
import type { Id } from '#kernel/ids.ts';

/** Whose keys and connections somebody may see and end: everybody's (null) who manages the organization, else their own. */
export function reachOf(caller: Caller): Id<'user'> | null {
  return caller.permissions.has('organization:manage') ? null : callerUser(caller);
}
