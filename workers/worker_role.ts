import { recordChange } from '#actions/action_context.ts';
import { type Cipher, createCipher } from '#auth/cipher.ts';
import { createExternalFetch, type ExternalFetch } from '#auth/external_fetch.ts';
import { type AppContext, compose } from '#entry/compose.ts';
import { externalFetchOptionsOf, type RunningConfig } from '#entry/config.ts';
import type { Connections } from '#entry/foundation.ts';
import { useSmallBufferPool } from '#entry/memory/memory.ts';
import { newId } from '#kernel/ids.ts';
import type { LatencyHistograms } from '#kernel/latency_histograms.ts';
import type { Log } from '#kernel/log.ts';
import { type Clock, fromEpochMilliseconds, limitBy } from '#kernel/time.ts';
import { endSilentAlerts } from '#modules/alerts/end_alerts.ts';
import type { AuditStreamRuntime } from '#modules/audit/stream_audit.ts';
import { simulatedIdsOf } from '#notify/twilio/simulated_account.ts';
import { askForNumbers } from '#modules/contacts/contact_view.ts';
import { deleteOrphans } from '#modules/delete_orphans.ts';
import { ExceptionCounting } from '#modules/exceptions/count_exceptions.ts';
import { GROUPING_CAPACITY, groupJobs } from '#modules/exceptions/group_jobs.ts';
import type { GroupingRuntime } from '#modules/exceptions/grouping_runtime.ts';
import { learnSpikeBaseline } from '#modules/exceptions/learn_spike_baseline.ts';
import { retryQuarantined } from '#modules/exceptions/quarantine_events.ts';
import { reopenSnoozed } from '#modules/exceptions/reopen_snoozed.ts';
import { ExceptionReader } from '#modules/exceptions/store/exception_reader.ts';
import { ExceptionWriter } from '#modules/exceptions/store/exception_writer.ts';
import type { IncidentLimit } from '#modules/incidents/decide/incident_limit.ts';
import { type NewOrRegressed, openExceptionIncidents } from '#modules/incidents/open_exception_incidents.ts';
import { LATE_FOR_MS } from '#modules/metrics/decide/late_points.ts';
import { MetricWriter } from '#modules/metrics/store/metric_writer.ts';
import { RecentPoints } from '#modules/metrics/store/recent_points.ts';
import { RollupWriter } from '#modules/metrics/store/rollup_writer.ts';
import { findOverdue, type MonitorRuntime, takeCheckIns } from '#modules/monitors/take_check_ins.ts';
import { WATCHED_WORK } from '#modules/notifications/decide/pager_health.ts';
import type { PlaceRuntime } from '#modules/places/deliver.ts';
import type { UploadLimits } from '#modules/releases/source_maps/assemble_bundle.ts';
import type { SourceMaps } from '#modules/releases/source_maps/source_maps.ts';
import { applyGroupRates } from '#modules/rules/apply_group_rates.ts';
import type { RuleKind } from '#modules/rules/decide/rule_kinds.ts';
import { MissingSeriesReader } from '#modules/rules/store/missing_series.ts';
import { RuleReader } from '#modules/rules/store/rule_reader.ts';
import { fetchHolidayCalendars } from '#modules/schedules/fetch_holiday_calendars.ts';
import { remindOfShifts } from '#modules/schedules/shift_notices.ts';
import { endShadowIncidents } from '#modules/shadow/end_shadow_incidents.ts';
import { endPublications } from '#modules/status_pages/end_publications.ts';
import { subscriberCipherOf } from '#modules/status_pages/subscribers.ts';
import { inUnitOfWork, storesOf, type UnitOfWork, type UnitOfWorkRuntime } from '#modules/stores.ts';
import { notifyOfUnreadableRows } from '#modules/unreadable_rows/notify_owners.ts';
import { loadMailLibrary, type MailServer } from '#notify/mail/send_mail.ts';
import type { Senders } from '#notify/registry.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { ExpiredRows, REMOVING_EXPIRED } from '#storage/clickhouse/expired_rows.ts';
import type { Database } from '#storage/postgres/database.ts';
import { LeaseStore } from '#storage/postgres/lease_store.ts';
import { type DurableJobHandler, runDurableJobs } from '#storage/queue/durable_job_runner.ts';
import { handleJob, type JobHandler } from '#storage/queue/job_workers.ts';
import { groupExceptions, recordFailedSignIn, storePoints } from '#storage/queue/jobs.ts';
import { onAssembleBundle } from '#workers/assemble_bundle.ts';
import { enforceRetention } from '#workers/enforce_retention.ts';
import { evaluateRules, LONG_WINDOWS, SHORT_WINDOWS } from '#workers/evaluate_rules.ts';
import { pruneConnections, pruneNotifications, pruneSignIns } from '#workers/pruning.ts';
import { onPurgeService, purgeDeleted } from '#workers/purge_service.ts';
import { renewCapabilities } from '#workers/renew_capabilities.ts';
import { type Role, runRole, type StartedRole } from '#workers/run_role.ts';
import {
  onSendAuditStreamFailing,
  onSendDeactivationNotice,
  onSendDutyNotice,
  onSendExceptionNotice,
  onSendInvitation,
  onSendNumberRequest,
  onSendPlaceOff,
  onSendUnreadableNotice,
} from '#workers/send_notices.ts';
import { onSendPasswordReset } from '#workers/send_password_reset.ts';
import { onAnnounceStatusUpdate, onSendStatusConfirmation, onSendStatusUpdate } from '#workers/send_status_mails.ts';
import { onStorePoints } from '#workers/store_points.ts';
import { openAuditStreamWork } from '#workers/stream_audit_logs.ts';
import { openPlaceWork } from '#workers/tell_places.ts';

