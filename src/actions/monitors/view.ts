import { type Static, Type } from 'typebox';

import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { RUN_STATUSES } from '#core/monitors/check_in.ts';
import { scheduleText } from '#core/monitors/schedule.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import type { MonitorRow, MonitorRun } from '#storage/postgres/monitor_store.ts';

/** Runs of a monitor that are shown. */
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
  schedule: nullable(Type.String({ description: 'a crontab with its zone, or an interval; null: none was sent' })),
  marginMinutes: Type.Integer({ description: 'so much later a run may begin' }),
  runtimeMinutes: Type.Integer({ description: 'so long a run may take' }),
  failureThreshold: Type.Integer(),
  recoveryThreshold: Type.Integer(),
  isFailing: Type.Boolean(),
  isMuted: Type.Boolean({ description: 'it opens no incident' }),
  nextDueAt: nullable(Timestamp),
  runs: Type.Array(RunView, { description: `the newest ${SHOWN_RUNS}, newest first` }),
});

export function toMonitorView(monitor: MonitorRow, runs: readonly MonitorRun[]): Static<typeof MonitorView> {
  const { id, schedule, nextDueAt, slug, environment, marginMinutes, runtimeMinutes } = monitor;
  const { failureThreshold, recoveryThreshold, isFailing, isMuted } = monitor;
  return {
    monitorId: id,
    slug,
    environment,
    schedule: schedule && scheduleText(schedule),
    marginMinutes,
    runtimeMinutes,
    failureThreshold,
    recoveryThreshold,
    isFailing,
    isMuted,
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

/** For the audit log. */
export function toMonitorFields({ slug, environment, schedule, isMuted }: MonitorRow): object {
  return { slug, environment, schedule: schedule && scheduleText(schedule), isMuted };
}
