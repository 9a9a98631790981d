import { assembleBundle as contract } from '#jobs/assemble_bundle.ts';
import { asId } from '#kernel/ids.ts';
import type { AssemblyRuntime } from '#releases/source_maps/assemble_bundle.ts';
import { handleJob, type JobHandler } from '#storage/queue/job_workers.ts';

export const onAssembleBundle = (runtime: AssemblyRuntime): JobHandler =>
  handleJob(contract, async ({ orgId, bundleId }) => {
    // Parsers of code and maps, of which most installations need none.
    const { assembleBundle } = await import('#releases/source_maps/assemble_bundle.ts');
    await assembleBundle(runtime, asId('org', orgId), bundleId);
  });
