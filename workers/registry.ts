import type { JobHandler } from '#storage/queue/job_workers.ts';
import { fetchKept } from '#storage/queue/kept_jobs.ts';
import type { CrewRuntime } from '#workers/crew_runtime.ts';
import { bringTimersBack } from '#workers/bring_timers_back.ts';
import { onDeliverPage } from '#workers/deliver_page.ts';
import { enforceRetention } from '#workers/enforce_retention.ts';
import { evaluateRules, LONG_WINDOWS, SHORT_WINDOWS } from '#workers/evaluate_rules.ts';
import { forgetMessages } from '#workers/forget_messages.ts';
import { onGroupExceptions } from '#workers/group_exceptions.ts';
import { openExceptionIncidents } from '#workers/open_exception_incidents.ts';
import type { Periodic } from '#workers/periodic.ts';
import { pruneConnections } from '#workers/prune_connections.ts';
import { onPurgeService, purgeDeleted } from '#workers/purge_service.ts';
import { renewCapabilities } from '#workers/renew_capabilities.ts';
import { onRunEscalationStep } from '#workers/run_escalation_step.ts';
import { forgetSignIns } from '#workers/forget_sign_ins.ts';
import { sendHeartbeat } from '#workers/send_heartbeat.ts';
import { onSendInvitation } from '#workers/send_invitation.ts';
import { onSendPasswordReset } from '#workers/send_password_reset.ts';
import { onStorePoints } from '#workers/store_points.ts';

/** One handler for each job. */
export function handlersFor(runtime: CrewRuntime): JobHandler[] {
  const kept = fetchKept(runtime.db);
  return [
    kept(onStorePoints(runtime)),
    kept(onGroupExceptions({ ...runtime, onNewOrRegressed: openExceptionIncidents })),
    onRunEscalationStep(runtime),
    onDeliverPage(runtime),
    onPurgeService(runtime),
    onSendPasswordReset(runtime),
    onSendInvitation(runtime),
  ];
}

/** What is done from time to time by whichever worker takes the lease. */
export function periodicWorkFor(runtime: CrewRuntime): Periodic[] {
  const { heartbeatUrl } = runtime;
  return [
    { name: 'evaluate_rules', everySeconds: 5, run: () => evaluateRules(runtime, SHORT_WINDOWS) },
    { name: 'evaluate_long_rules', everySeconds: 12, run: () => evaluateRules(runtime, LONG_WINDOWS) },
    { name: 'bring_timers_back', everySeconds: 15, run: () => bringTimersBack(runtime) },
    { name: 'renew_capabilities', everySeconds: 60, run: () => renewCapabilities(runtime) },
    { name: 'enforce_retention', everySeconds: 600, run: () => enforceRetention(runtime) },
    { name: 'purge_deleted', everySeconds: 300, run: () => purgeDeleted(runtime) },
    { name: 'prune_connections', everySeconds: 3_600, run: () => pruneConnections(runtime) },
    { name: 'forget_messages', everySeconds: 86_400, run: () => forgetMessages(runtime) },
    { name: 'forget_sign_ins', everySeconds: 3_600, run: () => forgetSignIns(runtime) },
    ...(heartbeatUrl === undefined
      ? []
      : [{ name: 'send_heartbeat', everySeconds: 60, run: () => sendHeartbeat(runtime, heartbeatUrl) }]),
  ];
}
