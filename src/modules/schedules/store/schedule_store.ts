import { type InferEntity, LockMode } from '@mikro-orm/postgresql';
import { sql } from 'kysely';

import type { Override } from '#modules/schedules/decide/overrides.ts';
import type { Rotation } from '#modules/schedules/decide/rotation.ts';
import { EMPTY_ROTATION, isRotation, readRotation } from '#modules/schedules/decide/stored_rotation.ts';
import { notFound } from '#kernel/errors.ts';
import { asId, type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, columns, json } from '#storage/postgres/columns.ts';
import type { Session } from '#storage/postgres/database.ts';
import { ScheduleEntity, ScheduleOverrideEntity } from '#storage/postgres/entities/oncall.ts';
import { saveChanged } from '#storage/postgres/save_changed.ts';

/** `isUnreadable` where somebody wrote a rotation that cannot be read: then it has an empty one. */
export type ScheduleRow = InferEntity<typeof ScheduleEntity> & { readonly isUnreadable?: true };
export type ScheduleOverrideRow = InferEntity<typeof ScheduleOverrideEntity>;

export type NewSchedule = Pick<
  ScheduleRow,
  'name' | 'timezone' | 'rotationType' | 'rotationConfig' | 'startAt' | 'startWall'
>;

export type NewOverride = Pick<ScheduleOverrideRow, 'userId' | 'startAt' | 'endAt'>;

/** An override with the schedule that it belongs to. */
export type OverrideOfSchedule = Override & { readonly scheduleId: Id<'schedule'> };

/** The schedule as the rules of rotation see it. */
export function rotationOf(schedule: ScheduleRow): Rotation {
  return readRotation(schedule);
}

/** Filter of schedules: all of them, those of these teams, those of these ids. */
export interface ScheduleFilter {
  readonly teamIds?: readonly string[] | undefined;
  readonly scheduleIds?: readonly string[] | undefined;
}

