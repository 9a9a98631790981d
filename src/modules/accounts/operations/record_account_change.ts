import type { AccountChange } from '#actions/action_context.ts';
import type { UnitOfWork } from '#modules/stores.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import type { AuditEntry } from '#modules/audit/store/audit_store.ts';

interface RecordedChange extends AccountChange {
  readonly action: string;
  /** Actor of the change; when left out, the person by themselves, in the console. */
  readonly by?: Pick<AuditEntry, 'actor' | 'via'>;
  readonly origin: RequestOrigin;
}

/**
 * Records a change of an account, which belongs to no organization: each one that its person is a member of finds it in
 * its audit log.
 */
export async function recordAccountChange(
  { stores, now }: Pick<UnitOfWork, 'stores' | 'now'>,
  { userId, orgId: only, by, action, target, before, after, origin }: RecordedChange,
): Promise<void> {
  const { actor, via } = by ?? { actor: { kind: 'user', userId, apiKeyId: null }, via: 'console' };
  const places = only === undefined ? await stores.people.listMemberships(userId) : [{ orgId: only }];
  for (const { orgId } of places) {
    const entry = { orgId, actor, via, action, target, before, after, result: 'done', origin } as const;
    await stores.audit.append(entry, now);
  }
}
