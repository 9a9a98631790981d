import type { Actor } from '#kernel/caller.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { AuditEntry } from '#storage/postgres/audit_store.ts';
import type { Session } from '#storage/postgres/database.ts';

/** A line of the audit log as it was written, with the names of today. */
export interface AuditLine {
  readonly auditId: Id<'audit'>;
  readonly at: Temporal.Instant;
  readonly actor: (Actor | { readonly kind: 'unknown' }) & {
    /** The app that a person acted through, under the name that it had then. */
    readonly connection?: { readonly connectionId: string; readonly clientName: string };
  };
  /** Of the user, or of the key where the organization's own acted; null once it is gone. */
  readonly actorName: string | null;
  /** Of the key that was used, as it was called then; null when there was none. */
  readonly apiKeyName: string | null;
  readonly via: string;
  readonly action: string;
  readonly target: string | null;
  readonly before: object | null;
  readonly after: object | null;
  readonly result: AuditEntry['result'];
  readonly address: string | null;
  readonly requestId: string;
}

/** Which lines; what is left out does not matter. */
export interface AuditFilter {
  readonly from?: Temporal.Instant;
  readonly to?: Temporal.Instant;
  /** The id of a user, a key or a connection, or `system` or `unknown`. */
  readonly actor?: string;
  readonly via?: string;
  readonly action?: string;
  readonly target?: string;
  readonly result?: string;
}

/** The last line of a page: the next one begins behind it. */
export type AuditPlace = Pick<AuditLine, 'auditId' | 'at'>;

/** Reads the audit log, newest first. */
export class AuditReader {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** At most `limit` lines behind `after`, or from the newest on. Lines that come meanwhile disturb no page. */
  async list(orgId: Id<'org'>, filter: AuditFilter, after: AuditPlace | null, limit: number): Promise<AuditLine[]> {
    return await this.#session.sql.rows(
      `select a.id as "auditId", a.at, a.actor, coalesce(u.name, case when a.actor->>'kind' = 'api_key' then k.name end) as "actorName",
         coalesce(a.actor->>'apiKeyName', k.name) as "apiKeyName", a.via, a.action, a.target,
         a.before, a.after, a.result, a.address, a.request_id as "requestId"
       from audit_log a
         left join users u on u.id = a.actor->>'userId'
         left join api_keys k on k.id = a.actor->>'apiKeyId'
       where a.org_id = $1
         and ($2::timestamptz is null or a.at >= $2) and ($3::timestamptz is null or a.at < $3)
         and ($4::text is null or $4 in (a.actor->>'userId', a.actor->>'apiKeyId', a.actor->>'kind',
           a.actor->'connection'->>'connectionId'))
         and ($5::text is null or a.via = $5) and ($6::text is null or a.action = $6)
         and ($7::text is null or a.target = $7) and ($8::text is null or a.result = $8)
         and ($9::timestamptz is null or (a.at, a.id) < ($9, $10))
       order by a.at desc, a.id desc limit $11`,
      [
        orgId,
        filter.from?.toString() ?? null,
        filter.to?.toString() ?? null,
        filter.actor ?? null,
        filter.via ?? null,
        filter.action ?? null,
        filter.target ?? null,
        filter.result ?? null,
        after?.at.toString() ?? null,
        after?.auditId ?? null,
        limit,
      ],
    );
  }
}
