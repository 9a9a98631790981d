import type { Temporal } from '#kernel/time.ts';
import type { Level } from '#modules/exceptions/decide/level.ts';

export const ALERT_ACTIONS = ['trigger', 'acknowledge', 'unacknowledge', 'resolve'] as const;

export type AlertAction = (typeof ALERT_ACTIONS)[number];

/** A link of an alert; only `http` and `https`, and an image may be shown as such. */
export interface AlertLink {
  readonly href: string;
  readonly text: string;
}

/** Event of one alert, read from the protocol of its tool and cut to size. */
export interface AlertEvent {
  /** `update` says something about the alert, and does nothing else. */
  readonly action: AlertAction | 'update';
  readonly key: string;
  /**
   * Keeps apart what several installations of a tool call the same; empty for nothing. Null where the event does not say:
   * it is about the alert with its key, whichever installation has it open.
   */
  readonly scope: string | null;
  /** Null where the event does not say: the alert keeps what it has. */
  readonly title: string | null;
  readonly severity: Level | null;
  readonly details: Readonly<Record<string, unknown>> | null;
  /**
   * Change that the details of an `update` make to those of the alert: each replaces the one of its name, its items or fields
   * are added to that one, or those that it lists are removed from it.
   */
  readonly detailsChange: 'replace' | 'add' | 'remove';
  readonly links: readonly AlertLink[] | null;
  readonly images: readonly AlertLink[] | null;
  /** Alerts of one group open one incident, where their source says so; null for none. */
  readonly group: string | null;
  /** The tool's own time; null when it told none. */
  readonly at: Temporal.Instant | null;
  /** Whether `at` is when this was sent, or when the alert began: then a repetition has the same. */
  readonly timing: 'event' | 'start';
  /** Time until which the tool repeats the alert if it goes on; null if unknown. */
  readonly leaseUntil: Temporal.Instant | null;
  /** Name that the tool gives itself; null if it gives none. */
  readonly tool: string | null;
  /** Note that somebody wrote in the tool. */
  readonly note: string | null;
}

/** An event that says no more than what happened. */
export function bareEvent(action: AlertEvent['action'], key: string): AlertEvent {
  return {
    action,
    key,
    scope: '',
    title: null,
    severity: null,
    details: null,
    detailsChange: 'replace',
    links: null,
    images: null,
    group: null,
    at: null,
    timing: 'event',
    leaseUntil: null,
    tool: null,
    note: null,
  };
}

/** Levels by the words that tools use for severities. */
const WORDS: Readonly<Record<string, Level>> = {
  critical: 'fatal',
  fatal: 'fatal',
  emergency: 'fatal',
  alert: 'fatal',
  page: 'fatal',
  disaster: 'fatal',
  p1: 'fatal',
  error: 'error',
  err: 'error',
  high: 'error',
  major: 'error',
  down: 'error',
  average: 'error',
  p2: 'error',
  warning: 'warning',
  warn: 'warning',
  minor: 'warning',
  medium: 'warning',
  p3: 'warning',
  info: 'info',
  information: 'info',
  informational: 'info',
  notice: 'info',
  low: 'info',
  none: 'info',
  ok: 'info',
  p4: 'info',
  p5: 'info',
  debug: 'debug',
};

/** The severity that a tool's word stands for; null for an unknown word. */
export function severityOf(word: unknown): Level | null {
  if (typeof word !== 'string') return null;
  const key = word.trim().toLowerCase();
  return Object.hasOwn(WORDS, key) ? (WORDS[key] ?? null) : null;
}

/** Severity of an alert whose tool names none. */
export const SEVERITY_UNSAID: Level = 'error';

/** The labels of an alert by which a maintenance may be for it: those its tool calls labels, and its plain details. */
export function labelsOfDetails(details: Readonly<Record<string, unknown>>): Record<string, string> {
  const labels: Record<string, string> = {};
  const add = (record: object): void => {
    for (const [name, value] of Object.entries(record)) {
      if (typeof value === 'string') labels[name] = value;
      else if (typeof value === 'number' || typeof value === 'boolean') labels[name] = String(value);
    }
  };
  add(details);
  for (const name of ['custom_details', 'details', 'labels']) {
    const inner = Object.hasOwn(details, name) ? details[name] : null;
    if (typeof inner === 'object' && inner !== null && !Array.isArray(inner)) add(inner);
  }
  return labels;
}

/** Event with the tool's own time in milliseconds. */
export interface SaidEvent {
  readonly at: number;
  readonly action: AlertAction;
}

/** Events of an alert by the tool's own time, as far as later events can still change their meaning. */
export type AlertHistory = readonly SaidEvent[];

