import { sameActs } from '#modules/audit/decide/act_names.ts';
import { sql } from 'kysely';

import type { RequestOrigin } from '#kernel/caller.ts';
import { type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, columns, field, insertSlices, PostgresStore, type Row, toColumns } from '#storage/postgres/store.ts';
import { type AuditHeadEntity, AuditLinkEntity, AuditLogEntity } from '#storage/postgres/entities/audit.ts';

/** One line of the audit log. `before` and `after` hold no secrets. */
export type AuditEntry = Omit<Row<typeof AuditLogEntity>, 'id' | 'at' | 'address' | 'requestId'> & {
  readonly origin: RequestOrigin;
};

/** The `after` of a row that changes nothing: somebody was shown a credential. */
export const CREDENTIALS_SHOWN = { credentials: 'shown' } as const;

/** Actor of a change, and how it came in. */
export type AuditedBy = Pick<AuditEntry, 'actor' | 'via' | 'origin'>;

/** Append-only; the table itself refuses updates. */
export class AuditStore extends PostgresStore {
  async append(entry: AuditEntry, now: Temporal.Instant): Promise<void> {
    await this.appendAll([entry], now);
  }

  /** Appends the entries in the order given. */
  async appendAll(entries: readonly AuditEntry[], now: Temporal.Instant): Promise<void> {
    const rows = entries.map(({ origin: { address, requestId }, ...entry }) =>
      toColumns(AuditLogEntity, { id: newId('audit'), at: now, ...entry, address, requestId }),
    );
    for (const slice of insertSlices(rows)) await this.insertInto('audit_log').values(slice).execute();
  }
}

const LINE = ['at', 'actor', 'via', 'action', 'target', 'before', 'after', 'result', 'address', 'requestId'] as const;

/** A line of the audit log as it was written, with the names of today. */
export type AuditLine = Pick<Row<typeof AuditLogEntity>, (typeof LINE)[number]> & {
  readonly auditId: Id<'audit'>;
  /** Name of the user, or of the key where the organization's own acted; null once it is gone. */
  readonly actorName: string | null;
  /** Name of the key that was used, as of that time; null when there was none. */
  readonly apiKeyName: string | null;
};

/** Filter of audit lines; absent fields do not narrow it. */
export interface AuditFilter {
  readonly from?: Temporal.Instant;
  readonly to?: Temporal.Instant;
  /** The id of a user, a key or a connection, or `system` or `unknown`. */
  readonly actor?: string;
  readonly via?: AuditLine['via'];
  /** An action; all that do the same are meant. */
  readonly action?: string;
  readonly target?: string;
  readonly targets?: readonly string[];
  /** Whether to leave out lines that say who was shown a credential. */
  readonly changesOnly?: true;
  readonly result?: AuditLine['result'];
}

/** The last line of a page: the next one begins behind it. */
export type AuditPlace = Pick<AuditLine, 'auditId' | 'at'>;

/** Lines that are looked through for the actions in use: of these an organization may have very many. */
const LOOKED_THROUGH_MAX = 5_000;

/** Reads the audit log, newest first. */
export class AuditReader extends PostgresStore {
  /** Lists the names of the actions of the newest lines, in order. */
  async listActions(orgId: Id<'org'>): Promise<string[]> {
    const newest = this.db
      .selectFrom('audit_log')
      .select('action')
      .where('org_id', '=', orgId)
      .orderBy('at', 'desc')
      .limit(LOOKED_THROUGH_MAX);
    const rows = await this.db.selectFrom(newest.as('a')).select('action').distinct().orderBy('action').execute();
    return rows.map(({ action }) => action);
  }

