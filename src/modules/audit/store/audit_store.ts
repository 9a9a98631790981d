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

/** Actor of a change, and how it came in. */
export type AuditedBy = Pick<AuditEntry, 'actor' | 'via' | 'origin'>;

/** A statement has no room for the values of very many. */
const APPENDED_AT_ONCE = 1_000;

/** Append-only; the table itself refuses updates. */
export class AuditStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async append(entry: AuditEntry, now: Temporal.Instant): Promise<void> {
    await this.appendAll([entry], now);
  }

  /** Appends the entries in the order given. */
  async appendAll(entries: readonly AuditEntry[], now: Temporal.Instant): Promise<void> {
    for (let from = 0; from < entries.length; from += APPENDED_AT_ONCE) {
      const rows = entries.slice(from, from + APPENDED_AT_ONCE).map(({ origin: { address, requestId }, ...entry }) => {
        return toColumns(AuditLogEntity, { id: newId('audit'), at: now, ...entry, address, requestId });
      });
      await this.#session.db.insertInto('audit_log').values(rows).execute();
    }
  }
}
