import type { UnitOfWork } from '#actions/unit_of_work.ts';
import type { RequestOrigin, Via } from '#kernel/caller.ts';
import type { Id } from '#kernel/ids.ts';

/** What somebody changed of their own account. */
interface AccountChange {
  readonly userId: Id<'user'>;
  readonly action: string;
  readonly target: string;
  readonly before: object | null;
  readonly after: object | null;
  readonly via?: Via;
  readonly origin: RequestOrigin;
}

/** An account belongs to no organization: each one that its person belongs to finds the change in its audit log. */
export async function recordAccountChange(
  { stores, now }: Pick<UnitOfWork, 'stores' | 'now'>,
  { userId, via = 'console', ...change }: AccountChange,
): Promise<void> {
  const actor = { kind: 'user', userId, apiKeyId: null } as const;
  for (const { orgId } of await stores.people.listMemberships(userId)) {
    await stores.audit.append({ orgId, actor, via, ...change, result: 'done' }, now);
  }
}