  /** Lists at most `limit` lines after `after`, or from the newest on. Lines that arrive meanwhile disturb no page. */
  async list(orgId: Id<'org'>, filter: AuditFilter, after: AuditPlace | null, limit: number): Promise<AuditLine[]> {
    const { from, to, actor, via, action, target, targets, changesOnly, result } = filter;
    let lines = this.selectFrom('audit_log as a')
      .leftJoin('users as u', (join) =>
        join.on((eb) => eb('u.id', '=', field<Id<'user'>>(eb.ref('a.actor'), 'userId'))),
      )
      .leftJoin('api_keys as k', (join) =>
        join.on((eb) => eb('k.id', '=', field<Id<'apikey'>>(eb.ref('a.actor'), 'apiKeyId'))),
      )
      .select('a.id as auditId')
      .select(columns(AuditLogEntity, 'a', LINE))
      .select((eb) => {
        const ofActor = (name: string) => field<string>(eb.ref('a.actor'), name);
        const ownKey = eb.case().when(ofActor('kind'), '=', 'api_key').then(eb.ref('k.name')).end();
        return [
          eb.fn.coalesce('u.name', ownKey).as('actorName'),
          eb.fn.coalesce(ofActor('apiKeyName'), 'k.name').as('apiKeyName'),
        ];
      })
      .where('a.org_id', '=', orgId);
    if (from !== undefined) lines = lines.where('a.at', '>=', from);
    if (to !== undefined) lines = lines.where('a.at', '<', to);
    if (actor !== undefined) {
      lines = lines.where((eb) =>
        eb.or([
          ...['userId', 'apiKeyId', 'kind'].map((name) => eb(field(eb.ref('a.actor'), name), '=', actor)),
          eb(sql<string | null>`${eb.ref('a.actor')}->'connection'->>'connectionId'`, '=', actor),
        ]),
      );
    }
    if (via !== undefined) lines = lines.where('a.via', '=', via);
    if (action !== undefined) lines = lines.where('a.action', '=', anyOf(sameActs(action)));
    if (target !== undefined) lines = lines.where('a.target', '=', target);
    if (targets !== undefined) lines = lines.where('a.target', '=', anyOf(targets));
    if (changesOnly === true) {
      lines = lines.where((eb) =>
        eb(field(eb.ref('a.after'), 'credentials'), 'is distinct from', CREDENTIALS_SHOWN.credentials),
      );
    }
    if (result !== undefined) lines = lines.where('a.result', '=', result);
    if (after !== null) {
      lines = lines.where((eb) => eb(eb.refTuple('a.at', 'a.id'), '<', eb.tuple(after.at, after.auditId)));
    }
    return await lines.orderBy('a.at', 'desc').orderBy('a.id', 'desc').limit(limit).execute();
  }
}

/** One link of the chain, and the row that it holds. */
type AuditLink = Omit<Row<typeof AuditLinkEntity>, 'orgId'> & {
  /** Null when the row is gone. */
  readonly columns: readonly (string | null)[] | null;
};

/** The last link of a chain as it was when it was added. */
type AuditHead = Omit<Row<typeof AuditHeadEntity>, 'orgId'>;

/** Reads the chain of the audit log of one organization. */
export class AuditChainReader extends PostgresStore {
  /** Returns the head of the chain; null before the first row. */
  async findHead(orgId: Id<'org'>): Promise<AuditHead | null> {
    const head = await this.selectFrom('audit_heads')
      .select(['number', 'hash'])
      .where('org_id', '=', orgId)
      .executeTakeFirst();
    return head ?? null;
  }

  /** Lists links after `after`, in the order of the chain. */
  async list(orgId: Id<'org'>, after: number, upTo: number, limit: number): Promise<AuditLink[]> {
    return await this.selectFrom('audit_links as l')
      .leftJoin('audit_log as a', 'a.id', 'l.audit_id')
      .select(columns(AuditLinkEntity, 'l', ['number', 'auditId', 'hash']))
      .select((eb) => {
        // In the order in which they are hashed, each as the text that the trigger hashes.
        const hashed = sql.join([
          eb.ref('a.id'),
          eb.ref('a.org_id'),
          sql`(extract(epoch from ${eb.ref('a.at')}) * 1000)::bigint::text`,
          eb.cast('a.actor', 'text'),
          eb.ref('a.via'),
          eb.ref('a.action'),
          eb.ref('a.target'),
          eb.cast('a.before', 'text'),
          eb.cast('a.after', 'text'),
          eb.ref('a.result'),
          eb.ref('a.address'),
          eb.ref('a.request_id'),
        ]);
        return eb
          .case()
          .when('a.id', 'is not', null)
          .then(sql<(string | null)[]>`array[${hashed}]`)
          .end()
          .as('columns');
      })
      .where('l.org_id', '=', orgId)
      .where('l.number', '>', after)
      .where('l.number', '<=', upTo)
      .orderBy('l.number')
      .limit(limit)
      .execute();
  }

  /** The oldest row that no link holds. */
  async findUnlinked(orgId: Id<'org'>): Promise<string | null> {
    const row = await this.selectFrom('audit_log as a')
      .select('a.id')
      .where('a.org_id', '=', orgId)
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom('audit_links as l').select('l.number').whereRef('l.audit_id', '=', 'a.id'))),
      )
      .orderBy('a.at')
      .orderBy('a.id')
      .limit(1)
      .executeTakeFirst();
    return row?.id ?? null;
  }
}
