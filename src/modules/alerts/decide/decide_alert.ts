import type { AlertAction } from '#modules/alerts/decide/alert_event.ts';
import {
  type AlertHistory,
  lastOf,
  lastResolveOf,
  stateOf,
  timeOfNext,
  type ToolState,
  withEvent,
} from '#modules/alerts/decide/alert_history.ts';
import type { IncidentStatus } from '#modules/incidents/decide/incident.ts';

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
