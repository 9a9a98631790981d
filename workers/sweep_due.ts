import type { DueStep } from '#storage/postgres/incident_store.ts';
import type { DueMessage } from '#storage/postgres/notification_store.ts';
import { storesOf } from '#storage/postgres/stores.ts';
import { type DeliveryRuntime, sendNotification } from '#workers/deliver_page.ts';
import { OrganizationRunner } from '#workers/organization_runner.ts';
import { type EscalationRuntime, fireStep } from '#workers/run_escalation_step.ts';

type SweepingRuntime = EscalationRuntime & DeliveryRuntime;

/**
 * What is due for longer than this has lost its job, waits behind those of others, or has a process that died or hangs.
 * While all is well, jobs run within a tenth of it.
 */
const GRACE_MS = 300;
const BATCH = 500;

/** The net under the alarm clocks. */
export interface Sweep {
  /** Begins to fire every step that is overdue. */
  sweepSteps(): Promise<void>;
  /** Begins to send every message that is overdue. */
  sweepMessages(): Promise<void>;
  /** Resolves once nothing that was begun is under way. */
  settled(): Promise<void>;
}

/**
 * Fires steps and sends messages that are overdue, by itself and without the queue, so that losing the whole queue store
 * loses no page, and a queue full of others' jobs delays none. Organizations have equal turns. Claims keep it from doing
 * anything twice.
 */
export function openSweep(runtime: SweepingRuntime, graceMs = GRACE_MS): Sweep {
  const { log } = runtime;
  const steps = new OrganizationRunner<DueStep>(
    ({ incidentId, stepIndex }) => fireStep(runtime, incidentId, stepIndex),
    log,
  );
  const messages = new OrganizationRunner<DueMessage>(({ id }) => sendNotification(runtime, id), log);
  const overdue = () => runtime.clock.now().subtract({ milliseconds: graceMs });
  const stores = () => storesOf(runtime.db.session());
  return {
    async sweepSteps() {
      steps.begin(await stores().incidents.listDueSteps(overdue(), BATCH));
    },
    async sweepMessages() {
      messages.begin(await stores().notifications.listDue(overdue(), BATCH));
    },
    async settled() {
      await Promise.all([steps.settled(), messages.settled()]);
    },
  };
}

/** One sweep from its beginning to its end. */
export async function sweepDue(runtime: SweepingRuntime, graceMs?: number): Promise<void> {
  const sweep = openSweep(runtime, graceMs);
  await sweep.sweepSteps();
  await sweep.settled();
  await sweep.sweepMessages();
  await sweep.settled();
}
