import { type Static, Type } from 'typebox';

import { type ActionContext, defineOperation } from '#actions/action_context.ts';
import { IdText, nullable, StrictObject, Timestamp } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';
import { toIncidentActor } from '#modules/incidents/decide/incident.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import { MONITORS_MAX, RUN_STATUSES } from '#modules/monitors/decide/check_in.ts';
import { editMonitor, type MonitorState, overdueFrom, useJobSchedule } from '#modules/monitors/decide/monitor.ts';
import {
  type MonitorSchedule,
  nextRuns,
  parseEnteredSchedule,
  scheduleFault,
  scheduleText,
} from '#modules/monitors/decide/schedule.ts';
import {
  CRONTAB_LENGTH_MAX,
  INTERVAL_MAX,
  INTERVAL_UNITS,
  MINUTES_MAX,
  THRESHOLD_MAX,
} from '#modules/monitors/decide/schedule_limits.ts';
import { opensMonitorIncidents, resolveMonitorIncidents } from '#modules/monitors/take_check_ins.ts';
import type { MonitorRow, MonitorRun } from '#modules/monitors/store/monitor_store.ts';

const SHOWN_RUNS = 20;

const RunView = Type.Object({
  runId: Type.String(),
  status: Type.Enum([...RUN_STATUSES], { description: 'missed: it did not begin in time; timeout: it took too long' }),
  startedAt: Timestamp,
  endedAt: nullable(Timestamp),
  release: nullable(Type.String()),
});

