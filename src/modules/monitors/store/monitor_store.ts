import { MONITORS_MAX, mayCreateByDsn, type RunStatus } from '#modules/monitors/decide/check_in.ts';
import { type LastRuns, type MonitorState, NEW_MONITOR } from '#modules/monitors/decide/monitor.ts';
import type { MonitorSchedule } from '#modules/monitors/decide/schedule.ts';
import { notFound } from '#kernel/errors.ts';
import { asId, type Id, newId } from '#kernel/ids.ts';
import { isAtOrBefore, type Temporal } from '#kernel/time.ts';
import { anyOf, columns, holdLock, PostgresStore, type Row, rowsChanged, toColumns } from '#storage/postgres/store.ts';
import { MonitorEntity, MonitorRunEntity } from '#storage/postgres/entities/monitors.ts';

export type MonitorRow = Row<typeof MonitorEntity>;
export type MonitorRun = Row<typeof MonitorRunEntity>;

interface MonitorName {
  readonly orgId: Id<'org'>;
  readonly serviceId: Id<'service'>;
  readonly slug: string;
  readonly environment: string;
}

/** Check-in for which a monitor may be created. */
interface Creation {
  readonly byKey: boolean;
  readonly schedule: MonitorSchedule | null;
  onReplaced(monitorId: Id<'monitor'>): Promise<void>;
}

/** Runs of a monitor that are kept; those that have not ended are besides. */
const KEPT_RUNS = 100;

/** Cron monitors and their runs. A change of one locks its row first. */
export class MonitorStore extends PostgresStore {
  /**
   * Locks the monitor until the transaction ends, and creates it if it is new. The DSN creates few within an hour; a monitor
   * that comes with the ingestion key takes the place of the oldest that nobody keeps, of which `onReplaced` is told.
   * `schedule` is that of the check-in.
   */
  async lockOrCreate(
    name: MonitorName,
    { byKey, schedule, onReplaced }: Creation,
    now: Temporal.Instant,
  ): Promise<MonitorRow | 'too_many_monitors' | 'too_many_new_monitors'> {
    const existing = await this.#lockNamed(name);
    if (existing !== null) return existing;
    const { db } = this;
    await holdLock(this.session, `new monitors ${name.serviceId}`);
    const others = await db
      .selectFrom('monitors')
      .select(['id', 'is_kept', 'schedule', 'created_at'])
      .where('service_id', '=', name.serviceId)
      .orderBy('created_at')
      .orderBy('id')
      .limit(MONITORS_MAX)
      .execute();
    const replaceable = others.filter((monitor) => !monitor.is_kept);
    if (others.length >= MONITORS_MAX) {
      const [oldest] = replaceable;
      if (!byKey || oldest === undefined) return 'too_many_monitors';
      await this.delete(oldest.id);
      await onReplaced(oldest.id);
    }
    const since = now.subtract({ hours: 1 });
    const recent = replaceable.filter((monitor) => isAtOrBefore(since, monitor.created_at));
    const schedules = recent.map((monitor) => monitor.schedule);
    if (!byKey && !mayCreateByDsn(schedules, schedule)) return 'too_many_new_monitors';
    const state = { ...NEW_MONITOR, isKept: byKey, createdAt: now, updatedAt: now };
    const made = { id: newId('monitor'), ...name, ...state };
    await db
      .insertInto('monitors')
      .values(toColumns(MonitorEntity, made))
      .onConflict((conflict) => conflict.columns(['service_id', 'slug', 'environment']).doNothing())
      .execute();
    const row = await this.#lockNamed(name);
    if (row === null) throw new Error('a monitor that was just made is there');
    return row;
  }

