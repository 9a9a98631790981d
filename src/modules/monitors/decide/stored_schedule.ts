import { parseCrontab } from '#modules/monitors/decide/crontab.ts';
import type { EditedConfig, MonitorConfig, MonitorSchedule } from '#modules/monitors/decide/schedule.ts';
import {
  CRONTAB_LENGTH_MAX,
  INTERVAL_MAX,
  INTERVAL_UNITS,
  MINUTES_MAX,
  THRESHOLD_MAX,
} from '#modules/monitors/decide/schedule_limits.ts';
import { faultsOf } from '#modules/contacts/decide/parsed.ts';
import { parseTimeZone } from '#modules/schedules/decide/time_zone.ts';
import type { Fault } from '#kernel/errors.ts';
import { findFaults } from '#kernel/input_faults.ts';

const zone = { type: 'string', maxLength: 100 };
const closed = (properties: object): object => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

const SHAPES: Readonly<Record<MonitorSchedule['type'], object>> = {
  crontab: closed({
    type: { enum: ['crontab'] },
    crontab: { type: 'string', maxLength: CRONTAB_LENGTH_MAX },
    timezone: zone,
  }),
  interval: closed({
    type: { enum: ['interval'] },
    value: { type: 'integer', minimum: 1, maximum: INTERVAL_MAX },
    unit: { enum: INTERVAL_UNITS },
    timezone: zone,
  }),
  unreadable: closed({
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
  const shape = matchingShape ?? closed({ type: { enum: Object.keys(SHAPES) } });
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
  const shape = {
    type: 'object',
    properties: {
      marginMinutes: COUNT,
      runtimeMinutes: COUNT,
      failureThreshold: THRESHOLD,
      recoveryThreshold: THRESHOLD,
      schedule: {},
      at: { type: 'string', maxLength: 40 },
    },
    required: ['schedule', 'marginMinutes', 'runtimeMinutes', 'failureThreshold', 'recoveryThreshold'],
    additionalProperties: false,
  };
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