export async function startWorker(config: RunningConfig, log: Log): Promise<StartedRole> {
  useSmallBufferPool();
  const context = await compose(config, { log, connections: CONNECTIONS });
  context.newSeries.watch();
  if (context.mail !== null) await loadMailLibrary();
  return { running: runRole(context, workerRole(context)), stores: context, close: () => context.close() };
}

/** A worker that is frozen holds its locks no longer than it is thought to be alive. */
const CONNECTIONS: Connections = { database: 20, queue: 8, idleMsMax: 2_000 };

/** Bytes of the largest calendar of holidays that is read. */
const CALENDAR_BYTES_MAX = 512 * 1024;

export interface WorkerRuntime extends PlaceRuntime, AuditStreamRuntime {
  readonly log: Log;
  readonly baseUrl: string;
  /** Mail to people about their accounts; null when none is configured. */
  readonly mail: MailServer | null;
  readonly resetsOfAccountMax: number;
  /** Sends news of shifts by push. */
  readonly senders: Senders;
  /** Opens the links of invitations that are to be mailed. */
  readonly invitationCipher: Cipher;
  /** Pattern of the ids of messages that the phone simulator took. */
  readonly simulatedIds: string;
  /** Makes the links in mails to subscribers of status pages. */
  readonly subscriberCipher: Cipher;
  /** Opens events that have waited. */
  readonly eventCipher: Cipher;
  readonly clickhouse: ClickHouseClient;
  readonly metricWriter: MetricWriter;
  readonly exceptionWriter: ExceptionWriter;
  readonly exceptions: ExceptionReader;
  readonly rules: RuleReader;
  readonly missingSeries: MissingSeriesReader;
  readonly expiredRows: ExpiredRows;
  readonly rollups: RollupWriter;
  readonly sourceMaps: Pick<SourceMaps, 'prepare'>;
  readonly sourceMapBytesMax: number;
  readonly uploadLimits: UploadLimits;
  readonly sourceMapDays: number;
  readonly incidentLimit: IncidentLimit;
  /** Limit on the exception groups of one service; Infinity for no limit. */
  readonly newGroupsPerMinute: number;
  readonly latencies: LatencyHistograms;
  /** Fetches calendars of holidays from addresses that people gave. */
  readonly fetchCalendar: ExternalFetch;
  /** Called each time that points are stored, with how many, and how many series came with their labels. */
  readonly onStoring: (counts: { readonly series: number; readonly points: number }) => void;
}

