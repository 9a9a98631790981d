import { areConditions } from '#modules/alerts/decide/route.ts';
import { unreadableSettings as unreadableOfSource } from '#modules/alerts/decide/source_settings.ts';
import { unreadableSettings } from '#modules/exceptions/decide/inbound_filters.ts';
import { areSteps, readDetails } from '#modules/policies/decide/stored_steps.ts';
import { areLayers, isRotation } from '#modules/schedules/decide/stored_layers.ts';
import { areDates } from '#modules/schedules/decide/ics_dates.ts';
import { arePublished } from '#modules/status_pages/decide/publication.ts';
import type { UnreadableKind } from '#modules/unreadable_rows/decide/unreadable_kinds.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';
import { anyOf, columns, PostgresStore, type Row, toColumns } from '#storage/postgres/store.ts';
import { UnreadableRowEntity } from '#storage/postgres/entities/configuration.ts';

export type UnreadableRow = Row<typeof UnreadableRowEntity>;

/** A stored row as a scan sees it. */
interface ScannedRow extends Pick<UnreadableRow, 'orgId' | 'rowId' | 'name'> {
  readonly isReadable: boolean;
}

/** Stored rows that cannot be read. Each is left out where it stands, and no other row with it. */
export class UnreadableRowStore extends PostgresStore {
  /** Lists rows of a kind by id, from the one after `after` on. */
  async scan(kind: UnreadableKind, after: string, limit: number): Promise<ScannedRow[]> {
    return await SCANS[kind](this.db, after, limit);
  }

  /** Notes rows; those that are noted already keep since when, and whether their owners were told. */
  async note(kind: UnreadableKind, rows: readonly ScannedRow[], now: Temporal.Instant): Promise<void> {
    if (rows.length === 0) return;
    const noted = rows.map(({ orgId, rowId, name }) =>
      toColumns(UnreadableRowEntity, { kind, orgId, rowId, name, since: now, seenAt: now, toldAt: null }),
    );
    await this.insertInto('unreadable_rows')
      .values(noted)
      .onConflict((conflict) => conflict.columns(['kind', 'row_id']).doUpdateSet({ seen_at: now }))
      .execute();
  }

  /** Forgets rows of a kind that the last scan has not seen: they can be read, or are gone. */
  async forget(kind: UnreadableKind, before: Temporal.Instant): Promise<void> {
    await this.deleteFrom('unreadable_rows').where('kind', '=', kind).where('seen_at', '<', before).execute();
  }

  /** Lists rows of an organization, those that were noted last first. */
  async list(orgId: Id<'org'>, limit: number): Promise<UnreadableRow[]> {
    return await this.selectFrom('unreadable_rows as u')
      .select(columns(UnreadableRowEntity, 'u'))
      .where('u.org_id', '=', orgId)
      .orderBy('u.since', 'desc')
      .orderBy('u.row_id')
      .limit(limit)
      .execute();
  }

  /** Lists organizations whose owners were not told of a row, and of none since `before`. */
  async listToTell(before: Temporal.Instant): Promise<Id<'org'>[]> {
    const rows = await this.selectFrom('unreadable_rows as u')
      .select('u.org_id')
      .groupBy('u.org_id')
      .having(({ fn, or, eb }) => or([eb(fn.max('u.told_at'), 'is', null), eb(fn.max('u.told_at'), '<', before)]))
      .having(({ fn, eb }) => eb(fn.count('u.told_at'), '<', fn.countAll()))
      .execute();
    return rows.map(({ org_id: orgId }) => orgId);
  }

  async setTold(orgIds: readonly Id<'org'>[], now: Temporal.Instant): Promise<void> {
    await this.updateTable('unreadable_rows')
      .set({ told_at: now })
      .where('org_id', '=', anyOf(orgIds))
      .where('told_at', 'is', null)
      .execute();
  }
}

type Scan = (db: Session['db'], after: string, limit: number) => Promise<ScannedRow[]>;

