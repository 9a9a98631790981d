import type { MonitorSchedule } from '#modules/monitors/decide/schedule.ts';

/** Statuses of a run as a client reports them. */
export const CHECK_IN_STATUSES = ['in_progress', 'ok', 'error'] as const;
export type CheckInStatus = (typeof CHECK_IN_STATUSES)[number];

/** Outcomes of a run; `missed`: it did not begin, `timeout`: it took too long. */
export const RUN_STATUSES = [...CHECK_IN_STATUSES, 'missed', 'timeout'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export const SLUG_LENGTH_MAX = 50;
export const ENVIRONMENT_LENGTH_MAX = 64;
/** Environment if a client names none, as in Sentry. */
export const DEFAULT_ENVIRONMENT = 'production';

/** Limit on the monitors of a service, in all environments together. */
export const MONITORS_MAX = 200;

/**
 * Limit on the monitors that check-ins with the DSN of a service, which is public, create within an hour; as many again whose
 * schedule cannot be read, of which no run is expected.
 */
export const NEW_MONITORS_AN_HOUR_MAX = 10;

/** Returns whether the DSN may create a monitor with this schedule, beside those that it created within the hour. */
export function mayCreateByDsn(recent: readonly (MonitorSchedule | null)[], schedule: MonitorSchedule | null): boolean {
  const isUnreadable = schedule?.type === 'unreadable';
  const alike = recent.filter((other) => (other?.type === 'unreadable') === isUnreadable);
  return alike.length < NEW_MONITORS_AN_HOUR_MAX;
}

/** Returns the name of a monitor as its address has it; null when nothing is left of it. */
export function toSlug(text: string): string | null {
  const slug = text
    .slice(0, 200)
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, SLUG_LENGTH_MAX);
  return slug === '' ? null : slug;
}

/** Returns a status as clients and scripts write it, in whatever letters; null for what is none. */
export function asCheckInStatus(value: unknown): CheckInStatus | null {
  const plain = typeof value === 'string' ? value.trim().toLowerCase().replace('-', '_') : value;
  return CHECK_IN_STATUSES.find((status) => status === plain) ?? null;
}