  async #lockNamed({ serviceId, slug, environment }: MonitorName): Promise<MonitorRow | null> {
    const row = await this.selectFrom('monitors as m')
      .select(columns(MonitorEntity, 'm'))
      .where('m.service_id', '=', serviceId)
      .where('m.slug', '=', slug)
      .where('m.environment', '=', environment)
      .forUpdate()
      .executeTakeFirst();
    return row ?? null;
  }

  /** Locked until the transaction ends; null when it is gone, or another process has it. */
  async lockFree(monitorId: Id<'monitor'>): Promise<MonitorRow | null> {
    const row = await this.selectFrom('monitors as m')
      .select(columns(MonitorEntity, 'm'))
      .where('m.id', '=', monitorId)
      .forUpdate()
      .skipLocked()
      .executeTakeFirst();
    return row ?? null;
  }

  /** Locked until the transaction ends. Throws `not_found`. */
  async lock(orgId: Id<'org'>, monitorId: string): Promise<MonitorRow> {
    return await this.selectFrom('monitors as m')
      .select(columns(MonitorEntity, 'm'))
      .where('m.org_id', '=', orgId)
      .where('m.id', '=', asId('monitor', monitorId))
      .forUpdate()
      .executeTakeFirstOrThrow(() => notFound('monitorId', 'cron monitor'));
  }

  async save(
    monitorId: Id<'monitor'>,
    state: MonitorState,
    overdueFrom: Temporal.Instant | null,
    now: Temporal.Instant,
  ): Promise<void> {
    const { schedule, marginMinutes, runtimeMinutes, failureThreshold, recoveryThreshold } = state;
    const { isFailing, failures, successes, nextDueAt, editedConfig, sentConfig } = state;
    const expected = { schedule, marginMinutes, runtimeMinutes, failureThreshold, recoveryThreshold };
    const config = { ...expected, editedConfig, sentConfig };
    const values = { ...config, isFailing, failures, successes, nextDueAt, overdueFrom, updatedAt: now };
    await this.updateTable('monitors').set(toColumns(MonitorEntity, values)).where('id', '=', monitorId).execute();
  }

  /** Marks the monitor as kept: from now on no other takes its place. */
  async keep(monitorId: Id<'monitor'>): Promise<void> {
    await this.updateTable('monitors').set({ is_kept: true }).where('id', '=', monitorId).execute();
  }

  async setKeyOnly(monitorId: Id<'monitor'>, keyOnly: boolean, now: Temporal.Instant): Promise<void> {
    await this.updateTable('monitors')
      .set({ key_only: keyOnly, is_kept: true, updated_at: now })
      .where('id', '=', monitorId)
      .execute();
  }

  async setMuted(monitorId: Id<'monitor'>, isMuted: boolean, now: Temporal.Instant): Promise<void> {
    await this.updateTable('monitors')
      .set({ is_muted: isMuted, is_kept: true, updated_at: now })
      .where('id', '=', monitorId)
      .execute();
  }

  async delete(monitorId: Id<'monitor'>): Promise<void> {
    await this.deleteFrom('monitors').where('id', '=', monitorId).execute();
  }

  /**
   * Lists monitors that are due to be checked by now, the organizations in turn, of each the longest overdue first. Left
   * out are those of which a check-in waits: it may say otherwise.
   */
  async listOverdue(now: Temporal.Instant, limit: number): Promise<Id<'monitor'>[]> {
    const overdue = this.selectFrom('monitors as m')
      .select(['m.id', 'm.overdue_from'])
      .select(({ fn }) =>
        fn
          .agg<number>('row_number')
          .over((over) => over.partitionBy('m.org_id').orderBy('m.overdue_from').orderBy('m.id'))
          .as('turn'),
      )
      .where('m.overdue_from', '<=', now)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('check_ins as c')
              .select('c.number')
              .whereRef('c.service_id', '=', 'm.service_id')
              .whereRef('c.slug', '=', 'm.slug')
              .whereRef('c.environment', '=', 'm.environment'),
          ),
        ),
      );
    const rows = await this.selectFrom(overdue.as('o'))
      .select('o.id')
      .orderBy('o.turn')
      .orderBy('o.overdue_from')
      .orderBy('o.id')
      .limit(limit)
      .execute();
    return rows.map(({ id }) => id);
  }

  /** Lists monitors of all environments, failing ones first, then by name. */
  async list(serviceId: Id<'service'>): Promise<MonitorRow[]> {
    return await this.selectFrom('monitors as m')
      .select(columns(MonitorEntity, 'm'))
      .where('m.service_id', '=', serviceId)
      .orderBy('m.is_failing', 'desc')
      .orderBy('m.slug')
      .orderBy('m.environment')
      .limit(MONITORS_MAX)
      .execute();
  }

  /** Lists the newest runs of each monitor, newest first. */
  async listRuns(monitorIds: readonly Id<'monitor'>[], limit: number): Promise<MonitorRun[]> {
    return await this.selectFrom((eb) =>
      eb
        .selectFrom('monitor_runs as r')
        .select(columns(MonitorRunEntity, 'r'))
        .select(({ fn }) =>
          fn
            .agg<number>('row_number')
            .over((over) => over.partitionBy('r.monitor_id').orderBy('r.started_at', 'desc').orderBy('r.run_id'))
            .as('rank'),
        )
        .where('r.monitor_id', '=', anyOf(monitorIds))
        .as('w'),
    )
      .select(['monitorId', 'runId', 'status', 'startedAt', 'endedAt', 'timeoutAt', 'release'])
      .where('rank', '<=', limit)
      .orderBy('monitorId')
      .orderBy('rank')
      .execute();
  }

  async findRun(monitorId: Id<'monitor'>, runId: string): Promise<MonitorRun | null> {
    const run = await this.selectFrom('monitor_runs as r')
      .select(columns(MonitorRunEntity, 'r'))
      .where('r.monitor_id', '=', monitorId)
      .where('r.run_id', '=', runId)
      .executeTakeFirst();
    return run ?? null;
  }

  /** Returns the environment in which a run of a job goes on, or was given up; null if there is none under this id. */
  async findEnvironment(job: Pick<MonitorName, 'serviceId' | 'slug'>, runId: string): Promise<string | null> {
    const monitor = await this.selectFrom('monitors as m')
      .innerJoin('monitor_runs as r', 'r.monitor_id', 'm.id')
      .select('m.environment')
      .where('m.service_id', '=', job.serviceId)
      .where('m.slug', '=', job.slug)
      .where('r.run_id', '=', runId)
      .where('r.status', 'in', ['in_progress', 'timeout'])
      // One that goes on counts first.
      .orderBy('r.status')
      .orderBy('r.started_at', 'desc')
      .limit(1)
      .executeTakeFirst();
    return monitor?.environment ?? null;
  }

  /** Lists runs that have begun and not ended, newest first. */
  async listRunning(monitorId: Id<'monitor'>): Promise<MonitorRun[]> {
    return await this.selectFrom('monitor_runs as r')
      .select(columns(MonitorRunEntity, 'r'))
      .where('r.monitor_id', '=', monitorId)
      .where('r.timeout_at', 'is not', null)
      .orderBy('r.started_at', 'desc')
      .orderBy('r.run_id')
      .execute();
  }

  async findLastRuns(monitorId: Id<'monitor'>): Promise<LastRuns> {
    return await this.selectFrom('monitor_runs')
      .select(({ fn }) => [
        fn.agg<Temporal.Instant | null>('max', ['started_at']).filterWhere('status', '=', 'missed').as('missedAt'),
        fn.agg<Temporal.Instant | null>('max', ['started_at']).filterWhere('status', '<>', 'missed').as('begunAt'),
      ])
      .where('monitor_id', '=', monitorId)
      .executeTakeFirstOrThrow();
  }

  async saveRun(run: MonitorRun): Promise<void> {
    const { status, startedAt, endedAt, timeoutAt } = run;
    await this.insertInto('monitor_runs')
      .values(toColumns(MonitorRunEntity, run))
      .onConflict((conflict) =>
        conflict
          .columns(['monitor_id', 'run_id'])
          .doUpdateSet(toColumns(MonitorRunEntity, { status, startedAt, endedAt, timeoutAt })),
      )
      .execute();
  }

  /** Runs that have taken too long are over. */
  async endTimedOut(monitorId: Id<'monitor'>, now: Temporal.Instant): Promise<void> {
    const status: RunStatus = 'timeout';
    await this.updateTable('monitor_runs')
      .set({ status, ended_at: now, timeout_at: null })
      .where('monitor_id', '=', monitorId)
      .where('timeout_at', '<=', now)
      .execute();
  }

  /** Removes all but the newest of the runs that have ended; returns how many. */
  async pruneRuns(monitorId: Id<'monitor'>): Promise<number> {
    const removed = await this.deleteFrom('monitor_runs')
      .where('monitor_id', '=', monitorId)
      .where('timeout_at', 'is', null)
      .where('run_id', 'in', (eb) =>
        eb
          .selectFrom('monitor_runs as r')
          .select('r.run_id')
          .where('r.monitor_id', '=', monitorId)
          .where('r.timeout_at', 'is', null)
          .orderBy('r.started_at', 'desc')
          .orderBy('r.run_id')
          .offset(KEPT_RUNS),
      )
      .execute();
    return rowsChanged(removed);
  }

  /**
   * Notes that somebody looks now for what is overdue, and returns since when that has been so: a gap of more than
   * `gapSeconds` begins anew.
   */
  async watch(now: Temporal.Instant, gapSeconds: number): Promise<Temporal.Instant> {
    const gapBegan = now.subtract({ seconds: gapSeconds });
    const row = await this.insertInto('monitor_watch')
      .values({ id: true, since: now, seen_at: now })
      .onConflict((conflict) =>
        conflict
          .column('id')
          .doUpdateSet((eb) => ({
            since: eb
              .case()
              .when('monitor_watch.seen_at', '<', gapBegan)
              .then(now)
              .else(eb.ref('monitor_watch.since'))
              .end(),
            seen_at: now,
          })),
      )
      .returning('since')
      .executeTakeFirstOrThrow();
    return row.since;
  }
}
