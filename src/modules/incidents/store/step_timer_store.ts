import { sql } from 'kysely';

import type { StepTimerRow } from '#modules/incidents/decide/escalation_state.ts';
import type { PlannedStep } from '#modules/policies/decide/escalation.ts';
import { asId, type Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, columns, PostgresStore, prepared, rowsChanged, rowsOf, type Values } from '#storage/postgres/store.ts';
import { IncidentStepEntity } from '#storage/postgres/entities/incidents.ts';

/** A timer whose time has come. */
export interface DueStep {
  readonly orgId: Id<'org'>;
  readonly incidentId: Id<'incident'>;
  readonly stepIndex: number;
}

const LIST = prepared((db, { incidentIds }: Values<{ incidentIds: readonly Id<'incident'>[] }>) =>
  db
    .selectFrom('incident_steps as t')
    .select(columns(IncidentStepEntity, 't'))
    .where('t.incident_id', '=', anyOf(incidentIds))
    .orderBy('t.incident_id')
    .orderBy('t.step_index'),
);

/** The timers of incidents: one for each step of the policy. They change only while their incident is locked. */
export class StepTimerStore extends PostgresStore {
  async listSteps(incidentIds: readonly string[]): Promise<(StepTimerRow & { incidentId: Id<'incident'> })[]> {
    return await LIST.rows(this.session, { incidentIds: incidentIds.map((id) => asId('incident', id)) });
  }

  /** Takes a due timer for good: of all who try, one gets true, and the step is theirs to run. */
  async claimStep(incidentId: Id<'incident'>, stepIndex: number, now: Temporal.Instant): Promise<boolean> {
    const claimed = await this.#pending(incidentId)
      .set({ state: 'fired', settled_at: now })
      .where('step_index', '=', stepIndex)
      .where('due_at', '<=', now)
      .execute();
    return rowsChanged(claimed) > 0;
  }

  /** Returns when a timer that has not fired yet is due; null when it has fired or was cancelled. */
  async findPendingDueAt(incidentId: Id<'incident'>, stepIndex: number): Promise<Temporal.Instant | null> {
    const timer = await this.selectFrom('incident_steps')
      .select('due_at')
      .where('incident_id', '=', incidentId)
      .where('step_index', '=', stepIndex)
      .where('state', '=', 'pending')
      .executeTakeFirst();
    return timer?.due_at ?? null;
  }

  async markSkipped(incidentId: Id<'incident'>, stepIndex: number, reason: string): Promise<void> {
    await this.updateTable('incident_steps')
      .set({ state: 'skipped', reason })
      .where('incident_id', '=', incidentId)
      .where('step_index', '=', stepIndex)
      .execute();
  }

  /** Brings a timer that is still pending forward to `now`; true when there was one. It remembers why, if that is said. */
  async expediteStep(
    incidentId: Id<'incident'>,
    stepIndex: number,
    now: Temporal.Instant,
    reason: 'escalated' | null = null,
  ): Promise<boolean> {
    const changed = await this.#pending(incidentId)
      .set((eb) => ({
        due_at: sql<Temporal.Instant>`least(${eb.ref('due_at')}, ${now}::timestamptz)`,
        ...(reason !== null && { reason }),
      }))
      .where('step_index', '=', stepIndex)
      .execute();
    return rowsChanged(changed) > 0;
  }

  /** Moves a timer that is pending, or stopped by an answer, and still due at `from`; true when there was one. */
  async moveStep(
    incidentId: Id<'incident'>,
    stepIndex: number,
    from: Temporal.Instant,
    to: Temporal.Instant,
  ): Promise<boolean> {
    const moved = await this.updateTable('incident_steps')
      .set({ due_at: to })
      .where('incident_id', '=', incidentId)
      .where('step_index', '=', stepIndex)
      .where((eb) => {
        const isStopped = eb.and([eb('state', '=', 'cancelled'), eb('reason', 'in', ['acknowledged', 'resolved'])]);
        return eb.or([eb('state', '=', 'pending'), isStopped]);
      })
      .where('due_at', '=', from)
      .execute();
    return rowsChanged(moved) > 0;
  }

