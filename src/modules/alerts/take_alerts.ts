import type { AlertEvent } from '#modules/alerts/decide/alert_event.ts';
import { type AlertChange, applyEvent, type IncidentOfAlert, newFacts } from '#modules/alerts/decide/alert_change.ts';
import { repeatsAlerts, sourceSettingsOf } from '#modules/alerts/decide/source_settings.ts';
import type { AlertOutcome, AlertOwner, OwnedAlert } from '#modules/alerts/decide/sent_alert.ts';
import { toolOf } from '#modules/alerts/decide/tools.ts';
import type { IncidentLimit } from '#modules/incidents/decide/incident_limit.ts';
import { applyEffects, isOpening, routeAlerts } from '#modules/alerts/apply_effects.ts';
import { findAlerts, nameOf } from '#modules/alerts/find_alerts.ts';
import type { Affected, AlertQueue, KnownSource } from '#modules/alerts/view.ts';
import { AppError } from '#kernel/errors.ts';
import { newId } from '#kernel/ids.ts';
import type { AlertName, AlertRow, StoredAlert } from '#modules/alerts/store/alert_store.ts';
import type { SourceName } from '#modules/alerts/store/alert_source_store.ts';
import { inUnitOfWork, type UnitOfWork, type UnitOfWorkRuntime } from '#modules/stores.ts';

export interface AlertRuntime extends UnitOfWorkRuntime {
  readonly incidentLimit: IncidentLimit;
}

/**
 * Does what events of services of one organization mean, in one transaction; returns once all of it is stored. The same
 * events again, from this process or another, change nothing more. The outcomes are in the order given.
 */
export async function takeAlerts(runtime: AlertRuntime, sent: readonly OwnedAlert[]): Promise<AlertOutcome[]> {
  return await inUnitOfWork(runtime, (unit) => take(unit, sent, runtime.incidentLimit));
}

async function take(unit: UnitOfWork, sent: readonly OwnedAlert[], limit: IncidentLimit): Promise<AlertOutcome[]> {
  const { stores, now } = unit;
  await stores.alerts.hold(sent.map(({ owner }) => owner.serviceId));
  const sources = await findSources(unit, sent);
  const { queues, incidents: before } = await openQueues(unit, sent, sources);
  const effects: AlertChange['effect'][] = sent.map(() => 'nothing');
  let incidents = before;
  for (let left = queues; left.length > 0;) {
    const affected = left.flatMap((queue) => advance(queue, incidents, effects, unit));
    const opening = await routeAlerts(unit, affected);
    for (const { queue, effect } of affected) {
      const place = queue.places.at(-1 - queue.events.length);
      if (place !== undefined && isOpening({ effect }) && queue.row.isDropped) {
        effects[place] = effect === 'replace' ? 'resolve' : 'count';
      }
    }
    // Whether an incident goes on depends on the alerts as they are stored.
    if (affected.some(({ effect }) => effect === 'resolve' || effect === 'replace')) await save(unit, queues);
    await applyEffects(unit, affected, opening, limit);
    left = left.filter(({ events }) => events.length > 0);
    if (left.length > 0) incidents = await readIncidents(unit, left);
  }
  await save(unit, queues);
  const changes = [...sources.values()].map(({ row: { id }, accepted, repetition }) => ({ id, accepted, repetition }));
  await stores.alertSources.noteAlerts(changes, now);
  const outcomes = new Map(
    queues.flatMap(({ places, row, isKnown }) => places.map((place) => [place, isKnown ? row : null] as const)),
  );
  return effects.map((effect, place) => {
    const row = outcomes.get(place) ?? null;
    return { alertId: row?.id ?? null, incidentId: row?.incidentId ?? null, effect };
  });
}

async function findSources(
  { stores, now }: UnitOfWork,
  sent: readonly OwnedAlert[],
): Promise<Map<string, KnownSource>> {
  const wanted = new Map(sent.map((alert) => [sourceKey(alert), { owner: alert.owner, ...alert.source }]));
  const names = [...wanted.values()].map(({ owner: { serviceId }, protocol, name }) => ({ serviceId, protocol, name }));
  const sources = new Map<string, KnownSource>();
  for (const { isGone, source, ...named } of await stores.alertSources.findAll(names)) {
    if (isGone) throw new AppError('unauthenticated', 'the service of this alert key was deleted');
    const key = sourceKey({ owner: named, source: named });
    const asked = wanted.get(key);
    if (asked === undefined) throw new Error('what was asked for is answered');
    const row = source ?? (await stores.alertSources.findOrCreate(asked.owner, asked, now));
    sources.set(key, {
      row,
      settings: sourceSettingsOf(row.settings),
      learns: repeatsAlerts(asked.protocol),
      repetition: { longest: row.longestGapSeconds, shortest: row.shortestGapSeconds },
      accepted: 0,
    });
  }
  return sources;
}

function sourceKey({
  owner: { serviceId },
  source: { protocol, name },
}: {
  readonly owner: Pick<AlertOwner, 'serviceId'>;
  readonly source: SourceName;
}): string {
  return `${serviceId} ${protocol} ${name}`;
}

