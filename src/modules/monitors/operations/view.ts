import { type Static, Type } from 'typebox';

import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { RUN_STATUSES } from '#modules/monitors/decide/check_in.ts';
import { type MonitorSchedule, scheduleFault, scheduleText } from '#modules/monitors/decide/schedule.ts';
import { INTERVAL_UNITS } from '#modules/monitors/decide/schedule_limits.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import type { MonitorRow, MonitorRun } from '#modules/monitors/store/monitor_store.ts';

/** Number of runs of a monitor that are shown. */
export const SHOWN_RUNS = 20;

const RunView = Type.Object({
  runId: Type.String(),
  status: Type.Enum([...RUN_STATUSES], { description: 'missed: it did not begin in time; timeout: it took too long' }),
  startedAt: Timestamp,
  endedAt: nullable(Timestamp),
  release: nullable(Type.String()),
});

export const MonitorView = Type.Object({
  monitorId: IdText,
  slug: Type.String(),
  environment: Type.String(),
  schedule: nullable(
    Type.String({ description: 'a crontab with its zone, or an interval; null: nobody has said one' }),
  ),
  scheduleFault: nullable(
    Type.String({ description: 'why no run is expected although the job sends a schedule: it cannot be read' }),
  ),
  entered: nullable(
    Type.Object(
      {
        scheduleType: Type.Enum(['crontab', 'interval']),
        crontab: nullable(Type.String()),
        every: nullable(Type.Integer()),
        unit: nullable(Type.Enum([...INTERVAL_UNITS])),
        timezone: Type.String(),
      },
      { description: 'the same as the fields of a form' },
    ),
  ),
  editedAt: nullable(
    Type.String({
      format: 'date-time',
      description: 'since when it is as a person has said, whatever the job says; null: the job decides',
    }),
  ),
  sentSchedule: nullable(Type.String({ description: 'what the job said last, of one that a person has edited' })),
  marginMinutes: Type.Integer({ description: 'so much later a run may begin' }),
  runtimeMinutes: Type.Integer({ description: 'so long a run may take' }),
  failureThreshold: Type.Integer(),
  recoveryThreshold: Type.Integer(),
  isFailing: Type.Boolean(),
  isMuted: Type.Boolean({ description: 'it opens no incident' }),
  keyOnly: Type.Boolean({ description: 'only check-ins by the ingestion key count, none by the DSN' }),
  nextDueAt: nullable(Timestamp),
  runs: Type.Array(RunView, { description: `the newest ${SHOWN_RUNS}, newest first` }),
});

export function toMonitorView(monitor: MonitorRow, runs: readonly MonitorRun[]): Static<typeof MonitorView> {
  const { id, schedule, editedConfig, sentConfig, nextDueAt, slug, environment, marginMinutes, runtimeMinutes } =
    monitor;
  const { failureThreshold, recoveryThreshold, isFailing, isMuted, keyOnly } = monitor;
  return {
    monitorId: id,
    slug,
    environment,
    schedule: schedule && scheduleText(schedule),
    scheduleFault: scheduleFault(schedule),
    entered: schedule && toEntered(schedule),
    editedAt: editedConfig?.at ?? null,
    sentSchedule: editedConfig === null || sentConfig === null ? null : scheduleText(sentConfig.schedule),
    marginMinutes,
    runtimeMinutes,
    failureThreshold,
    recoveryThreshold,
    isFailing,
    isMuted,
    keyOnly,
    nextDueAt: toTimestampOrNull(nextDueAt),
    runs: runs.map(({ runId, status, startedAt, endedAt, release }) => ({
      runId,
      status,
      startedAt: toTimestamp(startedAt),
      endedAt: toTimestampOrNull(endedAt),
      release,
    })),
  };
}

function toEntered(schedule: MonitorSchedule): Static<typeof MonitorView>['entered'] {
  if (schedule.type === 'unreadable') return null;
  const { timezone } = schedule;
  return schedule.type === 'crontab'
    ? { scheduleType: 'crontab', crontab: schedule.crontab, every: null, unit: null, timezone }
    : { scheduleType: 'interval', crontab: null, every: schedule.value, unit: schedule.unit, timezone };
}

/** Returns the fields of a monitor for the audit log. */
export function toMonitorFields(monitor: Omit<MonitorRow, 'createdAt' | 'updatedAt'>): object {
  const { slug, environment, schedule, editedConfig, marginMinutes, runtimeMinutes } = monitor;
  const { failureThreshold, recoveryThreshold, isMuted, keyOnly } = monitor;
  return {
    slug,
    environment,
    schedule: schedule && scheduleText(schedule),
    isEdited: editedConfig !== null,
    marginMinutes,
    runtimeMinutes,
    failureThreshold,
    recoveryThreshold,
    isMuted,
    keyOnly,
  };
}
