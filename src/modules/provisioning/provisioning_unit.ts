import type { UnitOfWork } from '#modules/unit_of_work.ts';
import type { Id } from '#kernel/ids.ts';
import type { AuditedBy } from '#modules/audit/store/audit_store.ts';

/** One change that an identity provider makes in its organization. */
export interface ProvisioningUnit {
  readonly unit: UnitOfWork;
  readonly orgId: Id<'org'>;
  readonly by: AuditedBy;
}

/** A change for the audit log. */
export interface ProvisioningChange {
  readonly action: string;
  readonly target: string;
  readonly before: object | null;
  readonly after: object | null;
}

/** Writes the audit rows of changes, in the name of the token. */
export async function recordProvisioning(
  { unit: { stores, now }, orgId, by }: ProvisioningUnit,
  changes: readonly ProvisioningChange[],
): Promise<void> {
  if (changes.length === 0) return;
  await stores.audit.appendAll(
    changes.map((change) => ({ orgId, ...by, result: 'done' as const, ...change })),
    now,
  );
}