type Incidents = ReadonlyMap<string, IncidentOfAlert>;

/** Returns the events by their alert, in the order in which each alert came first, and the incidents of these alerts. */
async function openQueues(
  { stores, now }: UnitOfWork,
  sent: readonly OwnedAlert[],
  sources: ReadonlyMap<string, KnownSource>,
): Promise<{ readonly queues: AlertQueue[]; readonly incidents: Incidents }> {
  const sourced = sent.map((alert) => {
    const source = sources.get(sourceKey(alert));
    if (source === undefined) throw new Error('every source was found');
    source.accepted += 1;
    return { source, sourceId: source.row.id, event: alert.event };
  });
  const { stored, names } = await findAlerts(stores.alerts, sourced);
  const byName = new Map<string, { source: KnownSource; named: AlertName; events: AlertQueue['events'] }>();
  for (const [place, { source, event }] of sourced.entries()) {
    const named = names[place];
    if (named === undefined) throw new Error('every event is about an alert');
    const name = nameOf(named);
    const queue = byName.get(name) ?? { source, named, events: [] };
    queue.events.push({ event, place });
    byName.set(name, queue);
  }
  const queues = [...byName].flatMap(([name, { source, named, events }]): AlertQueue[] => {
    const [first] = events;
    if (first === undefined) return [];
    const before = stored.get(name);
    const row = before?.row ?? newRow(source, named, first.event, now);
    const places = events.map(({ place }) => place);
    return [{ source, row, events, places, isKnown: before !== undefined, isChanged: false }];
  });
  const incidents = new Map(
    [...stored.values()].flatMap(({ row: { incidentId }, incident }) =>
      incidentId === null || incident === null ? [] : [[incidentId, ofAlert(incident)] as const],
    ),
  );
  return { queues, incidents };
}

function newRow(
  { row: source }: KnownSource,
  { scope, key }: AlertName,
  event: AlertEvent,
  now: AlertRow['lastSeenAt'],
): AlertRow {
  return {
    id: newId('alert'),
    orgId: source.orgId,
    serviceId: source.serviceId,
    sourceId: source.id,
    scope,
    key,
    isDropped: false,
    incidentId: null,
    ...newFacts(event, toolOf(source.protocol, source.name), now),
    details: {},
  };
}

async function readIncidents({ stores }: UnitOfWork, queues: readonly AlertQueue[]): Promise<Incidents> {
  const ids = new Set(queues.flatMap(({ row: { incidentId } }) => (incidentId === null ? [] : [incidentId])));
  const orgId = queues[0]?.row.orgId;
  if (ids.size === 0 || orgId === undefined) return new Map();
  const incidents = await stores.incidents.findAll(orgId, [...ids]);
  return new Map([...incidents].map(([id, incident]) => [id, ofAlert(incident)]));
}

function ofAlert({ status, resolvedAt }: NonNullable<StoredAlert['incident']>): IncidentOfAlert {
  return { status, resolvedAt: resolvedAt?.epochMilliseconds ?? null };
}

/** Takes events of one alert up to the first that changes an incident; what follows depends on what becomes of that. */
function advance(
  queue: AlertQueue,
  incidents: Incidents,
  effects: AlertChange['effect'][],
  { now }: UnitOfWork,
): Affected[] {
  const { source } = queue;
  let counted = 0;
  let roseFrom: string | null = null;
  let isHeardAgain = false;
  const notes: string[] = [];
  for (;;) {
    const next = queue.events.shift();
    if (next === undefined) break;
    const { event, place } = next;
    const incident = queue.row.incidentId === null ? null : (incidents.get(queue.row.incidentId) ?? null);
    const change = applyEvent(queue.row, incident, event, source, now);
    if (event.note !== null) notes.push(event.note);
    if (change === null) continue;
    effects[place] = change.effect;
    source.repetition = change.repetition;
    queue.row = { ...queue.row, ...change.facts, details: { ...change.facts.details } };
    queue.isChanged = true;
    queue.isKnown = true;
    roseFrom ??= change.roseFrom;
    isHeardAgain ||= change.isHeardAgain;
    if (change.effect === 'count') counted += 1;
    else if (change.effect !== 'nothing') {
      const replaced = change.effect === 'replace' ? queue.row.incidentId : null;
      return [{ queue, effect: change.effect, replaced, counted, roseFrom, isHeardAgain, notes }];
    }
  }
  if (counted === 0 && !isHeardAgain && roseFrom === null && notes.length === 0) return [];
  return [{ queue, effect: 'count', replaced: null, counted, roseFrom, isHeardAgain, notes }];
}

async function save({ stores }: UnitOfWork, queues: readonly AlertQueue[]): Promise<void> {
  const changed = queues.filter(({ isChanged }) => isChanged);
  await stores.alerts.saveAll(changed.map(({ row }) => row));
  for (const queue of changed) queue.isChanged = false;
}
