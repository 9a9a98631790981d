import { type SessionOutcome, worseOutcome } from '#modules/exceptions/decide/sessions.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { columns, holdLocks, PostgresStore, type Row, rowsOf } from '#storage/postgres/store.ts';
import { SessionOutcomeEntity } from '#storage/postgres/entities/sent.ts';
import type { ReleaseSessions } from '#modules/services/store/ingest_counts.ts';

export type SessionOutcomeRow = Row<typeof SessionOutcomeEntity>;

/** Effect of a change of outcomes on the counts of releases. */
interface OutcomeChanges {
  /** Numbers to add to the counts; negative where a session turned out worse than it was counted. */
  readonly changes: readonly ReleaseSessions[];
  /** Services of outcomes beyond what is remembered of a service, once for each. */
  readonly left: readonly Id<'service'>[];
}

/** Sessions of a service that are remembered at a time. */
const REMEMBERED_MAX = 100_000;

/** Remembers the sessions that did not go well, so that each counts once. */
export class SessionOutcomeStore extends PostgresStore {
  /** Remembers what is told of each session, at most once in the list. Needs a transaction. */
  async record(outcomes: readonly SessionOutcomeRow[]): Promise<OutcomeChanges> {
    if (outcomes.length === 0) return { changes: [], left: [] };
    const serviceIds = [...new Set(outcomes.map(({ serviceId }) => serviceId))];
    await holdLocks(
      this.session,
      serviceIds.map((serviceId) => `session outcomes ${serviceId}`),
    );
    const earlier = await this.#find(outcomes);
    const room = await this.#roomOf(serviceIds);
    const [changes, rows, left] = [[] as ReleaseSessions[], [] as SessionOutcomeRow[], [] as Id<'service'>[]];
    for (const row of outcomes) {
      const before = earlier.get(keyOf(row));
      const outcome = worseOutcome(before?.outcome ?? null, row.outcome);
      if (outcome === before?.outcome) continue;
      const free = room.get(row.serviceId) ?? 0;
      if (before === undefined && free <= 0) {
        left.push(row.serviceId);
        continue;
      }
      if (before === undefined) room.set(row.serviceId, free - 1);
      else changes.push(changeOf(before, before.outcome, -1));
      const kept = { ...(before ?? row), outcome };
      changes.push(changeOf(kept, outcome, 1));
      rows.push(kept);
    }
    await this.#write(rows);
    return { changes, left };
  }

  /** Forgets sessions of hours that began before. */
  async removeBefore(before: Temporal.Instant): Promise<void> {
    await this.deleteFrom('session_outcomes').where('hour', '<', before).execute();
  }

  async #find(outcomes: readonly SessionOutcomeRow[]): Promise<ReadonlyMap<string, SessionOutcomeRow>> {
    const wanted = rowsOf('w', {
      service_id: ['text', outcomes.map(({ serviceId }) => serviceId)],
      session_id: ['text', outcomes.map(({ sessionId }) => sessionId)],
    });
    const rows = await this.selectFrom('session_outcomes as o')
      .innerJoin(wanted, (join) =>
        join.onRef('w.service_id', '=', 'o.service_id').onRef('w.session_id', '=', 'o.session_id'),
      )
      .select(columns(SessionOutcomeEntity, 'o'))
      .execute();
    return new Map(rows.map((row) => [keyOf(row), row]));
  }

  /** Returns how many more sessions may be remembered; a service that is gone is absent. */
  async #roomOf(serviceIds: readonly Id<'service'>[]): Promise<Map<Id<'service'>, number>> {
    const rows = await this.selectFrom('services as s')
      .select((eb) => [
        's.id',
        eb
          .selectFrom('session_outcomes as o')
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .whereRef('o.service_id', '=', 's.id')
          .as('remembered'),
      ])
      .where('s.id', 'in', serviceIds)
      .where('s.deleted_at', 'is', null)
      .execute();
    return new Map(rows.map(({ id, remembered }) => [id, REMEMBERED_MAX - Number(remembered)]));
  }

  async #write(rows: readonly SessionOutcomeRow[]): Promise<void> {
    if (rows.length === 0) return;
    const written = rowsOf('w', {
      service_id: ['text', rows.map(({ serviceId }) => serviceId)],
      session_id: ['text', rows.map(({ sessionId }) => sessionId)],
      outcome: ['text', rows.map(({ outcome }) => outcome)],
      release: ['text', rows.map(({ release }) => release)],
      environment: ['text', rows.map(({ environment }) => environment)],
      hour: ['timestamptz', rows.map(({ hour }) => hour)],
    });
    await this.insertInto('session_outcomes')
      .columns(['service_id', 'session_id', 'outcome', 'release', 'environment', 'hour'])
      .expression(({ selectFrom }) => selectFrom(written).selectAll('w'))
      .onConflict((conflict) =>
        conflict.columns(['service_id', 'session_id']).doUpdateSet((eb) => ({ outcome: eb.ref('excluded.outcome') })),
      )
      .execute();
  }
}

function keyOf({ serviceId, sessionId }: Pick<SessionOutcomeRow, 'serviceId' | 'sessionId'>): string {
  return `${serviceId} ${sessionId}`;
}

function changeOf(
  { serviceId, release, environment, hour }: SessionOutcomeRow,
  outcome: SessionOutcome,
  by: 1 | -1,
): ReleaseSessions {
  const none = { sessions: 0, errored: 0, crashed: 0, abnormal: 0 };
  return { serviceId, release, environment, hour, ...none, [outcome]: by };
}
