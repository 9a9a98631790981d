import { inUnitOfWork, type UnitOfWorkRuntime } from '#modules/unit_of_work.ts';

/** The longest time for which incidents are kept. */
const KEEP_DAYS = 400;

/** Removes old digests and test messages. The pages of a digest stay in the logs of their incidents. */
export async function pruneNotifications(runtime: UnitOfWorkRuntime): Promise<void> {
  await inUnitOfWork(runtime, async ({ stores, now }) => {
    await stores.notifications.pruneWithoutIncident(now.subtract({ hours: KEEP_DAYS * 24 }));
  });
}
