import type { ActionContext } from '#actions/action_context.ts';
import { AppError } from '#kernel/errors.ts';

/** Throws `forbidden` unless an owner, or whoever runs the installation, acts: how people sign in decides who they are. */
export async function requireOwner({ caller, stores }: Pick<ActionContext, 'caller' | 'stores'>): Promise<void> {
  const { actor, orgId } = caller;
  if (actor.kind === 'system') return;
  const role = actor.kind === 'user' ? await stores.people.findRole(orgId, actor.userId) : null;
  if (role !== 'owner') throw new AppError('forbidden', 'only an owner changes how people sign in');
}