const SCANS: Readonly<Record<UnreadableKind, Scan>> = {
  policy: async (db, after, limit) => {
    const rows = await db
      .selectFrom('escalation_policies')
      .select(['id as rowId', 'org_id as orgId', 'name', 'steps', 'details'])
      .where('id', '>', after as Id<'policy'>)
      .orderBy('id')
      .limit(limit)
      .execute();
    return rows.map(({ steps, details, ...row }) => {
      return { ...row, isReadable: areSteps(steps) && (details === null || readDetails(details) !== null) };
    });
  },
  schedule: async (db, after, limit) => {
    const rows = await db
      .selectFrom('schedules')
      .select(['id as rowId', 'org_id as orgId', 'name', 'timezone', 'layers'])
      .select(['rotation_type as rotationType', 'rotation_config as rotationConfig'])
      .select(['start_at as startAt', 'start_wall as startWall'])
      .where('id', '>', after as Id<'schedule'>)
      .orderBy('id')
      .limit(limit)
      .execute();
    return rows.map(({ rowId, orgId, name, layers, ...rotation }) => {
      return { rowId, orgId, name, isReadable: isRotation(rotation) && areLayers(layers) };
    });
  },
  holiday_calendar: async (db, after, limit) => {
    const rows = await db
      .selectFrom('holiday_calendars')
      .select(['id as rowId', 'org_id as orgId', 'name', 'dates'])
      .where('id', '>', after as Id<'calendar'>)
      .orderBy('id')
      .limit(limit)
      .execute();
    return rows.map(({ dates, ...row }) => ({ ...row, isReadable: areDates(dates) }));
  },
  alert_source: async (db, after, limit) => {
    const rows = await db
      .selectFrom('alert_sources as a')
      .innerJoin('services as s', 's.id', 'a.service_id')
      .select(['a.id as rowId', 'a.org_id as orgId', 'a.name as source', 'a.protocol', 'a.settings', 's.name'])
      .where('a.id', '>', after as Id<'alertsource'>)
      .where('s.deleted_at', 'is', null)
      .orderBy('a.id')
      .limit(limit)
      .execute();
    return rows.map(({ rowId, orgId, source, protocol, settings, name }) => {
      const isReadable = isObject(settings) && unreadableOfSource(settings).length === 0;
      return { rowId, orgId, name: `${source === '' ? protocol : source} (${name})`, isReadable };
    });
  },
  alert_route: async (db, after, limit) => {
    const rows = await db
      .selectFrom('alert_routes as r')
      .innerJoin('services as s', 's.id', 'r.service_id')
      .select(['r.id as rowId', 'r.org_id as orgId', 'r.conditions', 's.name'])
      .where('r.id', '>', after as Id<'alertroute'>)
      .where('s.deleted_at', 'is', null)
      .orderBy('r.id')
      .limit(limit)
      .execute();
    return rows.map(({ conditions, ...row }) => ({ ...row, isReadable: areConditions(conditions) }));
  },
  exception_settings: async (db, after, limit) => {
    const rows = await db
      .selectFrom('exception_settings as x')
      .innerJoin('services as s', 's.id', 'x.service_id')
      .select(['x.service_id as rowId', 's.org_id as orgId', 's.name'])
      .select(['x.filters', 'x.patterns', 'x.secret_names as secretNames', 'x.assignment_rules as assignmentRules'])
      .where('x.service_id', '>', after as Id<'service'>)
      .where('s.deleted_at', 'is', null)
      .orderBy('x.service_id')
      .limit(limit)
      .execute();
    return rows.map(({ rowId, orgId, name, ...settings }) => {
      return { rowId, orgId, name, isReadable: unreadableSettings(settings).length === 0 };
    });
  },
  status_publication: async (db, after, limit) => {
    const rows = await db
      .selectFrom('status_publications')
      .select(['id as rowId', 'org_id as orgId', 'title as name', 'service_ids as serviceIds'])
      .where('id', '>', after as Id<'publication'>)
      .orderBy('id')
      .limit(limit)
      .execute();
    return rows.map(({ serviceIds, ...row }) => ({ ...row, isReadable: arePublished(serviceIds) }));
  },
};

function isObject(stored: unknown): stored is object {
  return typeof stored === 'object' && stored !== null && !Array.isArray(stored);
}
