import type { Fault } from '#kernel/errors.ts';
import { closedObject, findFaults } from '#kernel/input_faults.ts';
import { isAtOrBefore, type Temporal } from '#kernel/time.ts';
import { fault, faultsOf, ok, type Parsed, shown } from '#modules/contacts/decide/parsed.ts';
import { nextRun, parseCrontab } from '#modules/monitors/decide/crontab.ts';
import {
  CRONTAB_LENGTH_MAX,
  INTERVAL_MAX,
  INTERVAL_UNITS,
  MINUTES_MAX,
  THRESHOLD_MAX,
} from '#modules/monitors/decide/schedule_limits.ts';
import { parseTimeZone } from '#modules/schedules/decide/schedule_times.ts';

type IntervalUnit = (typeof INTERVAL_UNITS)[number];

/** Schedule of a job's runs, as it is stored. */
export type MonitorSchedule =
  | { readonly type: 'crontab'; readonly crontab: string; readonly timezone: string }
  | { readonly type: 'interval'; readonly value: number; readonly unit: IntervalUnit; readonly timezone: string }
  | UnreadableSchedule;

/** Schedule of a job that cannot be read: no run of it is expected, and none of an earlier one. */
interface UnreadableSchedule {
  readonly type: 'unreadable';
  /** Schedule as it was sent, cut to a bounded length. */
  readonly text: string;
  readonly fault: string;
  readonly timezone: string;
}

export interface MonitorConfig {
  readonly schedule: MonitorSchedule;
  /** Minutes by which a run may begin late. */
  readonly marginMinutes: number;
  /** Longest runtime of a run, in minutes. */
  readonly runtimeMinutes: number;
  /** Number of bad runs in a row after which it fails. */
  readonly failureThreshold: number;
  /** Number of good runs in a row after which it recovers. */
  readonly recoveryThreshold: number;
}

/** Config that a person has set in place of the job's, and when. */
export interface EditedConfig extends MonitorConfig {
  readonly at: string;
}

export const CONFIG_DEFAULTS = { marginMinutes: 1, runtimeMinutes: 30, failureThreshold: 1, recoveryThreshold: 1 };

type Sent = Readonly<Record<string, unknown>>;

/** Parses the `monitor_config` of a client. Absent fields have Sentry's defaults. */
export function parseMonitorConfig(sent: Sent): Parsed<MonitorConfig> {
  // Clients that leave their setting empty send the empty text.
  const zone = parseTimeZone(textOf(sent['timezone'])?.trim() || 'UTC', 'timezone');
  if (zone.kind === 'faults') return zone;
  const schedule = parseSchedule(sent['schedule'], zone.value);
  if (schedule.kind === 'faults') return schedule;
  return ok({ schedule: schedule.value, ...countsOf(sent) });
}

/** Reads the config like `parseMonitorConfig`, but keeps a schedule that cannot be read as such. */
export function readMonitorConfig(sent: Sent): MonitorConfig {
  const parsed = parseMonitorConfig(sent);
  if (parsed.kind === 'ok') return parsed.value;
  const [wrong] = parsed.faults;
  const { value } = (typeof sent['schedule'] === 'object' && sent['schedule'] !== null ? sent['schedule'] : {}) as Sent;
  const text = wrong?.path === 'timezone' ? sent['timezone'] : (value ?? sent['schedule'] ?? '');
  const shownText = (typeof text === 'string' ? text : JSON.stringify(text)).slice(0, CRONTAB_LENGTH_MAX);
  const schedule = { type: 'unreadable', text: shownText, fault: wrong?.message ?? '', timezone: 'UTC' } as const;
  return { schedule, ...countsOf(sent) };
}

function countsOf(sent: Sent): Omit<MonitorConfig, 'schedule'> {
  return {
    marginMinutes: countOf(sent['checkin_margin'], CONFIG_DEFAULTS.marginMinutes, MINUTES_MAX),
    runtimeMinutes: countOf(sent['max_runtime'], CONFIG_DEFAULTS.runtimeMinutes, MINUTES_MAX),
    failureThreshold: countOf(sent['failure_issue_threshold'], CONFIG_DEFAULTS.failureThreshold, THRESHOLD_MAX),
    recoveryThreshold: countOf(sent['recovery_threshold'], CONFIG_DEFAULTS.recoveryThreshold, THRESHOLD_MAX),
  };
}

function parseSchedule(schedule: unknown, timezone: string): Parsed<MonitorSchedule> {
  if (typeof schedule !== 'object' || schedule === null) {
    return fault('schedule', 'is missing: give a crontab, or an interval');
  }
  const { type, value, unit } = schedule as Sent;
  if (type === 'crontab') return parseCrontabText(textOf(value) ?? '', timezone);
  if (type !== 'interval') return fault('schedule.type', `${shown(type)} is neither "crontab" nor "interval"`);
  const every = numberOf(value) ?? Number.NaN;
  const unitName = textOf(unit)?.trim().toLowerCase().replace(/s$/, '');
  const knownUnit = INTERVAL_UNITS.find((intervalUnit) => intervalUnit === unitName);
  if (knownUnit === undefined) return fault('schedule.unit', `${shown(unit)} is none of ${INTERVAL_UNITS.join(', ')}`);
  if (!Number.isInteger(every) || every < 1 || every > INTERVAL_MAX) {
    return fault('schedule.value', `${shown(value)} is no whole number between 1 and ${INTERVAL_MAX}`);
  }
  return ok({ type, value: every, unit: knownUnit, timezone });
}

