import { isAlertKey } from '#auth/alert_keys.ts';
import { KeyCache } from '#auth/key_cache.ts';
import { hashSecret } from '#auth/secret_text.ts';
import { AppError } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { Clock } from '#kernel/time.ts';
import { AlertKeyStore, type AlertTarget } from '#modules/alerts/store/alert_key_store.ts';
import type { Database } from '#storage/postgres/database.ts';

/** The way in for alerts of other tools. */
export interface AlertAccess {
  /**
   * The service of the key. Throws `unauthenticated` for a key that opens nothing, `forbidden` without the capability
   * oncall, and `unavailable` when the database is away and the key is not known from before.
   */
  open(key: string | null): Promise<AlertTarget>;
}

/** A rotated or revoked key, a disabled capability or a deleted service is refused within a second, everywhere. */
export function createAlertAccess(db: Database, clock: Clock, log: Log): AlertAccess {
  const keys = new KeyCache<AlertTarget>({
    findMany: (hashes) => new AlertKeyStore(db.session()).findTargets(hashes),
    clock,
    log,
  });
  return {
    async open(key) {
      if (key === null) throw new AppError('unauthenticated', 'send the alert key of the service');
      const target = isAlertKey(key) ? await keys.find(hashSecret(key)) : null;
      if (target === null) {
        throw new AppError('unauthenticated', 'this alert key is unknown, or was rotated or revoked');
      }
      if (!target.capabilities.includes('oncall')) {
        throw new AppError('forbidden', 'the capability oncall is not enabled for this service; enable it first');
      }
      return target;
    },
  };
}
