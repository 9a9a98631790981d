import { type InferEntity, LockMode } from '@mikro-orm/postgresql';

import type { Override } from '#core/oncall/overrides.ts';
import type { Rotation } from '#core/oncall/rotation.ts';
import { notFound } from '#kernel/errors.ts';
import { type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';
import { ScheduleEntity, ScheduleOverrideEntity } from '#storage/postgres/entities/oncall.ts';
import { saveChanged } from '#storage/postgres/save_changed.ts';

export type ScheduleRow = InferEntity<typeof ScheduleEntity>;
export type ScheduleOverrideRow = InferEntity<typeof ScheduleOverrideEntity>;

export type NewSchedule = Pick<ScheduleRow, 'name' | 'timezone' | 'rotationType' | 'rotationConfig' | 'startAt'>;

export type NewOverride = Pick<ScheduleOverrideRow, 'userId' | 'startAt' | 'endAt'>;

/** An override with the schedule that it belongs to. */
export type OverrideOfSchedule = Override & { readonly scheduleId: Id<'schedule'> };

const SCHEDULE_COLUMNS = `id, org_id as "orgId", team_id as "teamId", name, timezone, rotation_type as "rotationType",
  rotation_config as "rotationConfig", start_at as "startAt", created_at as "createdAt", updated_at as "updatedAt"`;

/** The schedule as the rules of rotation see it. */
export function rotationOf(schedule: ScheduleRow): Rotation {
  const { timezone, rotationType, rotationConfig, startAt } = schedule;
  return {
    timezone,
    rotationType,
    userIds: rotationConfig.userIds,
    shiftHours: rotationConfig.shiftHours ?? null,
    startAt,
  };
}

/** Schedules of teams, and the overrides laid over them. */
export class ScheduleStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** The schedules of all the teams, oldest first. */
  async listOfTeams(orgId: Id<'org'>, teamIds: readonly Id<'team'>[]): Promise<ScheduleRow[]> {
    return await this.#session.sql.rows(
      `select ${SCHEDULE_COLUMNS} from schedules where org_id = $1 and team_id = any($2) order by id`,
      [orgId, [...teamIds]],
    );
  }

  /** Null when the organization has no such schedule. */
  async find(orgId: Id<'org'>, scheduleId: string): Promise<ScheduleRow | null> {
    return await this.#session.sql.row(`select ${SCHEDULE_COLUMNS} from schedules where org_id = $1 and id = $2`, [
      orgId,
      scheduleId,
    ]);
  }

  /** The organization of a schedule, for those who administer all of them; null when there is no such schedule. */
  async findOrganization(scheduleId: string): Promise<Id<'org'> | null> {
    const schedule = await this.#session.sql.row<{ orgId: Id<'org'> }>(
      'select org_id as "orgId" from schedules where id = $1',
      [scheduleId],
    );
    return schedule?.orgId ?? null;
  }

  /** Null when the organization has no such schedule. */
  async findTimezone(orgId: Id<'org'>, scheduleId: string): Promise<string | null> {
    const schedule = await this.#session.sql.row<{ timezone: string }>(
      'select timezone from schedules where org_id = $1 and id = $2',
      [orgId, scheduleId],
    );
    return schedule?.timezone ?? null;
  }

  /** Locked until the transaction ends. Throws `not_found` with the path of the field that named it. */
  async lock(orgId: Id<'org'>, scheduleId: string, path = 'scheduleId'): Promise<ScheduleRow> {
    const schedule = await this.#session.em.findOne(
      ScheduleEntity,
      { orgId, id: scheduleId as Id<'schedule'> },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    if (schedule === null) throw notFound(path, 'schedule');
    return schedule;
  }

  async save(schedule: ScheduleRow, now: Temporal.Instant): Promise<void> {
    await saveChanged(this.#session.em, schedule, now);
  }

  /** The caller holds the lock on the team. */
  async insert(
    team: { readonly orgId: Id<'org'>; readonly id: Id<'team'> },
    schedule: NewSchedule,
    now: Temporal.Instant,
  ): Promise<ScheduleRow> {
    const { em } = this.#session;
    const row = em.create(ScheduleEntity, {
      id: newId('schedule'),
      orgId: team.orgId,
      teamId: team.id,
      ...schedule,
      createdAt: now,
      updatedAt: now,
    });
    await em.persist(row).flush();
    return row;
  }

  /** Its overrides go with it. */
  async delete(schedule: ScheduleRow): Promise<void> {
    await this.#session.em.remove(schedule).flush();
  }

  /** The caller holds the lock on the schedule. */
  async insertOverride(
    schedule: ScheduleRow,
    override: NewOverride,
    now: Temporal.Instant,
  ): Promise<ScheduleOverrideRow> {
    const { em } = this.#session;
    const row = em.create(ScheduleOverrideEntity, {
      id: newId('override'),
      orgId: schedule.orgId,
      scheduleId: schedule.id,
      ...override,
      createdAt: now,
    });
    await em.persist(row).flush();
    return row;
  }

  /** Throws `not_found`. Resolves to what it was. */
  async deleteOverride(
    orgId: Id<'org'>,
    overrideId: string,
  ): Promise<Pick<ScheduleOverrideRow, 'id' | 'scheduleId' | 'userId' | 'startAt' | 'endAt'>> {
    const deleted = await this.#session.sql.row<ScheduleOverrideRow>(
      `delete from schedule_overrides where org_id = $1 and id = $2
       returning id, schedule_id as "scheduleId", user_id as "userId", start_at as "startAt", end_at as "endAt"`,
      [orgId, overrideId],
    );
    if (deleted === null) throw notFound('overrideId', 'override');
    return deleted;
  }

  /** The overrides of all the schedules that end after `after`, oldest first. */
  async listOverrides(
    orgId: Id<'org'>,
    scheduleIds: readonly Id<'schedule'>[],
    after: Temporal.Instant,
  ): Promise<OverrideOfSchedule[]> {
    return await this.#session.sql.rows(
      `select id as "overrideId", schedule_id as "scheduleId", user_id as "userId", start_at as "startAt",
         end_at as "endAt", created_at as "createdAt"
       from schedule_overrides where org_id = $1 and schedule_id = any($2) and end_at > $3 order by id`,
      [orgId, [...scheduleIds], after.toString()],
    );
  }
}