export function workerRuntime(context: AppContext): WorkerRuntime {
  return {
    db: context.db,
    clock: context.clock,
    log: context.log,
    onOutbox: () => context.outbox.wake(),
    baseUrl: context.config.baseUrl,
    mail: context.mail,
    senders: context.senders,
    resetsOfAccountMax: context.config.resetsOfAccountMax,
    placeSenders: context.places.senders,
    placeCipher: context.places.cipher,
    auditCipher: createCipher(context.config.appSecret, 'audit-streams'),
    auditHttp: context.places.http,
    auditStreamFolder: context.config.auditStreamFolder,
    invitationCipher: createCipher(context.config.appSecret, 'invitations'),
    simulatedIds: simulatedIdsOf(context.config.appSecret),
    subscriberCipher: subscriberCipherOf(context.config.appSecret),
    eventCipher: createCipher(context.config.appSecret, 'waiting-events'),
    clickhouse: context.clickhouse,
    metricWriter: new MetricWriter(context.clickhouse),
    exceptionWriter: new ExceptionWriter(context.clickhouse),
    exceptions: new ExceptionReader(context.clickhouse),
    rules: new RuleReader(context.clickhouse, recentPoints(context)),
    missingSeries: new MissingSeriesReader(context.clickhouse),
    expiredRows: new ExpiredRows(context.clickhouse),
    rollups: new RollupWriter(context.clickhouse),
    sourceMaps: context.actions.sourceMaps,
    sourceMapBytesMax: context.config.sourceMapMegabytes * 1024 * 1024 || Infinity,
    uploadLimits: context.config,
    sourceMapDays: context.config.sourceMapDays,
    incidentLimit: {
      incidents: context.config.incidentsPerService || Infinity,
      minutes: context.config.incidentsPerServiceMinutes,
    },
    newGroupsPerMinute: context.config.newGroupsPerMinute || Infinity,
    latencies: context.latencies,
    fetchCalendar: createExternalFetch({
      ...externalFetchOptionsOf(context.config),
      clock: context.clock,
      bytesMax: CALENDAR_BYTES_MAX,
      accept: 'text/calendar, */*',
    }),
    onStoring: ({ series, points }) => context.newSeries.add(series, points),
    reachedLimits: context.reachedLimits,
  };
}

function recentPoints({ clickhouse, db, log }: AppContext): RecentPoints {
  const lateServices = async (nowMs: number) => {
    const since = fromEpochMilliseconds(nowMs - LATE_FOR_MS);
    return new Set(await storesOf(db.session()).latePoints.listSince(since));
  };
  return new RecentPoints(clickhouse, lateServices, log);
}

/** Publishes what a process that died has left in the outbox; a living process publishes at once. */
const OUTBOX_MS = 2_000;
const OVERDUE_MS = 4_000;
/** Interval in which places are told what has happened to incidents. */
const PLACES_MS = 1_000;
/** Name of the work that reminds people of their shifts. */
const REMINDING = 'remind_of_duty';
/** Interval in which audit logs are streamed. */
const AUDIT_MS = 2_000;

/**
 * Role of everything that senders can cause, and of maintenance: stores points, groups exceptions, evaluates rules and
 * opens incidents. Sends mail about accounts too, because anybody can ask for it. Pages nobody.
 */
