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
  /** Key of the alert in the tool. */
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
