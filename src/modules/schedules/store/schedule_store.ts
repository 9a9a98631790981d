import { type InferEntity, LockMode } from '@mikro-orm/postgresql';
import { sql } from 'kysely';

import type { Override } from '#modules/schedules/decide/overrides.ts';
import { notFound } from '#kernel/errors.ts';
import { asId, type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { ZoneClock } from '#kernel/zone_clock.ts';
import type { LayeredSchedule } from '#modules/schedules/decide/layered_shifts.ts';
import { areLayers, EMPTY_ROTATION, isRotation, readLayers } from '#modules/schedules/decide/stored_layers.ts';
import { anyOf, columns, json, PostgresStore, rowsChanged } from '#storage/postgres/store.ts';
import { ScheduleEntity, ScheduleOverrideEntity } from '#storage/postgres/entities/oncall.ts';
import { saveChanged } from '#storage/postgres/save_changed.ts';

/** `isUnreadable` where somebody wrote a rotation that cannot be read: then it has an empty one. */
export type ScheduleRow = InferEntity<typeof ScheduleEntity> & { readonly isUnreadable?: true };
export type ScheduleOverrideRow = InferEntity<typeof ScheduleOverrideEntity>;

export type NewSchedule = Pick<
  ScheduleRow,
  'name' | 'timezone' | 'rotationType' | 'rotationConfig' | 'startAt' | 'startWall'
> &
  Partial<Pick<ScheduleRow, 'layers'>>;

export type NewOverride = Pick<ScheduleOverrideRow, 'userId' | 'startAt' | 'endAt'> &
  Partial<Pick<ScheduleOverrideRow, 'layerId'>>;

export type OverrideOfSchedule = Override & { readonly scheduleId: Id<'schedule'> };

/** The schedule as the decisions about who is on call see it. */
export function layeredOf(
  schedule: ScheduleRow,
  overrides: readonly Override[] = [],
  holidays: LayeredSchedule['holidays'] = new Map(),
  clock: ZoneClock = new ZoneClock(schedule.timezone),
): LayeredSchedule {
  return { timeZone: schedule.timezone, clock, layers: readLayers(schedule), overrides, holidays };
}

/** Person in a layer of a schedule, or in an override of it that ends after a time. */
interface NamedPerson {
  readonly userId: string;
  readonly after: Temporal.Instant;
}

/** Filter of schedules: all of them, those of these teams, of these ids, or that name this person. */
export interface ScheduleFilter {
  readonly naming?: NamedPerson | undefined;
  readonly teamIds?: readonly string[] | undefined;
  readonly scheduleIds?: readonly string[] | undefined;
}

/** Schedules of teams, and the overrides laid over them. */
export class ScheduleStore extends PostgresStore {
  /** The schedules of all the teams, oldest first. */
  async listOfTeams(orgId: Id<'org'>, teamIds: readonly Id<'team'>[]): Promise<ScheduleRow[]> {
    const schedules = await this.selectFrom('schedules as s')
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
    const page = await this.#matching(orgId, filter)
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

  /** Lists schedules of all organizations, in the order of their ids; null for the first. */
  async listAllAfter(after: Id<'schedule'> | null, limit: number): Promise<ScheduleRow[]> {
    const schedules = await this.selectFrom('schedules as s')
      .select(columns(ScheduleEntity, 's'))
      .$if(after !== null, (query) => query.where('s.id', '>', after ?? asId('schedule', '')))
      .orderBy('s.id')
      .limit(limit)
      .execute();
    return schedules.map(readSchedule);
  }

  async count(orgId: Id<'org'>, filter: ScheduleFilter = {}): Promise<number> {
    const { count } = await this.#matching(orgId, filter)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return count;
  }

  /**
   * Lists at most `limit` schedules that name the person in a layer or in an override that ends after `after`, oldest
   * first.
   */
  async listNaming(
    orgId: Id<'org'>,
    userId: Id<'user'>,
    { after, limit = null }: { readonly after: Temporal.Instant; readonly limit?: number | null },
  ): Promise<ScheduleRow[]> {
    const naming = await this.#matching(orgId, { naming: { userId, after } })
      .select(columns(ScheduleEntity, 's'))
      .orderBy('s.id')
      .limit(limit)
      .execute();
    return naming.map(readSchedule);
  }

  /** Null when the organization has no such schedule. */
  async find(orgId: Id<'org'>, scheduleId: string): Promise<ScheduleRow | null> {
    const schedule = await this.selectFrom('schedules as s')
      .select(columns(ScheduleEntity, 's'))
      .where('s.org_id', '=', orgId)
      .where('s.id', '=', asId('schedule', scheduleId))
      .executeTakeFirst();
    return schedule === undefined ? null : readSchedule(schedule);
  }

  /** The organization of a schedule, for those who administer all of them; null when there is no such schedule. */
  async findOrganization(scheduleId: string): Promise<Id<'org'> | null> {
    const schedule = await this.selectFrom('schedules')
      .select('org_id')
      .where('id', '=', asId('schedule', scheduleId))
      .executeTakeFirst();
    return schedule?.org_id ?? null;
  }

  /** Null when the organization has no such schedule. */
  async findTimezone(orgId: Id<'org'>, scheduleId: string): Promise<string | null> {
    const schedule = await this.selectFrom('schedules')
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
    const schedule = await this.em.findOne(
      ScheduleEntity,
      { orgId, id: asId('schedule', scheduleId) },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    if (schedule === null) throw notFound(path, 'schedule');
    return schedule;
  }

  async save(schedule: ScheduleRow, now: Temporal.Instant): Promise<void> {
    await saveChanged(this.em, schedule, now);
  }

  /** The caller holds the lock on the team. */
  async insert(
    team: { readonly orgId: Id<'org'>; readonly id: Id<'team'> },
    schedule: NewSchedule,
    now: Temporal.Instant,
  ): Promise<ScheduleRow> {
    const { em } = this.session;
    const row = em.create(ScheduleEntity, {
      id: newId('schedule'),
      orgId: team.orgId,
      teamId: team.id,
      layers: null,
      ...schedule,
      createdAt: now,
      updatedAt: now,
    });
    await em.persist(row).flush();
    return row;
  }

  /** Its overrides go with it. */
  async delete(schedule: ScheduleRow): Promise<void> {
    await this.em.remove(schedule).flush();
  }

  /** The caller holds the lock on the schedule. */
  async insertOverride(
    schedule: ScheduleRow,
    override: NewOverride,
    now: Temporal.Instant,
  ): Promise<ScheduleOverrideRow> {
    const { em } = this.session;
    const row = em.create(ScheduleOverrideEntity, {
      id: newId('override'),
      orgId: schedule.orgId,
      scheduleId: schedule.id,
      layerId: null,
      ...override,
      createdAt: now,
    });
    await em.persist(row).flush();
    return row;
  }

  /** Removes the overrides for layers that are none of these. Resolves to how many; the caller holds the lock. */
  async deleteOverridesOfOtherLayers(schedule: ScheduleRow, layerIds: readonly string[]): Promise<number> {
    const deleted = await this.deleteFrom('schedule_overrides')
      .where('org_id', '=', schedule.orgId)
      .where('schedule_id', '=', schedule.id)
      .where('layer_id', 'is not', null)
      .where('layer_id', '<>', ({ fn, val }) => fn<string>('all', [val([...layerIds])]))
      .execute();
    return rowsChanged(deleted);
  }

  /** Throws `not_found` with the path of the field that named it. */
  async getOverride(
    orgId: Id<'org'>,
    overrideId: string,
    path = 'overrideId',
  ): Promise<Pick<ScheduleOverrideRow, 'scheduleId' | 'startAt' | 'endAt'>> {
    return await this.selectFrom('schedule_overrides as o')
      .select(columns(ScheduleOverrideEntity, 'o', ['scheduleId', 'startAt', 'endAt']))
      .where('o.org_id', '=', orgId)
      .where('o.id', '=', asId('override', overrideId))
      .executeTakeFirstOrThrow(() => notFound(path, 'override'));
  }

  /** Throws `not_found` with the path of the field that named it. Resolves to what it was. */
  async deleteOverride(
    orgId: Id<'org'>,
    overrideId: string,
    path = 'overrideId',
  ): Promise<Pick<ScheduleOverrideRow, 'id' | 'scheduleId' | 'layerId' | 'userId' | 'startAt' | 'endAt'>> {
    return await this.deleteFrom('schedule_overrides as o')
      .where('o.org_id', '=', orgId)
      .where('o.id', '=', asId('override', overrideId))
      .returning(columns(ScheduleOverrideEntity, 'o', ['id', 'scheduleId', 'layerId', 'userId', 'startAt', 'endAt']))
      .executeTakeFirstOrThrow(() => notFound(path, 'override'));
  }

  /** The overrides of all the schedules that end after `after`, oldest first. */
  async listOverrides(
    orgId: Id<'org'>,
    scheduleIds: readonly Id<'schedule'>[],
    after: Temporal.Instant,
  ): Promise<OverrideOfSchedule[]> {
    return await this.selectFrom('schedule_overrides as o')
      .select(
        columns(ScheduleOverrideEntity, 'o', ['scheduleId', 'layerId', 'userId', 'startAt', 'endAt', 'createdAt']),
      )
      .select('o.id as overrideId')
      .where('o.org_id', '=', orgId)
      .where('o.schedule_id', '=', anyOf(scheduleIds))
      .where('o.end_at', '>', after)
      .orderBy('o.id')
      .execute();
  }

  #matching(orgId: Id<'org'>, { naming, teamIds, scheduleIds }: ScheduleFilter) {
    return this.selectFrom('schedules as s')
      .where('s.org_id', '=', orgId)
      .$if(naming !== undefined, (query) =>
        query.where(({ exists, lit, or, ref, selectFrom }) => {
          if (naming === undefined) return lit(true);
          const { userId, after } = naming;
          const names = sql<boolean>`${ref('s.rotation_config')}::jsonb @> ${json({ userIds: [userId] })}::jsonb`;
          const override = selectFrom('schedule_overrides as o')
            .select('o.id')
            .whereRef('o.schedule_id', '=', 's.id')
            .where('o.user_id', '=', asId('user', userId))
            .where('o.end_at', '>', after);
          const layer = sql<boolean>`${ref('s.layers')}::jsonb @> ${json([{ turns: [{ userIds: [userId] }] }])}::jsonb`;
          const carried = sql<boolean>`${ref('s.layers')}::jsonb @> ${json([{ carried: { userIds: [userId] } }])}::jsonb`;
          return or([names, layer, carried, exists(override)]);
        }),
      )
      .$if(teamIds !== undefined, (query) =>
        query.where('s.team_id', '=', anyOf((teamIds ?? []).map((teamId) => asId('team', teamId)))),
      )
      .$if(scheduleIds !== undefined, (query) =>
        query.where('s.id', '=', anyOf((scheduleIds ?? []).map((scheduleId) => asId('schedule', scheduleId)))),
      );
  }
}

const EMPTY = { ...EMPTY_ROTATION, rotationConfig: { userIds: [] } };

/** Gives a row that is about to be changed a rotation and layers that can be read. */
export function makeReadable(schedule: ScheduleRow): void {
  if (!isRotation(schedule)) Object.assign(schedule, EMPTY);
  if (!areLayers(schedule.layers)) schedule.layers = null;
}

/** The row with a rotation and layers that can be read. */
export function readSchedule<Row extends InferEntity<typeof ScheduleEntity>>(
  schedule: Row,
): Row & Pick<ScheduleRow, 'isUnreadable'> {
  if (!isRotation(schedule)) return { ...schedule, ...EMPTY, layers: null, isUnreadable: true };
  return areLayers(schedule.layers) ? schedule : { ...schedule, layers: null, isUnreadable: true };
}
