import type { Cluster, Redis } from 'ioredis';

import { messageOf } from '#kernel/errors.ts';
import { keyPrefixOf } from '#storage/queue/redis.ts';

/** Reason, in words, why a Redis that answers takes no changes. */
export class RedisRefusal extends Error {}

/** Reasons by the word with which Redis begins its answer. */
const REFUSALS: Readonly<Record<string, string>> = {
  CLUSTERDOWN: 'does not serve all of its keys: a master is away, and no replica has taken its place',
  LOADING: 'is still reading its data from disk',
  MASTERDOWN: 'is a replica that has lost its master: name the master in REDIS_URL, or its Sentinels',
  MISCONF: 'cannot write to its disk, and takes no changes until it can: make room there',
  NOPERM: 'does not let this user write: give it the rights, or name another in REDIS_URL',
  NOREPLICAS: 'has fewer replicas than min-replicas-to-write asks for: start them',
  OOM: 'has used all of its memory (maxmemory): give it more',
  READONLY: 'is a replica, which takes no changes: name the master in REDIS_URL, or its Sentinels',
};

/** Writes a small key beside those of the queues: only that tells whether the queues can be written. */
export async function probeRedis(redis: Redis | Cluster, url: string): Promise<void> {
  try {
    await redis.set(`${keyPrefixOf(url) ?? 'bull'}:tocsin-probe`, '1', 'PX', 60_000);
  } catch (error) {
    const [, word = ''] = /^(?:ERR )?-?([A-Z]+)\b/.exec(messageOf(error)) ?? [];
    const text = REFUSALS[word];
    throw text === undefined ? error : new RedisRefusal(text);
  }
}
