import type { UnitOfWork, UnitOfWorkRuntime } from '#actions/unit_of_work.ts';
import { createCipher, type Cipher } from '#auth/cipher.ts';
import { WATCHED_WORK } from '#core/oncall/pager_health.ts';
import type { IncidentLimit } from '#core/incidents/storm.ts';
import type { House } from '#entry/compose.ts';
import type { Log } from '#kernel/log.ts';
import type { MailServer } from '#notify/post_letter.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { ExceptionReader } from '#storage/clickhouse/exception_reader.ts';
import { ExceptionWriter } from '#storage/clickhouse/exception_writer.ts';
import { MetricWriter } from '#storage/clickhouse/metric_writer.ts';
import { ExpiredRows } from '#storage/clickhouse/expired_rows.ts';
import { RuleReader } from '#storage/clickhouse/rule_reader.ts';
import { runDurableJobs } from '#storage/queue/durable_job_runner.ts';
import { enforceRetention } from '#workers/enforce_retention.ts';
import { evaluateRules, LONG_WINDOWS, SHORT_WINDOWS } from '#workers/evaluate_rules.ts';
import { forgetMessages } from '#workers/forget_messages.ts';
import { forgetSignIns } from '#workers/forget_sign_ins.ts';
import { type NewOrRegressed, onGroupExceptions } from '#workers/group_exceptions.ts';
import { openExceptionIncidents } from '#workers/open_exception_incidents.ts';
import { pruneConnections } from '#workers/prune_connections.ts';
import { onPurgeService, purgeDeleted } from '#workers/purge_service.ts';
import { renewCapabilities } from '#workers/renew_capabilities.ts';
import { retrySetAside } from '#workers/retry_set_aside.ts';
import type { Role } from '#workers/run_role.ts';
import { onSendInvitation } from '#workers/send_invitation.ts';
import { onRecordFailedSignIn } from '#workers/record_failed_sign_in.ts';
import { onSendPasswordReset } from '#workers/send_password_reset.ts';
import { onStorePoints } from '#workers/store_points.ts';

export interface WorkerRuntime extends UnitOfWorkRuntime {
  readonly log: Log;
  readonly baseUrl: string;
  /** Mail to people about their accounts; null when none is configured. */
  readonly mail: MailServer | null;
  /** Opens the links of invitations that are to be mailed. */
  readonly invitationCipher: Cipher;
  /** Opens events that have waited. */
  readonly eventCipher: Cipher;
  readonly clickhouse: ClickHouseClient;
  readonly metricWriter: MetricWriter;
  readonly exceptionWriter: ExceptionWriter;
  readonly exceptions: ExceptionReader;
  readonly rules: RuleReader;
  readonly expiredRows: ExpiredRows;
  readonly incidentLimit: IncidentLimit;
  /** Exception groups of one service; Infinity for no limit. */
  readonly newGroupsPerMinute: number;
}

export function workerRuntime(house: House): WorkerRuntime {
  return {
    db: house.db,
    clock: house.clock,
    log: house.log,
    onOutbox: () => house.outbox.wake(),
    baseUrl: house.config.baseUrl,
    mail: house.mail,
    invitationCipher: createCipher(house.config.appSecret, 'invitations'),
    eventCipher: createCipher(house.config.appSecret, 'waiting-events'),
    clickhouse: house.clickhouse,
    metricWriter: new MetricWriter(house.clickhouse),
    exceptionWriter: new ExceptionWriter(house.clickhouse),
    exceptions: new ExceptionReader(house.clickhouse),
    rules: new RuleReader(house.clickhouse),
    expiredRows: new ExpiredRows(house.clickhouse),
    incidentLimit: {
      incidents: house.config.incidentsPerService || Infinity,
      minutes: house.config.incidentsPerServiceMinutes,
    },
    newGroupsPerMinute: house.config.newGroupsPerMinute || Infinity,
  };
}

/** What a process that died has left in the outbox: a living one publishes at once. */
const OUTBOX_MS = 2_000;
const KEPT_MS = 4_000;

/**
 * Everything that senders can make us do, and upkeep: it stores points, groups exceptions, evaluates rules and opens
 * incidents. Mails about accounts are sent here too, because anybody can ask for one. It pages nobody.
 */
export function workerRole(house: House, runtime = workerRuntime(house)): Role {
  const kept = runDurableJobs(runtime.db);
  const grouping = {
    ...runtime,
    onNewOrRegressed: (unit: UnitOfWork, groups: readonly NewOrRegressed[]) =>
      openExceptionIncidents(unit, groups, runtime.incidentLimit),
  };
  const [shortRules, longRules] = WATCHED_WORK.rules;
  return {
    name: 'worker',
    handlers: [
      kept(onStorePoints(runtime)),
      kept(onGroupExceptions(grouping)),
      onPurgeService(runtime),
      onRecordFailedSignIn(runtime),
      onSendPasswordReset(runtime),
      onSendInvitation(runtime),
    ],
    periodic: [
      { name: shortRules, everySeconds: 5, run: () => evaluateRules(runtime, SHORT_WINDOWS) },
      { name: longRules, everySeconds: 12, run: () => evaluateRules(runtime, LONG_WINDOWS) },
      { name: 'renew_capabilities', everySeconds: 60, run: () => renewCapabilities(runtime) },
      { name: 'enforce_retention', everySeconds: 600, run: () => enforceRetention(runtime) },
      { name: 'retry_set_aside', everySeconds: 300, run: () => retrySetAside(grouping) },
      { name: 'purge_deleted', everySeconds: 300, run: () => purgeDeleted(runtime) },
      { name: 'prune_connections', everySeconds: 3_600, run: () => pruneConnections(runtime) },
      { name: 'forget_messages', everySeconds: 86_400, run: () => forgetMessages(runtime) },
      { name: 'forget_sign_ins', everySeconds: 3_600, run: () => forgetSignIns(runtime) },
    ],
    ticks: [
      { name: 'wake_overdue', everyMs: KEPT_MS, run: () => house.queue.wakeOverdue() },
      { name: 'publish_outbox', everyMs: OUTBOX_MS, run: () => house.outbox.publishAll() },
    ],
  };
}
