import { type Id, newId } from '#kernel/ids.ts';
import { storesOf } from '#modules/stores.ts';
import type { World } from '#test/kit/world.ts';

/** Points of the service are accepted, and no worker comes to store them. */
export async function delayPoints({ context, orgId, clock }: World, serviceId: Id<'service'>): Promise<void> {
  const { durableJobs } = storesOf(context.db.session());
  const job = { jobId: newId('job'), orgId, serviceId, items: 1, bytes: Buffer.alloc(0) };
  await durableJobs.insert('store_points', [job], clock.now());
  await durableJobs.extend([job], 3_600_000);
}

/** Nothing waits any more. */
export async function arrive({ context }: World): Promise<void> {
  await context.db.sql.run('delete from durable_jobs');
}
