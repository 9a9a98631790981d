import { inUnitOfWork, type UnitOfWorkRuntime } from '#actions/unit_of_work.ts';

/** As long as incidents are kept at most. */
const KEEP_DAYS = 400;

/** Removes old digests and tests. What a digest stood for is in the logs of its incidents, and stays as long as they. */
export async function forgetMessages(runtime: UnitOfWorkRuntime): Promise<void> {
  await inUnitOfWork(runtime, async ({ stores, now }) => {
    await stores.notifications.pruneWithoutIncident(now.subtract({ hours: KEEP_DAYS * 24 }));
  });
}
