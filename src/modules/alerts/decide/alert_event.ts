import type { Level } from '#modules/exceptions/decide/level.ts';
import type { Temporal } from '#kernel/time.ts';

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
  /** Keeps apart what several installations of a tool call the same; empty for nothing. */
  readonly scope: string;
  /** Null where the event does not say: the alert keeps what it has. */
  readonly title: string | null;
  readonly severity: Level | null;
  readonly details: Readonly<Record<string, unknown>> | null;
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

/** The same of the incident that it opened; none of any other. */
export function labelsOfAlert({
  kind,
  details,
}: {
  readonly kind: string;
  readonly details: Readonly<Record<string, unknown>>;
}): Record<string, string> {
  const said = kind === 'alert' ? details['said'] : null;
  return typeof said === 'object' && said !== null ? labelsOfDetails({ ...said }) : {};
}