export function workerRole(context: AppContext, runtime = workerRuntime(context)): Role {
  const places = openPlaceWork(runtime);
  const auditStreams = openAuditStreamWork(runtime);
  const counting = new ExceptionCounting(runtime);
  const holder = newId('job');
  const durable = runDurableJobs(runtime.db, (job) => context.queue.wake(job), holder);
  const grouping = {
    ...runtime,
    onNewOrRegressed: (unit: UnitOfWork, groups: readonly NewOrRegressed[]) =>
      openExceptionIncidents(unit, groups, runtime.incidentLimit),
  };
  const [shortRules, longRules] = WATCHED_WORK.rules;
  /** Work that evaluates the rules of each kind from time to time. */
  const evaluation: Record<RuleKind, Role['shared']> = {
    metric_threshold: [
      { name: shortRules, everySeconds: 5, run: (shards) => evaluateRules(runtime, SHORT_WINDOWS, shards) },
      { name: longRules, everySeconds: 12, run: (shards) => evaluateRules(runtime, LONG_WINDOWS, shards) },
    ],
    // Evaluated when groups turn out to be new or to have regressed, in `onNewOrRegressed`; those on rates periodically.
    exception: [],
  };
  return {
    name: 'worker',
    handlers: [
      durable(onStorePoints(runtime)),
      durable(onGroupExceptions(grouping)),
      onPurgeService(runtime),
      onAssembleBundle(runtime),
      onRecordFailedSignIn(runtime),
      onSendPasswordReset(runtime),
      onSendInvitation(runtime),
      onSendDeactivationNotice(runtime),
      onSendDutyNotice(runtime),
      onSendExceptionNotice(runtime),
      onSendPlaceOff(runtime),
      onSendAuditStreamFailing(runtime),
      onSendNumberRequest(runtime),
      onSendStatusConfirmation(runtime),
      onAnnounceStatusUpdate(runtime),
      onSendStatusUpdate(runtime),
      onSendUnreadableNotice(runtime),
    ],
    shared: Object.values(evaluation).flat(),
    periodic: [
      { name: 'renew_capabilities', everySeconds: 60, run: () => renewCapabilities(runtime) },
      { name: 'watch_monitors', everySeconds: 2, run: () => watchMonitors(runtime) },
      { name: 'end_silent_alerts', everySeconds: 10, run: () => endSilentAlerts(runtime) },
      { name: 'end_shadow_incidents', everySeconds: 10, run: () => endShadowIncidents(runtime) },
      { name: 'apply_group_rates', everySeconds: 10, run: () => applyGroupRates(runtime) },
      { name: 'count_exceptions', everySeconds: 2, run: () => counting.run() },
      { name: 'end_publications', everySeconds: 5, run: async () => void (await endPublications(runtime)) },
      { name: 'reopen_snoozed', everySeconds: 10, run: () => reopenSnoozed(runtime) },
      { name: 'learn_spikes', everySeconds: 60, run: () => learnSpikeBaseline(runtime) },
      { name: REMOVING_EXPIRED, everySeconds: 600, run: () => enforceRetention(runtime) },
      { name: 'roll_up_points', everySeconds: 60, run: () => rollUpPoints(runtime) },
      { name: 'retry_quarantined', everySeconds: 300, run: () => retryQuarantined(grouping) },
      { name: 'fetch_holiday_calendars', everySeconds: 10, run: () => fetchHolidayCalendars(runtime) },
      {
        name: REMINDING,
        everySeconds: 300,
        run: async () => remindOfShifts(runtime, await new LeaseStore(runtime.db.session()).findDoneAt(REMINDING)),
      },
      { name: 'ask_for_numbers', everySeconds: 60, run: () => askForNumbers(runtime) },
      { name: 'tell_of_unreadable_rows', everySeconds: 300, run: () => notifyOfUnreadableRows(runtime) },
      { name: 'purge_deleted', everySeconds: 300, run: () => purgeDeleted(runtime) },
      { name: 'prune_connections', everySeconds: 3_600, run: () => pruneConnections(runtime) },
      // The names of periodic work are stored with its leases, so they outlive the names of its functions.
      { name: 'forget_messages', everySeconds: 86_400, run: () => pruneNotifications(runtime) },
      { name: 'forget_sign_ins', everySeconds: 3_600, run: () => pruneSignIns(runtime) },
    ],
    ticks: [
      { name: 'wake_overdue', everyMs: OVERDUE_MS, run: () => context.queue.requeueStale() },
      { name: 'publish_outbox', everyMs: OUTBOX_MS, run: () => context.outbox.publishAll() },
      { name: 'tell_places', everyMs: PLACES_MS, run: () => places.run() },
      { name: 'stream_audit_logs', everyMs: AUDIT_MS, run: () => auditStreams.run() },
    ],
    holder,
    // The first wake-up of a queue may go to the process that is frozen.
    onFreed: () => {
      for (const job of [storePoints, groupExceptions]) context.queue.wake(job);
    },
    async settled() {
      await Promise.all([places.settled(), auditStreams.settled(), counting.settled()]);
    },
  };
}

