import { sql } from 'kysely';

import type { RateLimit, SharedBuckets } from '#kernel/shared_limit.ts';
import { Temporal } from '#kernel/time.ts';
import { PostgresStore } from '#storage/postgres/store.ts';

/** A time further ahead was written by a clock that has been set back since. */
const AHEAD_MAX = Temporal.Duration.from({ minutes: 1 });

/** Stores the rest of limits that count for all processes together: a token bucket for each key. */
export class TokenBucketStore extends PostgresStore implements SharedBuckets {
  async take(
    key: string,
    amount: number,
    { burst, perSecond }: RateLimit,
    now: Temporal.Instant,
  ): Promise<{ isGranted: boolean; left: number }> {
    return await this.insertInto('token_buckets')
      .values({ key, tokens: burst - amount, is_granted: true, at: now })
      .onConflict((conflict) =>
        conflict.column('key').doUpdateSet((eb) => {
          const refill = sql<number>`greatest(0, extract(epoch from ${eb.ref('excluded.at')} - ${eb.ref('token_buckets.at')})) * ${perSecond}::float8`;
          const level = sql<number>`least(${burst}::float8, ${eb.ref('token_buckets.tokens')} + ${refill})`;
          return {
            tokens: sql<number>`case when ${level} >= 1 then ${level} - ${amount}::float8 else ${level} end`,
            is_granted: sql<boolean>`${level} >= 1`,
            at: sql<Temporal.Instant>`case when ${eb.ref('token_buckets.at')} > ${now.add(AHEAD_MAX)}::timestamptz
              then ${eb.ref('excluded.at')} else greatest(${eb.ref('token_buckets.at')}, ${eb.ref('excluded.at')}) end`,
          };
        }),
      )
      .returning(['token_buckets.is_granted as isGranted', 'token_buckets.tokens as left'])
      .executeTakeFirstOrThrow();
  }

  /** A bucket that nobody has taken from for so long is full. */
  async removeOld(before: Temporal.Instant): Promise<void> {
    await this.deleteFrom('token_buckets').where('at', '<=', before).execute();
  }
}
