import { inUnitOfWork, type UnitOfWorkRuntime } from '#modules/unit_of_work.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import type { Temporal } from '#kernel/time.ts';
import { type AuditEntry, CREDENTIALS_SHOWN } from '#modules/audit/store/audit_store.ts';
import { type Stores, storesOf } from '#modules/stores.ts';

/**
 * Window of one row for a program that reads the same credentials again and again; a person who asks to see them leaves
 * a row each time.
 */
const PROGRAM_WINDOW_SECONDS = 3_600;

/** Records in the audit log who was shown which credentials, before the answer: nobody sees them without a trace. */
export async function recordCredentialReads(
  runtime: UnitOfWorkRuntime,
  caller: Caller,
  {
    action,
    targets,
    origin,
  }: { readonly action: string; readonly targets: Iterable<string>; readonly origin: RequestOrigin },
): Promise<void> {
  const now = runtime.clock.now();
  for (const target of targets) {
    const key = caller.via === 'console' ? null : `credentials:${target}:${readerOf(caller)}`;
    if (key !== null && (await wasRead(storesOf(runtime.db.session()), key, now))) continue;
    await inUnitOfWork(runtime, async ({ stores }) => {
      if (key !== null) {
        const { tries } = await stores.signInLimits.count(key, windowAt(now), now);
        if (tries > 1) return;
      }
      const what = { action, target, before: null, after: CREDENTIALS_SHOWN, result: 'done' } as const;
      await stores.audit.append({ ...whoOf(caller), ...what, origin }, now);
    });
  }
}

/** Whether the read is in the log already, which answers most of a busy program without a write. */
async function wasRead(stores: Stores, key: string, now: Temporal.Instant): Promise<boolean> {
  return (await stores.signInLimits.findSince(key, windowAt(now))) !== null;
}

function windowAt(now: Temporal.Instant): Temporal.Instant {
  return now.subtract({ seconds: PROGRAM_WINDOW_SECONDS });
}

function whoOf({ orgId, actor, via }: Caller): Pick<AuditEntry, 'orgId' | 'actor' | 'via'> {
  return { orgId, actor, via };
}

function readerOf({ actor }: Caller): string {
  switch (actor.kind) {
    case 'user':
      return actor.connection?.connectionId ?? actor.apiKeyId ?? actor.userId;
    case 'api_key':
      return actor.apiKeyId;
    case 'system':
      return 'system';
  }
}