export interface ToolState {
  readonly status: 'unknown' | 'triggered' | 'acknowledged' | 'resolved';
  /** Time of the first trigger since the last resolve; null unless the alert is open. */
  readonly since: number | null;
}

const ENTRIES_MAX = 12;

/** Order of actions at one instant. A trigger comes first: a tool that says both at once is done. */
const RANK: Readonly<Record<AlertAction, number>> = { trigger: 0, acknowledge: 1, unacknowledge: 2, resolve: 3 };

/** The state after these events in the order of their times, as the tool that sent them has it. */
export function stateOf(history: AlertHistory): ToolState {
  let state: ToolState = { status: 'unknown', since: null };
  for (const { at, action } of history) {
    switch (action) {
      case 'trigger':
        if (state.since === null) state = { status: 'triggered', since: at };
        break;
      case 'acknowledge':
        if (state.since !== null) state = { ...state, status: 'acknowledged' };
        break;
      case 'unacknowledge':
        if (state.since !== null) state = { ...state, status: 'triggered' };
        break;
      case 'resolve':
        state = { status: 'resolved', since: null };
        break;
    }
  }
  return state;
}

export function lastResolveOf(history: AlertHistory): number | null {
  return history.findLast(({ action }) => action === 'resolve')?.at ?? null;
}

export function lastOf(history: AlertHistory): number | null {
  return history.at(-1)?.at ?? null;
}

/** The earliest time at which an event without a time of its own comes after all others; null without any others. */
export function timeOfNext(history: AlertHistory, action: AlertAction): number | null {
  const last = history.at(-1);
  if (last === undefined) return null;
  return RANK[action] >= RANK[last.action] ? last.at : last.at + 1;
}

/**
 * The history with one event more. Nothing before the last resolve matters any more, and of several alike in a row only
 * the first and the last do: what came in between changes no state, wherever a late event falls.
 */
export function withEvent(history: AlertHistory, event: SaidEvent): AlertHistory {
  const isSaid = history.some(({ at, action }) => at === event.at && action === event.action);
  const all = isSaid ? [...history] : [...history, event].toSorted(inOrder);
  const lastResolve = all.findLastIndex(({ action }) => action === 'resolve');
  const live = all.slice(Math.max(0, lastResolve));
  const ends = live.filter(
    ({ action }, index) => live[index - 1]?.action !== action || live[index + 1]?.action !== action,
  );
  if (ends.length <= ENTRIES_MAX) return ends;
  // The first of its states, and what was said last.
  return [...ends.slice(0, 2), ...ends.slice(2 - ENTRIES_MAX)];
}

function inOrder(a: SaidEvent, b: SaidEvent): number {
  return a.at - b.at || RANK[a.action] - RANK[b.action];
}

/** Observed intervals, in seconds, at which a source repeats an alert that goes on. */
export interface Repetition {
  /** The longest time between two events of one alert; null before the first repetition. */
  readonly longest: number | null;
  readonly shortest: number | null;
}

export const NO_REPETITION: Repetition = { longest: null, shortest: null };

/** A gap of a day or more is no rhythm: the alert came back. */
const GAP_SECONDS_MAX = 86_400;

/** Two processes of one tool may send the same within this time. */
const GAP_SECONDS_MIN = 5;
const GROUP_INTERVAL_SECONDS = 300;

/** Returns the intervals after an alert was repeated `seconds` after its last event. */
export function learnGap({ longest, shortest }: Repetition, seconds: number): Repetition {
  if (seconds < GAP_SECONDS_MIN || seconds > GAP_SECONDS_MAX) return { longest, shortest };
  const gap = Math.round(seconds);
  return { longest: Math.max(longest ?? gap, gap), shortest: Math.min(shortest ?? gap, gap) };
}

/**
 * Returns the time until which an alert is repeated if it goes on: what its tool says, else the setting of its source, else
 * what was learnt (the longest gap and two intervals more). Null if nothing is known.
 */
export function leaseOf(
  toldUntil: Temporal.Instant | null,
  { leaseMinutes, learns }: { readonly leaseMinutes: number | null; readonly learns: boolean },
  { longest, shortest }: Repetition,
  now: Temporal.Instant,
): Temporal.Instant | null {
  if (leaseMinutes !== null) return now.add({ minutes: leaseMinutes });
  if (toldUntil !== null) return toldUntil;
  if (!learns || longest === null) return null;
  const interval = Math.min(longest, shortest ?? GROUP_INTERVAL_SECONDS);
  return now.add({ seconds: longest + 2 * Math.max(interval, 30) });
}
