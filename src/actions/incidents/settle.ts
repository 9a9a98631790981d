import { recordSystemChange } from '#actions/system_change.ts';
import { tellOthers } from '#actions/incidents/tell_others.ts';
import type { UnitOfWork } from '#actions/unit_of_work.ts';
import { decideAcknowledge, decideResolve, type SettledBy, type SettledStatus } from '#core/incidents/incident.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { IncidentRow } from '#storage/postgres/incident_store.ts';

/**
 * Acknowledges an incident that the caller has locked: no further step fires, what has not left is cancelled, and
 * those who were sent an SMS hear about it. False when it was acknowledged already; `conflict` when it is resolved.
 */
export async function acknowledge(unit: UnitOfWork, incident: IncidentRow, by: SettledBy): Promise<boolean> {
  const decision = decideAcknowledge(incident.status);
  if (decision === 'unchanged') return false;
  if (decision === 'conflict') {
    throw new AppError('conflict', 'this incident is resolved already; a new breach will open a new one');
  }
  await unit.stores.incidents.acknowledge(incident.id, by, unit.now);
  await settle(unit, incident, 'acknowledged', by);
  return true;
}

/** What else of a settled incident's story is told: the status that its exception group was given. */
interface Why {
  readonly groupStatus?: string;
}

/** Resolves an incident that the caller has locked. False when it was resolved already. */
export async function resolve(unit: UnitOfWork, incident: IncidentRow, by: SettledBy, why: Why = {}): Promise<boolean> {
  if (decideResolve(incident.status) === 'unchanged') return false;
  await unit.stores.incidents.resolve(incident.id, by, unit.now);
  await unit.stores.storms.endMembers(incident.id, {}, unit.now);
  await settle(unit, incident, 'resolved', by, why);
  return true;
}

/**
 * What a storm that the caller has locked stands for is over in part; once all of it is, so is the storm. True when that
 * has resolved it.
 */
export async function endMember(
  unit: UnitOfWork,
  storm: IncidentRow,
  of: { readonly groupId?: Id<'group'>; readonly ruleId?: Id<'rule'> },
  by: SettledBy = { system: true, via: 'rule' },
  why: Why = {},
): Promise<boolean> {
  await unit.stores.storms.endMembers(storm.id, of, unit.now);
  if (await unit.stores.storms.hasOpenMembers(storm.id)) return false;
  return await resolve(unit, storm, by, why);
}

async function settle(
  unit: UnitOfWork,
  incident: IncidentRow,
  event: SettledStatus,
  by: SettledBy,
  why: Why = {},
): Promise<void> {
  const { stores, now } = unit;
  await stores.incidents.cancelSteps(incident.id, event, now);
  const cancelled = await stores.notifications.cancelQueued(incident.id, event, now);
  const told = await tellOthers(unit, incident, await stores.notifications.listSmsRecipients(incident.id), event, by);
  await stores.incidents.recordEvent(
    incident.id,
    event,
    { by, ...why, cancelledMessages: cancelled.length, told },
    now,
  );
  if ('system' in by) await recordSettling(unit, incident, event);
}

/** A person's call is audited as the action it is; what a rule does is audited here. */
async function recordSettling(unit: UnitOfWork, incident: IncidentRow, event: SettledStatus): Promise<void> {
  await recordSystemChange(unit, {
    orgId: incident.orgId,
    action: event === 'resolved' ? 'resolve_incident' : 'acknowledge_incident',
    via: 'rule',
    target: incident.id,
    before: { status: incident.status },
    after: { status: event },
  });
}
