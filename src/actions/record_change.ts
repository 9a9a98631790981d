import type { Change } from '#actions/action_context.ts';
import type { Id } from '#kernel/ids.ts';
import type { AuditedBy } from '#modules/audit/store/audit_store.ts';
import type { UnitOfWork } from '#modules/unit_of_work.ts';

/**
 * Writes the audit row of a change that no operation makes: one of the command line that has no organization yet, of
 * the first run, or of a job. For operations the pipeline does it.
 */
export async function recordChange(
  { stores, now }: Pick<UnitOfWork, 'stores' | 'now'>,
  orgId: Id<'org'>,
  by: AuditedBy,
  change: Change & { readonly action: string; readonly result?: 'done' | 'refused' },
): Promise<void> {
  await stores.audit.append({ orgId, ...by, result: 'done', ...change }, now);
}
