import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { storesOf } from '#storage/postgres/stores.ts';
import { type DeliveryRuntime, sendNotification } from '#workers/deliver_page.ts';
import { type EscalationRuntime, fireStep } from '#workers/run_escalation_step.ts';

/** What is due for longer than this has lost its job, or has a worker that died. */
const GRACE_MS = 1_500;
const BATCH = 500;
const AT_ONCE = 16;

/**
 * The net under the alarm clocks: fires every step and sends every message that is overdue, itself and without the
 * queue, so that losing the whole queue store loses no page. Claims keep it from doing anything twice.
 */
export async function sweepDue(runtime: EscalationRuntime & DeliveryRuntime, graceMs = GRACE_MS): Promise<void> {
  const before = runtime.clock.now().subtract({ milliseconds: graceMs });
  const stores = storesOf(runtime.db.session());
  const steps = await stores.incidents.listDueSteps(before, BATCH);
  await eachAtOnce(steps, runtime.log, ({ incidentId, stepIndex }) => fireStep(runtime, incidentId, stepIndex));
  const messages = await stores.notifications.listDue(before, BATCH);
  await eachAtOnce(messages, runtime.log, (notificationId) => sendNotification(runtime, notificationId));
}

/** One that fails holds up no other; it is due still and the next sweep finds it. */
async function eachAtOnce<Item>(
  items: readonly Item[],
  log: Log,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const rest = items.values();
  const runThrough = async (): Promise<void> => {
    for (const item of rest) {
      await work(item).catch((error: unknown) => {
        log.error({ item, err: messageOf(error) }, 'overdue work failed and will be tried again');
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, runThrough));
}