/** Zone before a line, as Go's schedulers and Kubernetes take it: `CRON_TZ=Europe/Berlin 0 4 * * *`. */
const ZONED = /^\s*(?:CRON_)?TZ=["']?([^\s"']{1,100})["']?\s+(.+)$/s;
/** Pause of Go's schedulers: `@every 90m`, `@every 1h30m`. */
const EVERY = /^\s*@every (?=\d)(?:(\d{1,4})h)?(?:(\d{1,5})m)?(?:0{1,2}s)?\s*$/i;

function parseCrontabText(sent: string, zone: string): Parsed<MonitorSchedule> {
  const [, hours, minutes] = EVERY.exec(sent) ?? [];
  const pause = Number(hours ?? 0) * 60 + Number(minutes ?? 0);
  const [every, unit] = pause % 60 === 0 ? ([pause / 60, 'hour'] as const) : ([pause, 'minute'] as const);
  if (every >= 1 && every <= INTERVAL_MAX) return ok({ type: 'interval', value: every, unit, timezone: zone });
  const [, named, line = sent] = ZONED.exec(sent) ?? [];
  const timezone = named === undefined ? ok(zone) : parseTimeZone(named, 'schedule.value');
  if (timezone.kind === 'faults') return timezone;
  const crontab = parseCrontab(line, 'schedule.value');
  return crontab.kind === 'faults' ? crontab : ok({ type: 'crontab', crontab: line.trim(), timezone: timezone.value });
}

/** A schedule as a person enters it: of one that is no crontab, the unit and how many. */
interface EnteredSchedule {
  readonly scheduleType: 'crontab' | 'interval';
  readonly crontab?: string | undefined;
  readonly every?: number | undefined;
  readonly unit?: IntervalUnit | undefined;
  readonly timezone: string;
}

/** Parses a schedule that a person entered; the faults are those of its fields. */
export function parseEnteredSchedule(entered: EnteredSchedule): Parsed<MonitorSchedule> {
  const { scheduleType: type, crontab, every, unit } = entered;
  const zone = parseTimeZone(entered.timezone, 'timezone');
  if (zone.kind === 'faults') return zone;
  const timezone = zone.value;
  if (type === 'crontab') {
    const parsed = parseCrontab(crontab ?? '', 'crontab');
    return parsed.kind === 'faults' ? parsed : ok({ type, crontab: (crontab ?? '').trim(), timezone });
  }
  if (every === undefined) return fault('every', 'is required for an interval');
  if (unit === undefined) return fault('unit', 'is required for an interval');
  return ok({ type, value: every, unit, timezone });
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.length <= CRONTAB_LENGTH_MAX ? value : null;
}

