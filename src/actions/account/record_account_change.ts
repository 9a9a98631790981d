import type { UnitOfWork } from '#storage/postgres/unit_of_work.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import type { Id } from '#kernel/ids.ts';
import type { AuditEntry } from '#storage/postgres/audit_store.ts';

/** What was changed of somebody's account. */
interface AccountChange {
  readonly userId: Id<'user'>;
  readonly action: string;
  readonly target: string;
  readonly before: object | null;
  readonly after: object | null;
  /** Who did it; the person by themselves, in the console, when left out. */
  readonly by?: Pick<AuditEntry, 'actor' | 'via'>;
  readonly origin: RequestOrigin;
}

/** An account belongs to no organization: each one that its person belongs to finds the change in its audit log. */
export async function recordAccountChange(
  { stores, now }: Pick<UnitOfWork, 'stores' | 'now'>,
  { userId, by, ...change }: AccountChange,
): Promise<void> {
  const { actor, via } = by ?? { actor: { kind: 'user', userId, apiKeyId: null }, via: 'console' };
  for (const { orgId } of await stores.people.listMemberships(userId)) {
    await stores.audit.append({ orgId, actor, via, ...change, result: 'done' }, now);
  }
}
