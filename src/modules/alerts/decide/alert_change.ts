import { createHash } from 'node:crypto';

import { fromEpochMilliseconds, type Temporal } from '#kernel/time.ts';
import { withoutSecrets } from '#modules/exceptions/decide/secrets.ts';
import { worseSeverity } from '#modules/incidents/decide/incident_limit.ts';
import type { IncidentStatus } from '#modules/incidents/decide/incident.ts';
import {
  type AlertAction,
  type AlertEvent,
  type AlertHistory,
  type AlertLink,
  lastOf,
  lastResolveOf,
  learnGap,
  leaseOf,
  type Repetition,
  SEVERITY_UNSAID,
  stateOf,
  timeOfNext,
  type ToolState,
  withEvent,
} from './alert_event.ts';
import { cutDetails } from './alert_limits.ts';
import type { SourceSettings } from './source_settings.ts';

type Instant = Temporal.Instant;

export interface AlertFacts {
  readonly status: IncidentStatus;
  readonly groupKey: string | null;
  readonly tool: string;
  readonly severity: string;
  readonly title: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly links: readonly AlertLink[];
  readonly images: readonly AlertLink[];
  readonly history: KnownAlert['history'];
  readonly occurrences: number;
  readonly episodeAt: Instant | null;
  readonly settledAt: Instant | null;
  readonly leaseUntil: Instant | null;
  readonly silentSince: Instant | null;
  readonly firstSeenAt: Instant;
  readonly lastSeenAt: Instant;
}

/** Result of an event: the facts of the alert after it, and its effect. */
export interface AlertChange {
  readonly facts: AlertFacts;
  readonly effect: AlertEffect;
  /** The severity before, when it rose while the alert was open. */
  readonly roseFrom: string | null;
  /** Whether it had no word, and has one again. */
  readonly isHeardAgain: boolean;
  readonly repetition: Repetition;
}

/** Returns the facts of an alert before its first event. */
export function newFacts(event: AlertEvent, tool: string, now: Instant): AlertFacts {
  return {
    status: 'resolved',
    groupKey: null,
    tool,
    severity: SEVERITY_UNSAID,
    title: event.title ?? event.key,
    details: {},
    links: [],
    images: [],
    history: [],
    occurrences: 0,
    episodeAt: null,
    settledAt: null,
    leaseUntil: null,
    silentSince: null,
    firstSeenAt: now,
    lastSeenAt: now,
  };
}

/**
 * Returns null for an event that leaves no trace: it is about an alert that was never heard of. An open alert that a route
 * dropped goes on, though its events open something as long as it has no incident.
 */
export function applyEvent(
  before: AlertFacts & { readonly isDropped: boolean },
  incident: IncidentOfAlert | null,
  event: AlertEvent,
  {
    settings,
    learns,
    repetition,
  }: { readonly settings: SourceSettings; readonly learns: boolean; readonly repetition: Repetition },
  now: Instant,
): AlertChange | null {
  if (event.action === 'update') return updated(before, event, repetition, now);
  const wasOpen = stateOf(before.history).since !== null;
  const decision = decideAlert(
    {
      history: before.history,
      settledAt: before.settledAt?.epochMilliseconds ?? null,
      episodeAt: before.episodeAt?.epochMilliseconds ?? null,
    },
    wasOpen ? incident : null,
    { action: event.action, at: event.at?.epochMilliseconds ?? null, timing: event.timing },
    now.epochMilliseconds,
  );
  const { alert, effect } = decision;
  if (alert.history.length === 0) return null;
  const isOpen = decision.tool === 'triggered' || decision.tool === 'acknowledged';
  const opens = effect === 'open' || effect === 'open_acknowledged' || effect === 'replace';
  const begins = opens && !(wasOpen && before.isDropped);
  const isCounted = event.action === 'trigger' && isOpen;
  const gap = (now.epochMilliseconds - before.lastSeenAt.epochMilliseconds) / 1_000;
  const learnt = isCounted && wasOpen && !begins ? learnGap(repetition, gap) : repetition;
  const severity = event.severity ?? before.severity;
  const isNewer = event.action === 'trigger' && (isOpen || before.occurrences === 0);
  const worst = begins || !wasOpen ? severity : worseSeverity(before.severity, severity);
  const facts: AlertFacts = {
    status: isOpen ? decision.tool : 'resolved',
    groupKey: event.group ?? before.groupKey,
    tool: event.tool ?? before.tool,
    severity: isNewer ? worst : before.severity,
    title: (isNewer ? event.title : null) ?? before.title,
    details: (isNewer ? event.details : null) ?? before.details,
    links: (isNewer ? event.links : null) ?? before.links,
    images: (isNewer ? event.images : null) ?? before.images,
    history: alert.history,
    occurrences: begins ? 1 : before.occurrences + (isCounted ? 1 : 0),
    episodeAt: instantOf(alert.episodeAt),
    settledAt: instantOf(alert.settledAt),
    leaseUntil: isCounted
      ? leaseOf(event.leaseUntil, { ...settings, learns }, learnt, now)
      : isOpen
        ? before.leaseUntil
        : null,
    silentSince: isCounted || !isOpen ? null : before.silentSince,
    firstSeenAt: begins ? now : before.firstSeenAt,
    lastSeenAt: now,
  };
  return {
    facts,
    effect,
    roseFrom: !begins && wasOpen && facts.severity !== before.severity ? before.severity : null,
    isHeardAgain: before.silentSince !== null && isCounted,
    repetition: learnt,
  };
}

