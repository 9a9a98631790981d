import type { RequestOrigin } from '#kernel/caller.ts';
import { newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { type Row, toColumns } from '#storage/postgres/columns.ts';
import type { Session } from '#storage/postgres/database.ts';
import { AuditLogEntity } from '#storage/postgres/entities/audit.ts';

/** One line of the audit log. `before` and `after` hold no secrets. */
export type AuditEntry = Omit<Row<typeof AuditLogEntity>, 'id' | 'at' | 'address' | 'requestId'> & {
  readonly origin: RequestOrigin;
};

/** The `after` of a row that changes nothing: somebody was shown a credential. */
export const CREDENTIALS_SHOWN = { credentials: 'shown' } as const;

/** Who made a change, and how it came in. */
export type AuditedBy = Pick<AuditEntry, 'actor' | 'via' | 'origin'>;

/** Append-only; the table itself refuses updates. */
export class AuditStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async append({ origin, ...entry }: AuditEntry, now: Temporal.Instant): Promise<void> {
    const { address, requestId } = origin;
    await this.#session.db
      .insertInto('audit_log')
      .values(toColumns(AuditLogEntity, { id: newId('audit'), at: now, ...entry, address, requestId }))
      .execute();
  }
}
