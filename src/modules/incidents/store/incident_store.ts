import { type Expression, type ExpressionBuilder, sql } from 'kysely';

import type { IncidentActor, IncidentStatus } from '#modules/incidents/decide/incident.ts';
import { firstStepIndex, type PlannedStep } from '#modules/policies/decide/escalation.ts';
import { notFound } from '#kernel/errors.ts';
import { asId, type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { currentSpan } from '#kernel/tracing.ts';
import type { Session } from '#storage/postgres/database.ts';
import {
  allBut,
  anyOf,
  columns,
  daysBefore,
  holdLock,
  insertSlices,
  json,
  PostgresStore,
  prepared,
  type Row,
  rowsChanged,
  rowsOf,
  toColumns,
  type Values,
} from '#storage/postgres/store.ts';
import { IncidentEntity } from '#storage/postgres/entities/incidents.ts';
import { isUniqueViolation } from '#storage/postgres/faults.ts';
import type { Tables } from '#storage/postgres/tables.ts';

const INCIDENT = columns(IncidentEntity, 'i', allBut(IncidentEntity, 'dedupKey', 'countedAt', 'stormUntil'));

/** An incident as people see it, with the name that its service has now. */
export type IncidentRow = Omit<Row<typeof IncidentEntity>, 'dedupKey' | 'countedAt' | 'stormUntil'> & {
  readonly serviceName: string;
};

export type NewIncident = Pick<
  Row<typeof IncidentEntity>,
  | 'orgId'
  | 'serviceId'
  | 'ruleId'
  | 'exceptionGroupId'
  | 'escalationPolicyId'
  | 'teamId'
  | 'kind'
  | 'dedupKey'
  | 'title'
  | 'severity'
  | 'steps'
  | 'suppressedUntil'
  | 'parentId'
> &
  Partial<Pick<Row<typeof IncidentEntity>, 'repeats' | 'isShadow'>> & { readonly details: object };

/** An incident that is to be opened, and the span that found its cause. */
interface Opening {
  readonly incident: NewIncident;
  readonly timers: readonly PlannedStep[];
  readonly traceparent: string | null;
}

interface IncidentTimers {
  readonly id: Id<'incident'>;
  readonly timers: readonly PlannedStep[];
}

type WithService = Tables & { i: Tables['incidents']; s: Tables['services'] };

const LOCK_ALL = prepared((db, { ids }: Values<{ ids: readonly Id<'incident'>[] }>) =>
  incidents(db).where('i.id', '=', anyOf(ids)).orderBy('i.id').forUpdate('i'),
);

const FIND_ALL = prepared((db, { orgId, ids }: Values<{ orgId: Id<'org'>; ids: readonly Id<'incident'>[] }>) =>
  incidents(db).where('i.org_id', '=', orgId).where('i.id', '=', anyOf(ids)),
);

interface Listed {
  readonly orgId: Id<'org'>;
  readonly serviceId?: Id<'service'> | undefined;
  readonly now: Temporal.Instant;
  readonly limit: number;
}

/** Prepares the list of one status, which is part of the text, so that open ones are read from their index. */
function listOf(status: IncidentStatus | null) {
  return prepared((db, { orgId, serviceId, now, limit }: Values<Listed>) => {
    let listed = incidents(db)
      .where('i.org_id', '=', orgId)
      .where((eb) => eb.not(isOutdated(eb, now)));
    if (serviceId !== undefined) listed = listed.where('i.service_id', '=', serviceId);
    if (status !== null) listed = listed.where('i.status', '=', status);
    return listed.orderBy('i.triggered_at', 'desc').orderBy('i.id', 'desc').limit(limit);
  });
}

const LISTS = {
  all: listOf(null),
  triggered: listOf('triggered'),
  acknowledged: listOf('acknowledged'),
  resolved: listOf('resolved'),
} satisfies Record<IncidentStatus | 'all', unknown>;

/** Incidents. A change of one locks its row first. */
export class IncidentStore extends PostgresStore {
  /** Opens one incident as `openAll` does. */
  async open(
    incident: NewIncident,
    timers: readonly PlannedStep[],
    now: Temporal.Instant,
  ): Promise<Id<'incident'> | null> {
    const traceparent = currentSpan()?.traceparent ?? null;
    const [opened = null] = await this.openAll([{ incident, timers, traceparent }], now);
    return opened;
  }

  /**
   * Opens incidents with their timers, and returns their ids in the order given; null where one with the same key is open
   * already, which counts one more occurrence instead.
   */
  async openAll(opening: readonly Opening[], now: Temporal.Instant): Promise<(Id<'incident'> | null)[]> {
    const times = { triggeredAt: now, countedAt: now, createdAt: now, updatedAt: now };
    const wanted = opening.map((incident) => ({ ...incident, id: newId('incident') }));
    const inserted = new Set<string>();
    const rows = wanted.map(({ id, traceparent, incident: { details, ...incident } }) => ({
      ...toColumns(IncidentEntity, { id, ...incident, ...times, traceparent }),
      details: json({ ...details }),
    }));
    for (const slice of insertSlices(rows)) {
      const made = await this.insertInto('incidents')
        .values(slice)
        .onConflict((conflict) => conflict.column('dedup_key').where('status', '<>', sql.lit('resolved')).doNothing())
        .returning('id')
        .execute();
      for (const { id } of made) inserted.add(id);
    }
    const [opened, others] = [
      wanted.filter(({ id }) => inserted.has(id)),
      wanted.filter(({ id }) => !inserted.has(id)),
    ];
    for (const { incident } of others) await this.#countOccurrence(incident.dedupKey, now);
    await this.#insertTimers(opened);
    return wanted.map(({ id }) => (inserted.has(id) ? id : null));
  }

  async #countOccurrence(dedupKey: string, now: Temporal.Instant): Promise<void> {
    await this.updateTable('incidents')
      .set((eb) => ({ occurrences: eb('occurrences', '+', 1), counted_at: now, clear_since: null, updated_at: now }))
      .where('dedup_key', '=', dedupKey)
      .where('status', '<>', 'resolved')
      .execute();
  }

  /** The one that is open under this key. */
  async findOpenId(dedupKey: string): Promise<Id<'incident'> | null> {
    const open = await this.selectFrom('incidents')
      .select('id')
      .where('dedup_key', '=', dedupKey)
      .where('status', '<>', 'resolved')
      .executeTakeFirst();
    return open?.id ?? null;
  }

  /** Locks declaring: until the transaction ends nobody else declares an incident in the organization. */
  async holdDeclaring(orgId: Id<'org'>): Promise<void> {
    await holdLock(this.session, `declare ${orgId}`);
  }

  /** Counts the incidents that people have declared since then; counts no further than `most`. */
  async countDeclared(orgId: Id<'org'>, since: Temporal.Instant, most: number): Promise<number> {
    const declared = await this.selectFrom('incidents')
      .select('id')
      .where('org_id', '=', orgId)
      .where('triggered_at', '>', since)
      .where('kind', '=', 'manual')
      .limit(most)
      .execute();
    return declared.length;
  }

  async find(orgId: Id<'org'>, incidentId: string): Promise<IncidentRow | null> {
    return (await this.findAll(orgId, [incidentId])).get(incidentId) ?? null;
  }

  /** Throws `not_found`, also for one that is older than its service keeps. */
  async get(orgId: Id<'org'>, incidentId: string, now: Temporal.Instant): Promise<IncidentRow> {
    return await incidents(this.db)
      .where('i.org_id', '=', orgId)
      .where('i.id', '=', asId('incident', incidentId))
      .where((eb) => eb.not(isOutdated(eb, now)))
      .executeTakeFirstOrThrow(() => notFound('incidentId', 'incident'));
  }

  /** The row, locked until the transaction ends; null when it is gone. */
  async lock(incidentId: string): Promise<IncidentRow | null> {
    return (await this.lockAll([incidentId])).get(incidentId) ?? null;
  }

  /** The rows that are not gone, by id, locked one after another in the order of their ids. */
  async lockAll(incidentIds: readonly string[]): Promise<Map<string, IncidentRow>> {
    return byId(await LOCK_ALL.rows(this.session, { ids: idsOf(incidentIds) }));
  }

  /** Returns the organization's incidents that are not gone, by id. */
  async findAll(orgId: Id<'org'>, incidentIds: readonly string[]): Promise<Map<string, IncidentRow>> {
    return byId(await FIND_ALL.rows(this.session, { orgId, ids: idsOf(incidentIds) }));
  }

  /** Returns the open incidents of an exception group, locked until the transaction ends. */
  async lockOpenOf(groupId: Id<'group'>): Promise<IncidentRow[]> {
    return await incidents(this.db)
      .where('i.exception_group_id', '=', groupId)
      .where('i.status', '<>', 'resolved')
      .orderBy('i.id')
      .forUpdate('i')
      .execute();
  }

  /** Returns the service's open incidents whose key begins with `keyStart`, locked until the transaction ends. */
  async lockOpenWithKey(serviceId: Id<'service'>, keyStart: string): Promise<IncidentRow[]> {
    return await incidents(this.db)
      .where('i.service_id', '=', serviceId)
      .where('i.status', '<>', 'resolved')
      .where(({ fn, val }) => fn<boolean>('starts_with', ['i.dedup_key', val(keyStart)]))
      .orderBy('i.id')
      .forUpdate('i')
      .execute();
  }

  /** Newest first; resolved ones only within the retention of their service. */
  async list(
    orgId: Id<'org'>,
    { serviceId, status }: { readonly serviceId?: string | undefined; readonly status?: IncidentStatus | undefined },
    now: Temporal.Instant,
    limit: number,
  ): Promise<IncidentRow[]> {
    const ofService = serviceId === undefined ? undefined : asId('service', serviceId);
    return await LISTS[status ?? 'all'].rows(this.session, { orgId, serviceId: ofService, now, limit });
  }

  /**
   * Removes up to `limit` resolved incidents that are older than their service keeps, with all that was logged of
   * them; returns how many. One that is being looked at is left for the next time.
   */
  async removeOutdated(now: Temporal.Instant, limit: number): Promise<number> {
    const removed = await this.deleteFrom('incidents')
      .where('id', 'in', (eb) =>
        eb
          .selectFrom('services as s')
          .innerJoinLateral(
            (lateral) =>
              lateral
                .selectFrom('incidents as i')
                .select('i.id')
                .whereRef('i.service_id', '=', 's.id')
                .where((incident) => isOutdated(incident, now))
                .limit(limit)
                .forUpdate()
                .skipLocked()
                .as('outdated'),
            (join) => join.onTrue(),
          )
          .select('outdated.id')
          .limit(limit),
      )
      .execute();
    return rowsChanged(removed);
  }

  async acknowledge(incidentId: Id<'incident'>, by: IncidentActor, now: Temporal.Instant): Promise<void> {
    await this.updateTable('incidents')
      .set({ status: 'acknowledged', acknowledged_at: now, acknowledged_by: json(by), updated_at: now })
      .where('id', '=', incidentId)
      .execute();
  }

  async resolve(incidentId: Id<'incident'>, by: IncidentActor, now: Temporal.Instant): Promise<void> {
    await this.updateTable('incidents')
      .set({ status: 'resolved', resolved_at: now, resolved_by: json(by), updated_at: now })
      .where('id', '=', incidentId)
      .execute();
  }

  /**
   * Sets the steps of the incident, with the timers of those that are new; the timers of the earlier ones no longer fire,
   * and those of steps that are not kept are removed. Acknowledgements by single people end with the steps before.
   */
  async reassign(
    incident: Pick<IncidentRow, 'id' | 'steps' | 'escalationPolicyId' | 'teamId' | 'repeats'>,
    timers: readonly PlannedStep[],
    now: Temporal.Instant,
  ): Promise<void> {
    const { escalationPolicyId, teamId } = incident;
    await this.updateTable('incidents')
      .set({ ...toColumns(IncidentEntity, { escalationPolicyId, teamId, updatedAt: now }), acknowledgements: null })
      .where('id', '=', incident.id)
      .execute();
    await this.addSteps(incident, timers, now);
  }

  /** Sets the steps of the incident and how they repeat, with the timers of those that are new. */
  async addSteps(
    { id, steps, repeats }: Pick<IncidentRow, 'id' | 'steps' | 'repeats'>,
    timers: readonly PlannedStep[],
    now: Temporal.Instant,
  ): Promise<void> {
    await this.updateTable('incidents')
      .set(toColumns(IncidentEntity, { steps, repeats, updatedAt: now }))
      .where('id', '=', id)
      .execute();
    await this.deleteFrom('incident_steps')
      .where('incident_id', '=', id)
      .where('step_index', '<', firstStepIndex(steps))
      .execute();
    await this.#insertTimers([{ id, timers }]);
  }

  /**
   * The incident is open again, or waits for somebody again. Since when its condition is false counts from anew after
   * it was resolved: nobody has looked meanwhile. False when another one is open for the same cause.
   */
  async reopen(incidentId: Id<'incident'>, to: 'triggered' | 'acknowledged', now: Temporal.Instant): Promise<boolean> {
    try {
      const reopened = await this.updateTable('incidents as i')
        .set((eb) => ({
          status: to,
          resolved_at: null,
          resolved_by: null,
          updated_at: now,
          clear_since: eb.case().when('i.status', '=', 'resolved').then(null).else(eb.ref('i.clear_since')).end(),
          ...(to === 'triggered' && { acknowledged_at: null, acknowledged_by: null }),
        }))
        .where('i.id', '=', incidentId)
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('incidents as o')
                .select('o.id')
                .whereRef('o.dedup_key', '=', 'i.dedup_key')
                .where('o.status', '<>', 'resolved')
                .whereRef('o.id', '<>', 'i.id'),
            ),
          ),
        )
        .execute();
      return rowsChanged(reopened) > 0;
    } catch (error) {
      // An incident was opened at this very moment: the transaction is lost with it.
      if (isUniqueViolation(error, 'incidents_open')) return false;
      throw error;
    }
  }

  async #insertTimers(incidents: readonly IncidentTimers[]): Promise<void> {
    const steps = incidents.flatMap(({ id, timers }) => timers.map((step) => ({ id, ...step })));
    if (steps.length === 0) return;
    const planned = rowsOf('t', {
      incident_id: ['text', steps.map(({ id }) => id)],
      step_index: ['integer', steps.map(({ stepIndex }) => stepIndex)],
      due_at: ['timestamptz', steps.map(({ dueAt }) => dueAt)],
    });
    await this.insertInto('incident_steps')
      .columns(['incident_id', 'step_index', 'due_at'])
      .expression((eb) => eb.selectFrom(planned).selectAll())
      .execute();
  }
}

function incidents(db: Session['db']) {
  return db
    .selectFrom('incidents as i')
    .innerJoin('services as s', (join) => join.onRef('s.id', '=', 'i.service_id').on('s.deleted_at', 'is', null))
    .select(INCIDENT)
    .select('s.name as serviceName');
}

function idsOf(incidentIds: readonly string[]): Id<'incident'>[] {
  return incidentIds.map((id) => asId('incident', id));
}

/** Resolved incidents are kept for as many times 24 hours as their service says; open ones always. */
function isOutdated(
  eb: ExpressionBuilder<WithService, 'i' | 's'>,
  now: Temporal.Instant | Expression<Temporal.Instant>,
) {
  return eb.and([
    eb('i.status', '=', 'resolved'),
    eb('i.resolved_at', '<', daysBefore(now, eb.ref('s.retention_oncall'))),
  ]);
}

function byId(incidents: readonly IncidentRow[]): Map<string, IncidentRow> {
  return new Map(incidents.map((incident) => [incident.id, incident]));
}