/** Applies an `update` to an alert that exists. */
function updated(before: AlertFacts, event: AlertEvent, repetition: Repetition, now: Instant): AlertChange | null {
  if (before.history.length === 0) return null;
  const severity = worseSeverity(before.severity, event.severity ?? before.severity);
  const isOpen = before.status !== 'resolved';
  const details = event.details === null ? before.details : changeDetails(before.details, event.details, event);
  const facts = {
    ...before,
    title: event.title ?? before.title,
    severity: isOpen ? severity : before.severity,
    details,
    lastSeenAt: now,
  };
  const roseFrom = facts.severity === before.severity ? null : before.severity;
  return { facts, effect: 'nothing', roseFrom, isHeardAgain: false, repetition };
}

/** Items of a list and fields of a record up to which some are added. */
const ITEMS_MAX = 100;

/** Returns the details after an `update`; what is added and does not fit beside the others changes nothing. */
function changeDetails(
  before: AlertFacts['details'],
  changed: AlertFacts['details'],
  { detailsChange }: Pick<AlertEvent, 'detailsChange'>,
): Record<string, unknown> {
  if (detailsChange === 'replace') return cutDetails({ ...before, ...changed }).value;
  const entries = Object.entries(changed).map(([name, items]) => {
    const value = Object.hasOwn(before, name) ? before[name] : undefined;
    return [name, detailsChange === 'add' ? withItems(value, items) : withoutItems(value, items)];
  });
  const { value, cut } = cutDetails({ ...before, ...Object.fromEntries(entries) });
  return cut ? { ...before } : value;
}

function withItems(value: unknown, added: unknown): unknown {
  if (Array.isArray(added)) {
    const list: unknown[] = Array.isArray(value) ? value : [];
    return [...new Set([...list, ...(added as unknown[])])].slice(0, Math.max(ITEMS_MAX, list.length));
  }
  if (typeof added !== 'object' || added === null) return value;
  const record = typeof value === 'object' && !Array.isArray(value) ? { ...value } : {};
  const fields = Object.entries({ ...record, ...added });
  return Object.fromEntries(fields.slice(0, Math.max(ITEMS_MAX, Object.keys(record).length)));
}

function withoutItems(value: unknown, removed: unknown): unknown {
  const names = new Set<unknown>(Array.isArray(removed) ? removed : []);
  if (Array.isArray(value)) return value.filter((item) => !names.has(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.has(name)));
}

function instantOf(ms: number | null): Instant | null {
  return ms === null ? null : fromEpochMilliseconds(ms);
}

const OF_INCIDENT_BYTES_MAX = 8 * 1024;

/** Returns the details that an incident keeps of the alert that opened it. */
export function incidentDetails(
  facts: Pick<AlertFacts, 'tool' | 'details' | 'links' | 'images'>,
  { protocol, sourceName, key }: { readonly protocol: string; readonly sourceName: string; readonly key: string },
): Record<string, unknown> {
  const { value: said, cut } = cutDetails(facts.details, OF_INCIDENT_BYTES_MAX);
  return {
    source: { tool: facts.tool, protocol, name: sourceName },
    // The key itself stays as it was sent: the tool names the alert by it.
    alertKey: withoutSecrets(key),
    said,
    links: facts.links,
    images: facts.images,
    ...(cut && { isCut: true }),
  };
}

/** The key of the incident of an alert, or of the group that it belongs to: one is open at most. */
export function incidentKeyOf(
  {
    sourceId,
    scope,
    key,
    groupKey,
  }: { readonly sourceId: string; readonly scope: string; readonly key: string; readonly groupKey: string | null },
  { incidentsPer }: Pick<SourceSettings, 'incidentsPer'>,
): string {
  const isGrouped = incidentsPer === 'group' && groupKey !== null;
  const what = JSON.stringify([isGrouped ? 'group' : 'alert', scope, isGrouped ? groupKey : key]);
  return `alert.${sourceId}.${createHash('sha256').update(what).digest('hex').slice(0, 40)}`;
}

/** Alert before an event; times in milliseconds. */
export interface KnownAlert {
  readonly history: AlertHistory;
  /** Arrival of the last resolve, by our clock; null if none arrived. */
  readonly settledAt: number | null;
  /** Start, by the tool's time, of the episode that the incident stands for; null without an incident. */
  readonly episodeAt: number | null;
}

/** The incident of the alert; null when it has none, or it was removed. */
export interface IncidentOfAlert {
  readonly status: IncidentStatus;
  /** Time of the resolution, by our clock; null while it is open. */
  readonly resolvedAt: number | null;
}

