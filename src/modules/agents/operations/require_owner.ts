import type { ActionContext } from '#actions/action_context.ts';
import { callerUser } from '#modules/accounts/caller_user.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';

/** Returns the owner who acts. Throws `forbidden` for anybody else. */
export async function requireOwner({ caller, stores }: ActionContext): Promise<Id<'user'>> {
  const userId = callerUser(caller);
  if ((await stores.people.findRole(caller.orgId, userId)) === 'owner') return userId;
  throw new AppError('forbidden', 'only owners decide what agents may do');
}
