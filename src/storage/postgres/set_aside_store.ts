import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';

/** Events of one service that are set aside together. */
export interface SetAside {
  /** Says what they are: the same events are set aside once. */
  readonly id: string;
  readonly serviceId: Id<'service'>;
  readonly events: number;
  /** As a job holds them. */
  readonly payload: Uint8Array;
  readonly setAsideAt: Temporal.Instant;
  /** When they are tried again. */
  readonly dueAt: Temporal.Instant;
}

/** What is set aside of one service, or of all. */
export interface SetAsideSummary {
  readonly events: number;
  readonly since: Temporal.Instant | null;
  readonly nextTryAt: Temporal.Instant | null;
}

export type SetAsideRow = Omit<SetAside, 'payload'> & { readonly tries: number };

/** A sender of nothing else cannot fill the database: beyond these the oldest of its service go. */
const ROWS_OF_SERVICE_MAX = 200;

const COLUMNS = `id, service_id as "serviceId", events, tries, set_aside_at as "setAsideAt", due_at as "dueAt"`;

/** Events that could not be read in time; see the job group_exceptions. */
export class SetAsideStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Those of services that are gone are left out. */
  async add(rows: readonly SetAside[]): Promise<void> {
    for (const { id, serviceId, events, payload, setAsideAt, dueAt } of rows) {
      await this.#session.sql.run(
        `insert into set_aside_events (id, service_id, events, payload, set_aside_at, due_at)
         select $1, s.id, $3, $4, $5, $6 from services s where s.id = $2 and s.deleted_at is null
         on conflict (id) do nothing`,
        [id, serviceId, events, payload, setAsideAt.toString(), dueAt.toString()],
      );
      await this.#session.sql.run(
        `delete from set_aside_events where id in (
           select id from set_aside_events where service_id = $1 order by set_aside_at desc, id offset $2)`,
        [serviceId, ROWS_OF_SERVICE_MAX],
      );
    }
  }

  /** The one that is due longest, put off until `nextAt`, so that a worker that dies over it leaves it for later. */
  async takeDue(now: Temporal.Instant, nextAt: Temporal.Instant): Promise<(SetAsideRow & { payload: Buffer }) | null> {
    const row = await this.#session.sql.row<SetAsideRow & { text: string }>(
      `update set_aside_events set tries = tries + 1, due_at = $2
       where id = (select id from set_aside_events where due_at <= $1 order by due_at limit 1 for update skip locked)
       returning ${COLUMNS}, encode(payload, 'base64') as text`,
      [now.toString(), nextAt.toString()],
    );
    if (row === null) return null;
    const { text, ...others } = row;
    return { ...others, payload: Buffer.from(text, 'base64') };
  }

  async remove(id: string): Promise<boolean> {
    return (await this.#session.sql.run('delete from set_aside_events where id = $1', [id])) > 0;
  }

  async removeBefore(setAsideAt: Temporal.Instant): Promise<readonly SetAsideRow[]> {
    return await this.#session.sql.rows<SetAsideRow>(
      `delete from set_aside_events where set_aside_at < $1 returning ${COLUMNS}`,
      [setAsideAt.toString()],
    );
  }

  /** Has them tried as soon as a worker looks. Null is all of them. Returns how many. */
  async retry(id: string | null, now: Temporal.Instant): Promise<number> {
    return await this.#session.sql.run('update set_aside_events set due_at = $2 where $1::text is null or id = $1', [
      id,
      now.toString(),
    ]);
  }

  /** The oldest first. */
  async list(limit: number): Promise<SetAsideRow[]> {
    return await this.#session.sql.rows<SetAsideRow>(
      `select ${COLUMNS} from set_aside_events order by set_aside_at, id limit $1`,
      [limit],
    );
  }

  /** Of one service, or of all. */
  async summary(serviceId: Id<'service'> | null): Promise<SetAsideSummary> {
    const row = await this.#session.sql.row<SetAsideSummary>(
      `select coalesce(sum(events), 0)::integer as events, min(set_aside_at) as since, min(due_at) as "nextTryAt"
       from set_aside_events where $1::text is null or service_id = $1`,
      [serviceId],
    );
    return row ?? { events: 0, since: null, nextTryAt: null };
  }
}
