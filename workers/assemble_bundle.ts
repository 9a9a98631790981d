import { inTurn } from '#modules/releases/decide/source_maps/upload_turns.ts';
import { assembleBundle as contract } from '#storage/queue/jobs.ts';
import { isUnavailable } from '#kernel/errors.ts';
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
    ...handleJob(contract, async ({ orgId, bundleId }, { attempt }) => {
      const { artifacts } = storesOf(runtime.db.session());
      const job = { uploadId: bundleId, isLastAttempt: attempt >= contract.attempts };
      while ((await artifacts.findBundleById(asId('org', orgId), bundleId))?.state === 'waiting') {
        stopping.signal.throwIfAborted();
        let hasRead = false;
        for (const next of inTurn(await artifacts.listWaiting(), lastTurnAtMs)) {
          const result = await holding(runtime, next.orgId, async () => {
            lastTurnAtMs.set(next.orgId, Date.now());
            return await assembleNext(runtime, assembler, next, job);
          });
          if (result === null) continue;
          hasRead = result;
          break;
        }
        if (!hasRead) await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
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

/** Upload of a job, and whether the job is not run again when it fails. */
interface UploadJob {
  readonly uploadId: string;
  readonly isLastAttempt: boolean;
}

/**
 * Assembles an upload; returns whether it has been read. A fault of another upload than that of the job is left to its
 * own job. One that has failed in each attempt is refused: it is the oldest of its organization, and the others wait.
 */
async function assembleNext(
  runtime: AssemblyRuntime,
  assembler: Assembler,
  { id, orgId }: Next,
  job: UploadJob,
): Promise<boolean> {
  try {
    await assembleBundle(runtime, assembler, orgId, id);
    return true;
  } catch (error) {
    if (assembler.signal?.aborted === true || isUnavailable(error)) throw error;
    if (id !== job.uploadId) {
      runtime.log.warn(
        { orgId, bundleId: id, err: error },
        'an upload could not be read and is tried again by its own job',
      );
      return false;
    }
    if (!job.isLastAttempt) throw error;
    runtime.log.error({ orgId, bundleId: id, err: error }, 'an upload could not be read and is refused');
    const detail = 'the server could not read it; upload it again in some minutes';
    await storesOf(runtime.db.session()).artifacts.endBundle(id, { state: 'refused', detail, maps: 0, bytes: 0 });
    return true;
  }
}

/** Does the work, and returns its result; null if another holds the uploads of this organization. */
async function holding(
  runtime: AssemblyRuntime,
  orgId: Id<'org'>,
  work: () => Promise<boolean>,
): Promise<boolean | null> {
  const lease = { name: `uploads ${orgId}`, holder: newId('job') };
  if (!(await takeLease(runtime, lease))) return null;
  try {
    return await whileHolding(runtime, lease, work);
  } finally {
    await new LeaseStore(runtime.db.session()).drop(lease.name, lease.holder);
  }
}
