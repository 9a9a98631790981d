import { inTurn } from '#modules/releases/decide/source_maps/upload_turns.ts';
import { assembleBundle as contract } from '#storage/queue/jobs.ts';
import { asId, type Id, newId } from '#kernel/ids.ts';
import { type Assembler, assembleBundle, type AssemblyRuntime } from '#modules/releases/source_maps/assemble_bundle.ts';
import { AssemblyThread } from '#modules/releases/source_maps/assembly_thread.ts';
import type { BundleRow } from '#modules/releases/store/artifact_store.ts';
import { takeLease, whileHolding } from '#storage/postgres/held_lease.ts';
import { LeaseStore } from '#storage/postgres/lease_store.ts';
import { storesOf } from '#modules/stores.ts';
import { handleJob, type JobHandler } from '#storage/queue/job_workers.ts';

/** Interval at which to check again while another process reads uploads of the same organization. */
const LOOK_AGAIN_MS = 500;

/**
 * Reads uploads until that of the job has been read: each time that of the organization whose turn it is, and of each
 * organization one at a time, whichever processes there are.
 */
export const onAssembleBundle = (runtime: AssemblyRuntime, thread = new AssemblyThread()): JobHandler => {
  const stopping = new AbortController();
  const assembler: Assembler = { thread, signal: stopping.signal };
  const lastTurnAtMs = new Map<Id<'org'>, number>();
  return {
    ...handleJob(contract, async ({ orgId, bundleId }) => {
      const { artifacts } = storesOf(runtime.db.session());
      while ((await artifacts.findBundleById(asId('org', orgId), bundleId))?.state === 'waiting') {
        stopping.signal.throwIfAborted();
        let isReading = false;
        for (const next of inTurn(await artifacts.listWaiting(), lastTurnAtMs)) {
          isReading = await holding(runtime, next.orgId, async () => {
            lastTurnAtMs.set(next.orgId, Date.now());
            await assembleNext(runtime, assembler, next, bundleId);
          });
          if (isReading) break;
        }
        if (!isReading) await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
      }
      if (lastTurnAtMs.size > ORGANIZATIONS_MAX) lastTurnAtMs.clear();
    }),
    async stop() {
      stopping.abort();
    },
  };
};

const ORGANIZATIONS_MAX = 10_000;

type Next = Pick<BundleRow, 'id' | 'orgId'>;

/** Assembles an upload. A fault of another upload than that of the job is left to its own job. */
async function assembleNext(
  runtime: AssemblyRuntime,
  assembler: Assembler,
  { id, orgId }: Next,
  ownId: string,
): Promise<void> {
  try {
    await assembleBundle(runtime, assembler, orgId, id);
  } catch (error) {
    if (id === ownId || assembler.signal?.aborted === true) throw error;
    runtime.log.warn(
      { orgId, bundleId: id, err: error },
      'an upload could not be read and is tried again by its own job',
    );
  }
}

/** Does the work unless another holds the uploads of this organization; whether it did. */
async function holding(runtime: AssemblyRuntime, orgId: Id<'org'>, work: () => Promise<void>): Promise<boolean> {
  const lease = { name: `uploads ${orgId}`, holder: newId('job') };
  if (!(await takeLease(runtime, lease))) return false;
  try {
    await whileHolding(runtime, lease, work);
    return true;
  } finally {
    await new LeaseStore(runtime.db.session()).drop(lease.name, lease.holder);
  }
}