/** Schedules of teams, and the overrides laid over them. */
export class ScheduleStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** The schedules of all the teams, oldest first. */
  async listOfTeams(orgId: Id<'org'>, teamIds: readonly Id<'team'>[]): Promise<ScheduleRow[]> {
    const schedules = await this.#session.db
      .selectFrom('schedules as s')
      .select(columns(ScheduleEntity, 's'))
      .where('s.org_id', '=', orgId)
      .where('s.team_id', '=', anyOf(teamIds))
      .orderBy('s.id')
      .execute();
    return schedules.map(readSchedule);
  }

  /** A part of the schedules, by the name of their team and then the oldest first. */
  async listPage(
    orgId: Id<'org'>,
    filter: ScheduleFilter,
    { offset, limit }: { readonly offset: number; readonly limit: number },
  ): Promise<(ScheduleRow & { readonly teamName: string })[]> {
    const page = await this.#found(orgId, filter)
      .innerJoin('teams as t', 't.id', 's.team_id')
      .select(columns(ScheduleEntity, 's'))
      .select('t.name as teamName')
      .orderBy(({ fn }) => fn('lower', ['t.name']))
      .orderBy('t.id')
      .orderBy('s.id')
      .offset(offset)
      .limit(limit)
      .execute();
    return page.map(readSchedule);
  }

  async count(orgId: Id<'org'>, filter: ScheduleFilter = {}): Promise<number> {
    const { count } = await this.#found(orgId, filter)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return count;
  }

  /**
   * Lists at most `limit` schedules that name the person in their rotation or in an override that ends after `after`,
   * oldest first.
   */
  async listNaming(
    orgId: Id<'org'>,
    userId: Id<'user'>,
    { after, limit = null }: { readonly after: Temporal.Instant; readonly limit?: number | null },
  ): Promise<ScheduleRow[]> {
    const naming = await this.#session.db
      .selectFrom('schedules as s')
      .select(columns(ScheduleEntity, 's'))
      .where('s.org_id', '=', orgId)
      .where(({ exists, or, ref, selectFrom }) => {
        const names = sql<boolean>`${ref('s.rotation_config')}::jsonb @> ${json({ userIds: [userId] })}::jsonb`;
        const override = selectFrom('schedule_overrides as o')
          .select('o.id')
          .whereRef('o.schedule_id', '=', 's.id')
          .where('o.user_id', '=', userId)
          .where('o.end_at', '>', after);
        return or([names, exists(override)]);
      })
      .orderBy('s.id')
      .limit(limit)
      .execute();
    return naming.map(readSchedule);
  }

  /** Null when the organization has no such schedule. */
  async find(orgId: Id<'org'>, scheduleId: string): Promise<ScheduleRow | null> {
    const schedule = await this.#session.db
      .selectFrom('schedules as s')
      .select(columns(ScheduleEntity, 's'))
      .where('s.org_id', '=', orgId)
      .where('s.id', '=', asId('schedule', scheduleId))
      .executeTakeFirst();
    return schedule === undefined ? null : readSchedule(schedule);
  }

  /** The organization of a schedule, for those who administer all of them; null when there is no such schedule. */
  async findOrganization(scheduleId: string): Promise<Id<'org'> | null> {
    const schedule = await this.#session.db
      .selectFrom('schedules')
      .select('org_id')
      .where('id', '=', asId('schedule', scheduleId))
      .executeTakeFirst();
    return schedule?.org_id ?? null;
  }

  /** Null when the organization has no such schedule. */
  async findTimezone(orgId: Id<'org'>, scheduleId: string): Promise<string | null> {
    const schedule = await this.#session.db
      .selectFrom('schedules')
      .select('timezone')
      .where('org_id', '=', orgId)
      .where('id', '=', asId('schedule', scheduleId))
      .executeTakeFirst();
    return schedule?.timezone ?? null;
  }

  /**
   * Returns the stored schedule, locked until the transaction ends. Throws `not_found` with the path of the field that
   * named it.
   */
  async lock(orgId: Id<'org'>, scheduleId: string, path = 'scheduleId'): Promise<ScheduleRow> {
    const schedule = await this.#session.em.findOne(
      ScheduleEntity,
      { orgId, id: asId('schedule', scheduleId) },
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

  /** Throws `not_found` with the path of the field that named it. Resolves to what it was. */
  async deleteOverride(
    orgId: Id<'org'>,
    overrideId: string,
    path = 'overrideId',
  ): Promise<Pick<ScheduleOverrideRow, 'id' | 'scheduleId' | 'userId' | 'startAt' | 'endAt'>> {
    const deleted = await this.#session.db
      .deleteFrom('schedule_overrides as o')
      .where('o.org_id', '=', orgId)
      .where('o.id', '=', asId('override', overrideId))
      .returning(columns(ScheduleOverrideEntity, 'o', ['id', 'scheduleId', 'userId', 'startAt', 'endAt']))
      .executeTakeFirst();
    if (deleted === undefined) throw notFound(path, 'override');
    return deleted;
  }

  /** The overrides of all the schedules that end after `after`, oldest first. */
  async listOverrides(
    orgId: Id<'org'>,
    scheduleIds: readonly Id<'schedule'>[],
    after: Temporal.Instant,
  ): Promise<OverrideOfSchedule[]> {
    return await this.#session.db
      .selectFrom('schedule_overrides as o')
      .select(columns(ScheduleOverrideEntity, 'o', ['scheduleId', 'userId', 'startAt', 'endAt', 'createdAt']))
      .select('o.id as overrideId')
      .where('o.org_id', '=', orgId)
      .where('o.schedule_id', '=', anyOf(scheduleIds))
      .where('o.end_at', '>', after)
      .orderBy('o.id')
      .execute();
  }

  #found(orgId: Id<'org'>, { teamIds, scheduleIds }: ScheduleFilter) {
    return this.#session.db
      .selectFrom('schedules as s')
      .where('s.org_id', '=', orgId)
      .$if(teamIds !== undefined, (query) =>
        query.where('s.team_id', '=', anyOf((teamIds ?? []).map((teamId) => asId('team', teamId)))),
      )
      .$if(scheduleIds !== undefined, (query) =>
        query.where('s.id', '=', anyOf((scheduleIds ?? []).map((scheduleId) => asId('schedule', scheduleId)))),
      );
  }
}

const EMPTY = { ...EMPTY_ROTATION, rotationConfig: { userIds: [] } };

/** Gives a row that is about to be changed a rotation that can be read. */
export function makeReadable(schedule: ScheduleRow): void {
  if (!isRotation(schedule)) Object.assign(schedule, EMPTY);
}

/** The row with a rotation that can be read. */
export function readSchedule<Row extends InferEntity<typeof ScheduleEntity>>(
  schedule: Row,
): Row & Pick<ScheduleRow, 'isUnreadable'> {
  return isRotation(schedule) ? schedule : { ...schedule, ...EMPTY, isUnreadable: true };
}
