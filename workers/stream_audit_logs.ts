import type { ReadyStream } from '#modules/audit/store/audit_stream_store.ts';
import { type AuditStreamRuntime, streamAudit } from '#modules/audit/stream_audit.ts';
import { storesOf } from '#modules/stores.ts';
import { PerOrganizationQueue } from '#workers/per_organization_queue.ts';

const BATCH = 200;

interface AuditStreamWork {
  /** Starts to send to every stream that is behind. */
  run(): Promise<void>;
  /** Resolves once everything that was started has ended. */
  settled(): Promise<void>;
}

/** Opens the work. A stream that hangs delays only other streams of its organization. */
export function openAuditStreamWork(runtime: AuditStreamRuntime): AuditStreamWork {
  const sending = new PerOrganizationQueue<ReadyStream>(({ id }) => streamAudit(runtime, id), runtime.log);
  return { run: async () => sending.start(await listReady(runtime)), settled: () => sending.settled() };
}

/** Sends to every stream that is behind, and returns whether there was any. */
export async function streamAuditLogs(runtime: AuditStreamRuntime): Promise<boolean> {
  const ready = await listReady(runtime);
  await Promise.all(ready.map(({ id }) => streamAudit(runtime, id)));
  return ready.length > 0;
}

async function listReady({ db, clock }: AuditStreamRuntime): Promise<ReadyStream[]> {
  return await storesOf(db.session()).auditStreams.listReady(clock.now(), BATCH);
}