const MonitorView = Type.Object({
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

function toMonitorView(monitor: MonitorRow, runs: readonly MonitorRun[]): Static<typeof MonitorView> {
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

function toMonitorFields(monitor: Omit<MonitorRow, 'createdAt' | 'updatedAt'>): object {
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

export const listMonitors = defineOperation({
  name: 'list_monitors',
  summary: `List the cron monitors of a service with their newest runs, those that fail first; there are at most ${MONITORS_MAX}.`,
  permission: 'exceptions:view',
  effect: 'read',
  input: StrictObject({ serviceId: IdText }),
  result: Type.Object({
    monitors: Type.Array(MonitorView),
    monitorsMax: Type.Integer({ description: 'how many a service may have' }),
    opensIncidents: Type.Boolean({
      description: 'whether an active exception rule of the service opens incidents for them',
    }),
  }),
  async handle({ serviceId }, { caller, stores }) {
    const service = await stores.services.get(caller.orgId, serviceId);
    const monitors = await stores.monitors.list(service.id);
    const runs = await stores.monitors.listRuns(
      monitors.map(({ id }) => id),
      SHOWN_RUNS,
    );
    const byMonitor = Map.groupBy(runs, ({ monitorId }) => monitorId);
    const rules = monitors.length === 0 ? [] : await stores.activeRules.list('exception', { serviceIds: [service.id] });
    return {
      monitors: monitors.map((monitor) => toMonitorView(monitor, byMonitor.get(monitor.id) ?? [])),
      monitorsMax: MONITORS_MAX,
      opensIncidents: rules.some(opensMonitorIncidents),
    };
  },
});

/** Schedule of a job's runs, as a person enters it. */
const SCHEDULE_FIELDS = {
  scheduleType: Type.Enum(['crontab', 'interval']),
  crontab: Type.Optional(Type.String({ maxLength: CRONTAB_LENGTH_MAX, description: 'five fields, or such as @daily' })),
  every: Type.Optional(
    Type.Integer({ minimum: 1, maximum: INTERVAL_MAX, description: 'of an interval: so many units' }),
  ),
  unit: Type.Optional(Type.Enum([...INTERVAL_UNITS])),
  timezone: Type.String({ maxLength: 100 }),
};

const Minutes = Type.Integer({ minimum: 1, maximum: MINUTES_MAX });
const Threshold = Type.Integer({ minimum: 1, maximum: THRESHOLD_MAX });

/** Other expectations for the runs. */
const EXPECTATION_FIELDS = {
  marginMinutes: Minutes,
  runtimeMinutes: Minutes,
  failureThreshold: Threshold,
  recoveryThreshold: Threshold,
};

const SCHEDULE_EXAMPLE = {
  scheduleType: 'crontab',
  crontab: '0 4 * * *',
  every: 1,
  unit: 'day',
  timezone: 'Europe/Amsterdam',
} as const;

const BasedOn = nullable(Type.String({ maxLength: 40, description: 'the editedAt of what was read' }));

const EditedMonitorView = Type.Object({
  monitorId: IdText,
  editedAt: nullable(Timestamp),
  nextDueAt: nullable(Timestamp),
});

/** Resolves the incidents of a monitor in the name of the caller. */
async function resolveAsCaller(monitor: MonitorRow, context: ActionContext): Promise<IncidentRow[]> {
  const { caller, record } = context;
  const resolved = await resolveMonitorIncidents(context, monitor, toIncidentActor(caller.actor, caller.via));
  for (const { id, status } of resolved) record({ target: id, before: { status }, after: { status: 'resolved' } });
  return resolved;
}

/** Changes what is expected of a job, unless somebody else has since it was read. */
async function saveEdited(
  monitorId: string,
  basedOn: string | null,
  edit: (monitor: MonitorState) => MonitorState,
  context: ActionContext,
) {
  const { caller, stores, now, record } = context;
  const monitor = await stores.monitors.lock(caller.orgId, monitorId);
  if ((monitor.editedConfig?.at ?? null) !== basedOn) {
    throw new AppError('conflict', 'somebody has changed this monitor since you opened it');
  }
  const edited = edit(monitor);
  const running = await stores.monitors.listRunning(monitor.id);
  await stores.monitors.save(monitor.id, edited, overdueFrom(edited, running), now);
  await stores.monitors.keep(monitor.id);
  record({ target: monitor.id, before: toMonitorFields(monitor), after: toMonitorFields({ ...monitor, ...edited }) });
  const isReadAgain = scheduleFault(monitor.schedule) !== null && scheduleFault(edited.schedule) === null;
  if (isReadAgain && !edited.isFailing) await resolveAsCaller(monitor, context);
  return {
    monitorId: monitor.id,
    editedAt: edited.editedConfig?.at ?? null,
    nextDueAt: toTimestampOrNull(edited.nextDueAt),
  };
}

export const updateMonitor = defineOperation({
  name: 'update_monitor',
  summary:
    'Set when the runs of a cron monitor begin and how long they may take. This applies from now on, whatever schedule the job sends, until reset_monitor.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: StrictObject({ monitorId: IdText, basedOn: BasedOn, ...SCHEDULE_FIELDS, ...EXPECTATION_FIELDS }),
  result: EditedMonitorView,
  conflict: 'somebody has changed the monitor since it was read',
  example: {
    basedOn: '2027-02-01T10:00:00.000Z',
    ...SCHEDULE_EXAMPLE,
    marginMinutes: 5,
    runtimeMinutes: 30,
    failureThreshold: 1,
    recoveryThreshold: 1,
  },
  async handle({ monitorId, basedOn, scheduleType, crontab, every, unit, timezone, ...expected }, context) {
    const schedule = unwrap(parseEnteredSchedule({ scheduleType, crontab, every, unit, timezone }));
    const config = { schedule, ...expected };
    return await saveEdited(monitorId, basedOn, (monitor) => editMonitor(monitor, config, context.now), context);
  },
});

const PREVIEWED_RUNS = 3;

const previewMonitor = defineOperation({
  name: 'preview_monitor',
  summary: `Show when the next ${PREVIEWED_RUNS} runs of a schedule would begin, if it applied from now on.`,
  permission: 'exceptions:view',
  effect: 'read',
  input: StrictObject(SCHEDULE_FIELDS),
  result: Type.Object({ next: Type.Array(Timestamp) }),
  example: SCHEDULE_EXAMPLE,
  async handle(entered, { now }) {
    const schedule = unwrap(parseEnteredSchedule(entered));
    return { next: nextRuns(schedule, now, PREVIEWED_RUNS).map(toTimestamp) };
  },
});

export const restrictMonitor = defineOperation({
  name: 'restrict_monitor',
  summary:
    'Let only check-ins by the ingestion key of the service count for a cron monitor, or those by its DSN, which is public, as well.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: StrictObject({ monitorId: IdText, keyOnly: Type.Boolean() }),
  result: Type.Object({ monitorId: IdText, keyOnly: Type.Boolean() }),
  example: { keyOnly: true },
  async handle({ monitorId, keyOnly }, { caller, stores, now, record }) {
    const monitor = await stores.monitors.lock(caller.orgId, monitorId);
    await stores.monitors.setKeyOnly(monitor.id, keyOnly, now);
    record({ target: monitor.id, before: toMonitorFields(monitor), after: toMonitorFields({ ...monitor, keyOnly }) });
    return { monitorId: monitor.id, keyOnly };
  },
});

export const muteMonitor = defineOperation({
  name: 'mute_monitor',
  summary: 'Stop a cron monitor from opening incidents, or let it open them again. Its runs are still recorded.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: StrictObject({ monitorId: IdText, isMuted: Type.Boolean() }),
  result: Type.Object({ monitorId: IdText, isMuted: Type.Boolean() }),
  example: { isMuted: true },
  async handle({ monitorId, isMuted }, { caller, stores, now, record }) {
    const monitor = await stores.monitors.lock(caller.orgId, monitorId);
    await stores.monitors.setMuted(monitor.id, isMuted, now);
    record({ target: monitor.id, before: toMonitorFields(monitor), after: toMonitorFields({ ...monitor, isMuted }) });
    return { monitorId: monitor.id, isMuted };
  },
});

export const resetMonitor = defineOperation({
  name: 'reset_monitor',
  summary:
    'Go back to the schedule that the job of a cron monitor sends. The schedule that it sent last applies from now on.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: StrictObject({ monitorId: IdText, basedOn: BasedOn }),
  result: EditedMonitorView,
  conflict: 'somebody has changed the monitor since it was read',
  example: { basedOn: '2027-02-01T10:00:00.000Z' },
  handle: ({ monitorId, basedOn }, context) =>
    saveEdited(monitorId, basedOn, (monitor) => useJobSchedule(monitor, context.now), context),
});

export const deleteMonitor = defineOperation({
  name: 'delete_monitor',
  summary:
    'Delete a cron monitor with its runs, and resolve its incidents. The next check-in of its job makes it again.',
  permission: 'exceptions:edit',
  effect: 'delete',
  stepUp: true,
  input: StrictObject({ monitorId: IdText }),
  result: Type.Object({ deleted: Type.Literal(true), monitorId: IdText, resolvedIncidentIds: Type.Array(IdText) }),
  async handle({ monitorId }, context) {
    const { caller, stores, record } = context;
    const monitor = await stores.monitors.lock(caller.orgId, monitorId);
    record({ target: monitor.id, before: toMonitorFields(monitor), after: null });
    const resolved = await resolveAsCaller(monitor, context);
    await stores.monitors.delete(monitor.id);
    return { deleted: true as const, monitorId: monitor.id, resolvedIncidentIds: resolved.map(({ id }) => id) };
  },
});

export const MONITOR_OPERATIONS = [
  listMonitors,
  muteMonitor,
  restrictMonitor,
  updateMonitor,
  resetMonitor,
  previewMonitor,
  deleteMonitor,
] as const;
