import { p } from '@mikro-orm/postgresql';

import type { CheckInStatus, RunStatus } from '#modules/monitors/decide/check_in.ts';
import type { EditedConfig, MonitorConfig, MonitorSchedule } from '#modules/monitors/decide/schedule.ts';
import { bigint, id, instant, jsonColumn, table, text } from '#storage/postgres/entities/column_types.ts';

/** A scheduled job of a service in one environment. */
export const MonitorEntity = table('monitors', {
  id: id<'monitor'>().primary(),
  orgId: id<'org'>(),
  serviceId: id<'service'>(),
  slug: p.text(),
  environment: p.text(),
  /** Null while neither a client nor a person has said one. */
  schedule: jsonColumn<MonitorSchedule>().strictNullable(),
  marginMinutes: p.integer(),
  runtimeMinutes: p.integer(),
  failureThreshold: p.integer(),
  recoveryThreshold: p.integer(),
  /** Config that a person has set instead of the job; null while the job decides. */
  editedConfig: jsonColumn<EditedConfig>().strictNullable(),
  /** Config that the job sent last. */
  sentConfig: jsonColumn<MonitorConfig>().strictNullable(),
  isFailing: p.boolean().default(false),
  failures: p.integer().default(0),
  successes: p.integer().default(0),
  nextDueAt: instant().strictNullable(),
  /** Time from which a run has to be checked for being missed or taking too long; null for never. */
  overdueFrom: instant().strictNullable(),
  isMuted: p.boolean().default(false),
  /** Whether only check-ins by the ingestion key count. */
  keyOnly: p.boolean().default(false),
  /**
   * Whether it stays: made by a check-in with the ingestion key or changed by a person, it is replaced by no other.
   */
  isKept: p.boolean().default(false),
  createdAt: instant(),
  /** Time of the last change of its state, not of the last run. */
  updatedAt: instant(),
});

export const MonitorRunEntity = table('monitor_runs', {
  monitorId: id<'monitor'>().primary(),
  /** Id that the client gave the run, or a new one. */
  runId: p.text().primary(),
  status: text<RunStatus>(),
  startedAt: instant(),
  endedAt: instant().strictNullable(),
  timeoutAt: instant().strictNullable(),
  release: p.text().strictNullable(),
});

/** A check-in that was accepted and not looked at yet. */
export const CheckInEntity = table('check_ins', {
  /** Number in the order of arrival. */
  number: bigint().primary().autoincrement(),
  orgId: id<'org'>(),
  serviceId: id<'service'>(),
  slug: p.text(),
  environment: p.text(),
  runId: p.text(),
  /** Whether its client named the run. */
  isNamed: p.boolean(),
  status: text<CheckInStatus>(),
  durationMs: bigint().strictNullable(),
  config: jsonColumn<MonitorConfig>().strictNullable(),
  release: p.text().strictNullable(),
  receivedAt: instant(),
  /** Whether it came with the ingestion key of the service; else with its DSN, which is public. */
  byKey: p.boolean().default(false),
});

/** Time since which overdue runs are looked for without a break; one row. */
export const MonitorWatchEntity = table('monitor_watch', {
  id: p.boolean().primary().default(true),
  since: instant(),
  seenAt: instant(),
});
