import { type EscalationRuntime, fireStep } from '#modules/incidents/paging/fire_step.ts';
import { type DeliveryRuntime, sendNotification } from '#modules/incidents/paging/send_notification.ts';
import type { DueStep } from '#modules/incidents/store/step_timer_store.ts';
import type { DueMessage } from '#modules/notifications/store/delivery_store.ts';
import { storesOf } from '#modules/stores.ts';
import { PerOrganizationQueue } from '#workers/per_organization_queue.ts';

type SweepingRuntime = EscalationRuntime & DeliveryRuntime;

/**
 * Delay after which overdue work has lost its job, waits behind the jobs of others, or was claimed by a process that
 * died or hangs. Normally a job runs within a tenth of it.
 */
const GRACE_MS = 300;
const BATCH = 500;

/** Finds overdue work for which no job has come. */
export interface Sweep {
  /** Starts to fire every step that is overdue. */
  sweepSteps(): Promise<void>;
  /** Starts to send every message that is overdue. */
  sweepMessages(): Promise<void>;
  /** Resolves once everything that was started has ended. */
  settled(): Promise<void>;
}

/**
 * Fires overdue steps and sends overdue messages without the queue. So no page is lost when the queue store is lost, and
 * none waits behind the jobs of others. Organizations have equal turns. Nothing happens twice, because steps and messages
 * are claimed.
 */
export function openSweep(runtime: SweepingRuntime, graceMs = GRACE_MS): Sweep {
  const { log } = runtime;
  const steps = new PerOrganizationQueue<DueStep>(
    ({ incidentId, stepIndex }) => fireStep(runtime, incidentId, stepIndex),
    log,
  );
  const messages = new PerOrganizationQueue<DueMessage>(({ id }) => sendNotification(runtime, id), log);
  const overdue = () => runtime.clock.now().subtract({ milliseconds: graceMs });
  const stores = () => storesOf(runtime.db.session());
  return {
    async sweepSteps() {
      steps.start(await stores().stepTimers.listDueSteps(overdue(), BATCH));
    },
    async sweepMessages() {
      messages.start(await stores().deliveries.listDue(overdue(), BATCH));
    },
    async settled() {
      await Promise.all([steps.settled(), messages.settled()]);
    },
  };
}

/** Runs one sweep from start to end. */
export async function sweepDue(runtime: SweepingRuntime, graceMs?: number): Promise<void> {
  const sweep = openSweep(runtime, graceMs);
  await sweep.sweepSteps();
  await sweep.settled();
  await sweep.sweepMessages();
  await sweep.settled();
}