export const onGroupExceptions = (runtime: GroupingRuntime): DurableJobHandler => {
  return { job: groupExceptions, capacity: GROUPING_CAPACITY, run: groupJobs(runtime) };
};

/** Writes an audit row with an unknown actor in every organization of the account. */
const onRecordFailedSignIn = (runtime: UnitOfWorkRuntime): JobHandler =>
  handleJob(recordFailedSignIn, async ({ email, ...origin }) => {
    await inUnitOfWork(runtime, async (unit) => {
      const { people } = unit.stores;
      const user = await people.findUserByEmail(email);
      if (user === null) return;
      const change = { action: 'sign_in', target: user.id, before: null, after: null, result: 'refused' } as const;
      const by = { actor: { kind: 'unknown' }, via: 'console', origin } as const;
      for (const { orgId } of await people.listMemberships(user.id)) await recordChange(unit, orgId, by, change);
    });
  });

/**
 * Length of a gap after which check-ins may have waited on the disks of API processes, which come back within a minute.
 */
const GAP_SECONDS = 20;
const RETURN_SECONDS = 60;

/**
 * Looks at check-ins that have come, then for runs that are overdue. While a check-in of a monitor waits, and for a minute
 * after a time in which nobody looked or the database was away, no run of it counts as missed: what says otherwise may still
 * be on its way. Others' check-ins that wait, however many they are, change nothing about that.
 */
export async function watchMonitors(runtime: MonitorRuntime, batchesMax?: number): Promise<void> {
  const now = runtime.clock.now();
  const since = await storesOf(runtime.db.session()).monitors.watch(now, GAP_SECONDS);
  await takeCheckIns(runtime, batchesMax);
  const isBack = now.epochMilliseconds - since.epochMilliseconds >= RETURN_SECONDS * 1_000;
  if (isBack) await findOverdue(runtime);
}

interface RollUpRuntime {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly metricWriter: Pick<MetricWriter, 'deleteService'>;
  readonly rollups: RollupWriter;
}

/** Time of every minute spent on rolling up: the history of an earlier release is rolled up alongside urgent work. */
const BUSY_MS = 10_000;

/** Sums up points by hours and days. What is not rolled up yet is read from points: slower, and never wrong. */
async function rollUpPoints({ db, clock, log, metricWriter, rollups }: RollUpRuntime): Promise<void> {
  const tiers = await storesOf(db.session()).services.listRetentionTiers('metrics');
  const until = performance.now() + limitBy(clock, BUSY_MS);
  const { serviceIds, failures } = await rollups.rollUp(tiers, clock.now(), () => performance.now() < until);
  for (const error of failures)
    log.warn({ err: error }, 'failed to roll up points; queries read the points themselves');
  await deleteOrphans(db, serviceIds, (serviceId) => metricWriter.deleteService(serviceId));
}
