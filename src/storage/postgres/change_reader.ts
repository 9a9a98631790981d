import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';
import type { Liveness } from '#storage/postgres/session_store.ts';

/** Something that was changed, or that something happened to. */
export interface StoredChange {
  /** The same for the same change, however often it is read. */
  readonly key: string;
  readonly orgId: Id<'org'>;
  /** The id of what it is about, which tells its kind. */
  readonly target: string;
  /** The team or the service that it belongs to, where that was written. */
  readonly owner: string | null;
}

/** Somebody who listens to an organization. */
export interface Listener {
  readonly sessionId: Id<'session'>;
  readonly orgId: Id<'org'>;
}

const CHANGES_MAX = 2_000;

/** Overrides name their schedule, all others the team or the service itself. */
const OWNER = (fields: string): string =>
  `coalesce(${fields}->>'teamId', ${fields}->>'serviceId',
    (select s.team_id from schedules s where s.id = ${fields}->>'scheduleId'))`;

/**
 * What has changed lately, from what is written anyway: the audit log (all that people and rules change), the timelines
 * of incidents, and when exceptions were last seen. Each part goes by an index that is there for other reasons.
 */
export class ChangeReader {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async listSince(orgIds: readonly Id<'org'>[], since: Temporal.Instant): Promise<StoredChange[]> {
    return await this.#session.sql.rows(
      `(select a.id as key, a.org_id as "orgId", a.target,
            coalesce(${OWNER('a.after')}, ${OWNER('a.before')}) as owner from audit_log a
          where a.org_id = any($1) and a.at > $2 and a.target is not null and a.result = 'done'
          order by a.at desc limit ${CHANGES_MAX})
       union all
       select 'timeline ' || t.id, i.org_id, i.id, null from incident_timeline t join incidents i on i.id = t.incident_id
          where t.id > (select max(id) - ${CHANGES_MAX} from incident_timeline) and t.at > $2 and i.org_id = any($1)
       union all
       (select g.id || ' ' || g.last_seen_at, g.org_id, g.id, null from exception_groups g
          where g.org_id = any($1) and g.last_seen_at > $2 order by g.last_seen_at desc limit ${CHANGES_MAX})`,
      [[...orgIds], since.toString()],
    );
  }

  /** Of those who listen the ones who may: signed in still, and members still. By `sessionId orgId`. */
  async listLiveListeners(listeners: readonly Listener[], { now, usedSince }: Liveness): Promise<Set<string>> {
    const rows = await this.#session.sql.rows<{ listener: string }>(
      `select distinct l.session_id || ' ' || l.org_id as listener
       from unnest($1::text[], $2::text[]) l (session_id, org_id)
         join sessions s on s.id = l.session_id and s.expires_at > $3 and s.last_used_at > $4
         join memberships m on m.org_id = l.org_id and m.user_id = s.user_id`,
      [
        listeners.map(({ sessionId }) => sessionId),
        listeners.map(({ orgId }) => orgId),
        now.toString(),
        usedSince.toString(),
      ],
    );
    return new Set(rows.map(({ listener }) => listener));
  }
}