/** Returns a number, which scripts also write as text; null for what is none. */
export function numberOf(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

/** Returns a count within its range; another value gives the nearest or the default. */
function countOf(value: unknown, missing: number, most: number): number {
  const number = numberOf(value);
  return number === null ? missing : Math.min(Math.max(Math.trunc(number), 1), most);
}

/** Returns when the next run is due, if one began at this instant; null for never. */
export function nextDue(schedule: MonitorSchedule, after: Temporal.Instant): Temporal.Instant | null {
  return dueFinder(schedule)(after);
}

/** Returns a function that does what `nextDue` does, and reads the schedule once. */
export function dueFinder(schedule: MonitorSchedule): (after: Temporal.Instant) => Temporal.Instant | null {
  if (schedule.type === 'unreadable') return () => null;
  const { timezone } = schedule;
  if (schedule.type === 'interval') return (after) => endOfPause(schedule, after);
  const crontab = parseCrontab(schedule.crontab, 'crontab');
  return crontab.kind === 'faults' ? () => null : (after) => nextRun(crontab.value, timezone, after);
}

type Interval = Extract<MonitorSchedule, { type: 'interval' }>;

function endOfPause({ unit, value, timezone }: Interval, after: Temporal.Instant): Temporal.Instant {
  const at = after
    .toZonedDateTimeISO(timezone)
    .add({ [`${unit}s`]: value })
    .toInstant();
  // A pause of days may be one of the wall clock or of elapsed time: it is over when both are.
  const elapsed = unit === 'day' || unit === 'week' ? after.add({ hours: (unit === 'day' ? 24 : 168) * value }) : at;
  return isAtOrBefore(elapsed, at) ? at : elapsed;
}

/** Returns a schedule as text; a crontab is shown as its people wrote it. */
export function scheduleText(schedule: MonitorSchedule): string {
  if (schedule.type === 'crontab') return `${schedule.crontab} (${schedule.timezone})`;
  if (schedule.type === 'unreadable') return schedule.text;
  const { value, unit } = schedule;
  return value === 1 ? `every ${unit}` : `every ${value} ${unit}s`;
}

/** Explains why no run is expected although a schedule was sent; null for one that can be read. */
export function scheduleFault(schedule: MonitorSchedule | null): string | null {
  return schedule?.type === 'unreadable' ? schedule.fault : null;
}

/** Returns the next runs after an instant, as far as there are so many. */
export function nextRuns(schedule: MonitorSchedule, after: Temporal.Instant, count: number): Temporal.Instant[] {
  const runs: Temporal.Instant[] = [];
  const find = dueFinder(schedule);
  for (let at = find(after); at !== null && runs.length < count; at = find(at)) runs.push(at);
  return runs;
}

const zone = { type: 'string', maxLength: 100 };
const SHAPES: Readonly<Record<MonitorSchedule['type'], object>> = {
  crontab: closedObject({
    type: { enum: ['crontab'] },
    crontab: { type: 'string', maxLength: CRONTAB_LENGTH_MAX },
    timezone: zone,
  }),
  interval: closedObject({
    type: { enum: ['interval'] },
    value: { type: 'integer', minimum: 1, maximum: INTERVAL_MAX },
    unit: { enum: INTERVAL_UNITS },
    timezone: zone,
  }),
  unreadable: closedObject({
    type: { enum: ['unreadable'] },
    text: { type: 'string', maxLength: CRONTAB_LENGTH_MAX },
    fault: { type: 'string', maxLength: 1_000 },
    timezone: zone,
  }),
};

const COUNT = { type: 'integer', minimum: 1, maximum: MINUTES_MAX };
const THRESHOLD = { type: 'integer', minimum: 1, maximum: THRESHOLD_MAX };

/** Returns the faults of a stored schedule; empty if it can be read. */
export function storedScheduleFaults(schedule: unknown, path: string): Fault[] {
  const type: unknown = typeof schedule === 'object' && schedule !== null ? Reflect.get(schedule, 'type') : undefined;
  const matchingShape = Object.entries(SHAPES).find(([name]) => name === type)?.[1];
  const shape = matchingShape ?? closedObject({ type: { enum: Object.keys(SHAPES) } });
  const faults = findFaults({ type: 'object', properties: { [path]: shape } }, { [path]: schedule });
  if (faults.length > 0) return faults;
  const { crontab, timezone } = schedule as { crontab?: string; timezone: string };
  return [
    ...(crontab === undefined ? [] : faultsOf(parseCrontab(crontab, `${path}.crontab`))),
    ...faultsOf(parseTimeZone(timezone, `${path}.timezone`)),
  ];
}

/** Returns the faults of a stored config of a job or a person; a person's has `at`. */
export function storedConfigFaults(config: unknown, path: string): Fault[] {
  const shape = closedObject(
    {
      marginMinutes: COUNT,
      runtimeMinutes: COUNT,
      failureThreshold: THRESHOLD,
      recoveryThreshold: THRESHOLD,
      schedule: {},
      at: { type: 'string', maxLength: 40 },
    },
    ['schedule', 'marginMinutes', 'runtimeMinutes', 'failureThreshold', 'recoveryThreshold'],
  );
  const faults = findFaults({ type: 'object', properties: { [path]: shape } }, { [path]: config });
  if (faults.length > 0) return faults;
  return storedScheduleFaults((config as { schedule: unknown }).schedule, `${path}.schedule`);
}

interface StoredMonitor {
  readonly schedule: MonitorSchedule | null;
  readonly editedConfig: EditedConfig | null;
  readonly sentConfig: MonitorConfig | null;
}

/** Reads a stored monitor, whoever wrote it: a schedule that cannot be read becomes one of type `unreadable`. */
export function readMonitor<Monitor extends StoredMonitor>(stored: Monitor): Monitor {
  const { schedule, editedConfig, sentConfig } = stored;
  const [wrong] = schedule === null ? [] : storedScheduleFaults(schedule, 'schedule');
  const edited = editedConfig !== null && storedConfigFaults(editedConfig, 'edited').length > 0 ? null : editedConfig;
  const sent = sentConfig !== null && storedConfigFaults(sentConfig, 'sent').length > 0 ? null : sentConfig;
  if (wrong === undefined && edited === editedConfig && sent === sentConfig) return stored;
  return {
    ...stored,
    ...(wrong !== undefined && { schedule: unreadable(schedule, wrong) }),
    editedConfig: edited,
    sentConfig: sent,
  };
}

function unreadable(schedule: unknown, { path, message }: Fault): MonitorSchedule {
  const text = JSON.stringify(schedule).slice(0, CRONTAB_LENGTH_MAX);
  return { type: 'unreadable', text, fault: `${path} ${message}`.slice(0, 1_000), timezone: 'UTC' };
}
