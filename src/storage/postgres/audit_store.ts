import type { Actor, RequestOrigin, Via } from '#kernel/caller.ts';
import { type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';

/** One line of the audit log (decisions §6). `before` and `after` hold no secrets. */
export interface AuditEntry {
  readonly orgId: Id<'org'>;
  /** `unknown`: somebody who could not prove to be anybody, and was refused. */
  readonly actor: Actor | { readonly kind: 'unknown' };
  /** `system`: upkeep that no rule and no person asked for. */
  readonly via: Via | 'system';
  readonly action: string;
  readonly target: string | null;
  readonly before: object | null;
  readonly after: object | null;
  readonly result: 'done' | 'forbidden' | 'refused';
  readonly origin: RequestOrigin;
}

/** Who made a change, and how it came in. */
export type AuditedBy = Pick<AuditEntry, 'actor' | 'via' | 'origin'>;

/** Append-only; the table itself refuses updates. */
export class AuditStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async append(entry: AuditEntry, now: Temporal.Instant): Promise<void> {
    await this.#session.sql.run(
      `insert into audit_log (id, org_id, at, actor, via, action, target, before, after, result, address, request_id)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
      [
        newId('audit'),
        entry.orgId,
        now.toString(),
        JSON.stringify(entry.actor),
        entry.via,
        entry.action,
        entry.target,
        entry.before && JSON.stringify(entry.before),
        entry.after && JSON.stringify(entry.after),
        entry.result,
        entry.origin.address,
        entry.origin.requestId,
      ],
    );
  }
}
