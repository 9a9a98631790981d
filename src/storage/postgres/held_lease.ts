import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { type Clock, Temporal } from '#kernel/time.ts';
import type { Database } from '#storage/postgres/database.ts';
import { LeaseStore } from '#storage/postgres/lease_store.ts';

export interface LeaseRuntime {
  readonly db: Pick<Database, 'session'>;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
}

interface NamedLease {
  readonly name: string;
  readonly holder: string;
}

/**
 * Duration of a lease: a process that dies loses its leases after this time; one that lives renews them three times as
 * often.
 */
const HOLD = Temporal.Duration.from({ seconds: 9 });
const EXTEND_MS = 3_000;

/** Takes the lease of work that was last done before `notSince`, unless another process holds it. */
export async function takeLease(
  { db, clock }: LeaseRuntime,
  { name, holder }: NamedLease,
  notSince?: Temporal.Instant,
): Promise<boolean> {
  const now = clock.now();
  const times = { now, notSince: notSince ?? now, heldUntil: now.add(HOLD) };
  return await new LeaseStore(db.session()).take(name, holder, times);
}

/** Renews the lease while the work runs. If it is lost nevertheless, no harm is done: all work runs safely twice. */
export async function whileHolding<T>(
  { db, clock, log }: LeaseRuntime,
  { name, holder }: NamedLease,
  work: () => Promise<T>,
): Promise<T> {
  const extending = setInterval(() => {
    new LeaseStore(db.session()).extend(name, holder, clock.now().add(HOLD)).catch((error: unknown) => {
      log.warn({ work: name, err: messageOf(error) }, 'failed to renew the lease');
    });
  }, EXTEND_MS);
  try {
    return await work();
  } finally {
    clearInterval(extending);
  }
}
