import type { AuditEntry } from '#storage/postgres/audit_store.ts';
import type { UnitOfWorkRuntime } from '#storage/postgres/unit_of_work.ts';

export type ReleaseRuntime = UnitOfWorkRuntime;

/** Who asks for a change, for the audit log. */
export type Requester = Pick<AuditEntry, 'orgId' | 'actor' | 'via' | 'origin'>;
