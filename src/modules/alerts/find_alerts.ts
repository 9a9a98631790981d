import type { Id } from '#kernel/ids.ts';
import type { AlertEvent } from '#modules/alerts/decide/alert_event.ts';
import type { AlertName, AlertStore, StoredAlert } from '#modules/alerts/store/alert_store.ts';

/** An event, and the source that sent it. */
interface SourcedEvent {
  readonly sourceId: Id<'alertsource'>;
  readonly event: Pick<AlertEvent, 'action' | 'key' | 'scope'>;
}

export interface FoundAlerts {
  /** Alerts as they are stored, by `nameOf`. */
  readonly stored: ReadonlyMap<string, StoredAlert>;
  /** Name of the alert that each event is about, in the order given. */
  readonly names: readonly AlertName[];
}

export function nameOf({ sourceId, scope, key }: AlertName): string {
  return JSON.stringify([sourceId, scope, key]);
}

/**
 * Finds the alerts that events are about. An event that does not say its installation is about the open alert with its key
 * that was heard of last; one of an installation that has no such alert open is about an open one of none.
 */
export async function findAlerts(alerts: AlertStore, sent: readonly SourcedEvent[]): Promise<FoundAlerts> {
  const asSaid = sent.map(({ sourceId, event: { scope, key } }) => ({ sourceId, scope: scope ?? '', key }));
  const stored = await findByName(alerts, asSaid);
  const isOpen = (name: AlertName): boolean => (stored.get(nameOf(name))?.row.status ?? 'resolved') !== 'resolved';
  const seenAt = (name: AlertName): number => stored.get(nameOf(name))?.row.lastSeenAt.epochMilliseconds ?? 0;
  const doubtful = sent.filter((alert, index) => {
    const name = asSaid[index];
    return mayBeOfAnother(alert.event) && name !== undefined && !isOpen(name);
  });
  if (doubtful.length === 0) return { stored, names: asSaid };
  const unsaid = doubtful.filter(({ event }) => event.scope === null);
  const scopes = await alerts.listScopes([...new Set(unsaid.map(({ sourceId }) => sourceId))]);
  const othersOf = ({ sourceId, event: { scope, key } }: SourcedEvent): AlertName[] =>
    (scope === null ? (scopes.get(sourceId) ?? []) : ['']).map((other) => ({ sourceId, scope: other, key }));
  for (const [name, alert] of await findByName(alerts, doubtful.flatMap(othersOf))) stored.set(name, alert);
  // An alert may begin in the same request.
  const begun = new Map<string, AlertName[]>();
  const names = asSaid.map((name, index): AlertName => {
    const alert = sent[index];
    if (alert === undefined) return name;
    const ofKey = JSON.stringify([name.sourceId, name.key]);
    const before = begun.get(ofKey) ?? [];
    const isThere = (other: AlertName): boolean => isOpen(other) || before.some(({ scope }) => scope === other.scope);
    const newestFirst = [
      ...(alert.event.scope === null ? before.toReversed() : []),
      ...othersOf(alert).toSorted((a, b) => seenAt(b) - seenAt(a)),
    ];
    const subject = [name, ...(mayBeOfAnother(alert.event) ? newestFirst : [])].find(isThere) ?? name;
    if (alert.event.action === 'trigger') begun.set(ofKey, [...before, subject]);
    return subject;
  });
  return { stored, names };
}

/** Whether an event may be about an alert of another installation than it says. */
function mayBeOfAnother({ action, scope }: SourcedEvent['event']): boolean {
  return scope === null ? action !== 'trigger' : scope !== '';
}

async function findByName(alerts: AlertStore, names: readonly AlertName[]): Promise<Map<string, StoredAlert>> {
  const distinct = new Map(names.map((name) => [nameOf(name), name]));
  const list = await alerts.findAll([...distinct.values()]);
  return new Map(list.map((alert) => [nameOf(alert.row), alert]));
}