/** Parts of an event that decide what it means. */
export interface TimedEvent {
  readonly action: AlertAction;
  /** The tool's time in milliseconds, or null. */
  readonly at: number | null;
  readonly timing: 'event' | 'start';
}

/**
 * Effect of an event: nothing; counts as one more; opens an incident, which may be acknowledged already; acknowledges it,
 * takes that back, or resolves it; or replaces it, as it was about an earlier time at which the alert was open.
 */
export type AlertEffect =
  | 'nothing'
  | 'count'
  | 'open'
  | 'open_acknowledged'
  | 'acknowledge'
  | 'unacknowledge'
  | 'resolve'
  | 'replace';

export interface AlertDecision {
  readonly alert: KnownAlert;
  readonly tool: ToolState['status'];
  readonly effect: AlertEffect;
}

/** A tool's clock may be ahead of ours by so much; a later time is none. */
const AHEAD_MS_MAX = 10 * 60_000;

/**
 * Time after a resolve in which a trigger with an earlier time counts as delayed. Later it is new: a tool whose clock is
 * wrong or whose times never change must not be silent for ever. Shorter where the time is that of the alert's start, which
 * each repetition carries.
 */
const LATE_MS: Readonly<Record<TimedEvent['timing'], number>> = { event: 15 * 60_000, start: 60_000 };

/** Decides what an event means. Pure: the same events in any order, and repeated, end in the state that the tool has. */
export function decideAlert(
  before: KnownAlert,
  incident: IncidentOfAlert | null,
  event: TimedEvent,
  now: number,
): AlertDecision {
  const alert = endedHere(before, incident);
  const at = timeOf(alert, event, now);
  if (at === null) return { alert, tool: stateOf(alert.history).status, effect: 'nothing' };
  const history = withEvent(alert.history, { at, action: event.action });
  const state = stateOf(history);
  const lastResolve = lastResolveOf(history);
  const isNewResolve = lastResolve !== null && lastResolve !== lastResolveOf(alert.history);
  const settledAt = isNewResolve ? now : alert.settledAt;
  const open = incident !== null && incident.status !== 'resolved' ? incident.status : null;
  const isAnother = alert.episodeAt !== null && lastResolve !== null && lastResolve >= alert.episodeAt;
  const wasAcknowledged = stateOf(alert.history).status === 'acknowledged' || event.action === 'unacknowledge';
  const effect = effectOf(state, open, event.action, { isAnother, wasAcknowledged });
  const episodeAt = episodeAfter(effect, state, alert.episodeAt, lastResolve);
  return { alert: { history, settledAt, episodeAt }, tool: state.status, effect };
}

/** A person who resolves the incident has ended the alert, whatever its tool thinks; a later trigger is a new one. */
function endedHere(knownAlert: KnownAlert, incident: IncidentOfAlert | null): KnownAlert {
  const isOver = incident?.status === 'resolved';
  const last = lastOf(knownAlert.history);
  if (!isOver || last === null || stateOf(knownAlert.history).since === null) return knownAlert;
  const history = withEvent(knownAlert.history, { at: last, action: 'resolve' });
  return { ...knownAlert, history, settledAt: incident.resolvedAt ?? knownAlert.settledAt };
}

/** The time at which the event counts; null for one that says nothing: it is about an alert that was never heard of. */
function timeOf({ history, settledAt }: KnownAlert, { action, at, timing }: TimedEvent, now: number): number | null {
  const last = lastOf(history);
  if (at === null || at > now + AHEAD_MS_MAX) {
    if (action === 'trigger') return last === null ? now : Math.max(now, last + 1);
    return timeOfNext(history, action);
  }
  const lastResolve = lastResolveOf(history);
  if (action !== 'trigger' || lastResolve === null || at > lastResolve) return at;
  const isLate = settledAt !== null && now - settledAt < LATE_MS[timing];
  return isLate ? at : Math.max(now, lastResolve + 1);
}

function effectOf(
  { status }: ToolState,
  open: Exclude<IncidentStatus, 'resolved'> | null,
  action: AlertAction,
  { isAnother, wasAcknowledged }: { readonly isAnother: boolean; readonly wasAcknowledged: boolean },
): AlertEffect {
  if (status === 'unknown' || status === 'resolved') return open === null ? 'nothing' : 'resolve';
  if (open === null) {
    if (action !== 'trigger') return 'nothing';
    return status === 'acknowledged' ? 'open_acknowledged' : 'open';
  }
  if (status === 'acknowledged' && open === 'triggered') return 'acknowledge';
  if (status === 'triggered' && open === 'acknowledged') {
    // The event is of the time before, or the tool's acknowledgement was about another time.
    if (isAnother) return 'replace';
    if (wasAcknowledged) return 'unacknowledge';
  }
  return action === 'trigger' ? 'count' : 'nothing';
}

function episodeAfter(
  effect: AlertEffect,
  { since }: ToolState,
  episodeAt: number | null,
  lastResolve: number | null,
): number | null {
  if (since === null) return null;
  const begins = effect === 'open' || effect === 'open_acknowledged' || effect === 'replace' || episodeAt === null;
  return begins || (lastResolve !== null && lastResolve >= episodeAt) ? since : episodeAt;
}