  /** Removes all timers of an incident that has not begun to page: it runs other steps. */
  async removeSteps(incidentId: Id<'incident'>): Promise<void> {
    await this.deleteFrom('incident_steps').where('incident_id', '=', incidentId).execute();
  }

  async cancelSteps(incidentId: Id<'incident'>, reason: string, now: Temporal.Instant): Promise<void> {
    await this.#pending(incidentId).set({ state: 'cancelled', settled_at: now, reason }).execute();
  }

  /** Cancels all timers of the incident for good: other steps take their place. */
  async supersedeSteps(incidentId: Id<'incident'>, now: Temporal.Instant): Promise<void> {
    await this.updateTable('incident_steps')
      .set((eb) => ({
        state: 'cancelled',
        reason: 'reassigned',
        settled_at: eb.fn.coalesce('settled_at', sql<Temporal.Instant>`${now}::timestamptz`),
      }))
      .where('incident_id', '=', incidentId)
      .where('state', 'in', ['pending', 'cancelled'])
      .execute();
  }

  /** Timers that were cancelled wait again, each until then. */
  async resumeSteps(incidentId: Id<'incident'>, timers: readonly PlannedStep[]): Promise<void> {
    const resumed = rowsOf('r', {
      step_index: ['integer', timers.map(({ stepIndex }) => stepIndex)],
      due_at: ['timestamptz', timers.map(({ dueAt }) => dueAt)],
    });
    await this.updateTable('incident_steps as t')
      .from(resumed)
      .set((eb) => ({ state: 'pending', due_at: eb.ref('r.due_at'), settled_at: null, reason: null }))
      .where('t.incident_id', '=', incidentId)
      .whereRef('t.step_index', '=', 'r.step_index')
      .where('t.state', '=', 'cancelled')
      .execute();
  }

  /**
   * Sets timers of incidents that were triggered later than now, which the clock has been set back since, so that none
   * waits for longer than its step says. Doing it again changes nothing.
   */
  async restartTimers(now: Temporal.Instant): Promise<void> {
    await this.updateTable('incident_steps as t')
      .from((eb) =>
        eb
          .selectFrom('incident_steps as own')
          .innerJoin('incidents as i', 'i.id', 'own.incident_id')
          .select(['own.incident_id', 'own.step_index'])
          .select(({ ref }) =>
            sql<number>`(${ref('i.steps')}->(${ref('own.step_index')} - coalesce((${ref('i.steps')}->0->>'index')::int, 0))->>'afterMinutes')::float8 * 60`.as(
              'seconds',
            ),
          )
          .where('i.status', '=', 'triggered')
          .where('i.triggered_at', '>', now.add({ minutes: 1 }))
          .where('own.state', '=', 'pending')
          .as('w'),
      )
      .set((eb) => ({
        due_at: sql<Temporal.Instant>`${now}::timestamptz + make_interval(secs => ${eb.ref('w.seconds')})`,
      }))
      .whereRef('t.incident_id', '=', 'w.incident_id')
      .whereRef('t.step_index', '=', 'w.step_index')
      .where('t.state', '=', 'pending')
      .where(
        ({ ref }) => sql<boolean>`extract(epoch from ${ref('t.due_at')} - ${now}::timestamptz) > ${ref('w.seconds')}`,
      )
      .execute();
  }

  /** Timers that were due at `before` and have not fired: their job was lost or is late. Organizations have equal turns. */
  async listDueSteps(before: Temporal.Instant, limit: number): Promise<DueStep[]> {
    return await this.selectFrom('incident_steps as t')
      .innerJoin('incidents as i', 'i.id', 't.incident_id')
      .select(['t.incident_id as incidentId', 't.step_index as stepIndex', 'i.org_id as orgId'])
      .where('t.state', '=', 'pending')
      .where('t.due_at', '<=', before)
      .orderBy((eb) => eb.fn.agg<number>('row_number').over((turn) => turn.partitionBy('i.org_id').orderBy('t.due_at')))
      .orderBy('t.due_at')
      .limit(limit)
      .execute();
  }

  #pending(incidentId: Id<'incident'>) {
    return this.updateTable('incident_steps').where('incident_id', '=', incidentId).where('state', '=', 'pending');
  }
}
