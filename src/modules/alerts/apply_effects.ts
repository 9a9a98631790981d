import type { IncidentLimit } from '#modules/incidents/decide/incident_limit.ts';
import { acknowledge, unacknowledge } from '#modules/incidents/acknowledge.ts';
import { type Affected, dedupKeyOfAlert, toolActor } from '#modules/alerts/alert_queue.ts';
import { endAlerts } from '#modules/alerts/end_alerts.ts';
import { openAlerts } from '#modules/alerts/open_alerts.ts';
import { raiseSeverity } from '#modules/alerts/raise_severity.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import { recordSystemChange } from '#modules/audit/system_change.ts';
import type { UnitOfWork } from '#modules/unit_of_work.ts';

/** Notes of one alert in one transaction. */
const NOTES_MAX = 10;

/** Does to incidents what events of alerts mean for them: what ends comes first, so that the same key may open again. */
export async function applyEffects(
  unit: UnitOfWork,
  affected: readonly Affected[],
  limit: IncidentLimit,
): Promise<void> {
  const of = (...effects: Affected['effect'][]) => affected.filter(({ effect }) => effects.includes(effect));
  await endAlerts(
    unit,
    of('resolve', 'replace').map(({ queue, replaced }) => ({ ...queue, replaced })),
    toolActor,
  );
  await openAlerts(unit, of('open', 'open_acknowledged', 'replace'), limit);
  await answer(unit, of('acknowledge', 'open_acknowledged'), 'acknowledge');
  await answer(unit, of('unacknowledge'), 'unacknowledge');
  await count(unit, affected);
  for (const alert of affected) await tell(unit, alert);
}

/** Acknowledges incidents, or takes that back, in the name of the tool. A storm stands for others as well and stays. */
async function answer(
  unit: UnitOfWork,
  affected: readonly Affected[],
  how: 'acknowledge' | 'unacknowledge',
): Promise<void> {
  if (affected.length === 0) return;
  const standing = await unit.stores.alerts.listStanding(affected.map(({ queue }) => dedupKeyOfAlert(queue)));
  const incidentIds = new Set(standing.filter(({ isMember }) => !isMember).map(({ incidentId }) => incidentId));
  const locked = await unit.stores.incidents.lockAll([...incidentIds]);
  for (const { queue } of affected) {
    const incident = locked.get(queue.row.incidentId ?? '');
    if (incident === undefined) continue;
    const by = toolActor(queue.row);
    if (how === 'acknowledge') {
      if (incident.status !== 'triggered') continue;
      await acknowledge(unit, incident, by);
    } else {
      if (incident.status !== 'acknowledged') continue;
      await unacknowledge(unit, incident, by);
      await recordSystemChange(unit, {
        orgId: queue.row.orgId,
        action: 'unacknowledge_incident',
        via: 'alert',
        target: incident.id,
        before: { status: 'acknowledged' },
        after: { status: 'triggered', by: queue.row.tool },
      });
    }
    locked.delete(incident.id);
  }
}

async function count({ stores, now }: UnitOfWork, affected: readonly Affected[]): Promise<void> {
  const counted = affected.filter((change) => change.counted > 0 && change.queue.row.incidentId !== null);
  if (counted.length === 0) return;
  await stores.storms.countOpen([...new Set(counted.map(({ queue }) => dedupKeyOfAlert(queue)))], now);
}

/** Further data for the timeline. */
async function tell(unit: UnitOfWork, { queue, roseFrom, isHeardAgain, notes }: Affected): Promise<void> {
  const { stores, now } = unit;
  const { incidentId, tool } = queue.row;
  if (incidentId === null) return;
  for (const text of notes.slice(0, NOTES_MAX))
    await stores.timeline.record(incidentId, 'alert_note', { tool, text }, now);
  if (isHeardAgain) await stores.timeline.record(incidentId, 'word_again', { tool }, now);
  if (roseFrom === null) return;
  const incident: IncidentRow | null = await stores.incidents.lock(incidentId);
  if (incident !== null) await raiseSeverity(unit, incident, queue);
}
