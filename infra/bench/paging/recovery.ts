import { setTimeout as delay } from 'node:timers/promises';

import type { Database } from '#storage/postgres/database.ts';

import type { Post } from './crowd.ts';
import type { PageWatch } from './pages.ts';
import { newEventId, sendUntilTaken } from './sender.ts';
import type { Victims } from './victims.ts';

/** What one death cost, in milliseconds from the kill. */
export interface Recovery {
  readonly victim: string;
  /** Until the process is back and every store answers. */
  readonly readyMs: number;
  /** Until exceptions of just before and just after the kill have paged somebody. */
  readonly pagedMs: number;
  /** Of those exceptions. */
  readonly eventIds: readonly string[];
}

interface Place {
  readonly baseUrl: string;
  readonly db: Database;
  /** `RECOVERIES_MAX` of them, each with people of its own. */
  readonly posts: readonly Post[];
  readonly watch: PageWatch;
  readonly victims: Victims;
}

const ROUNDS = 3;
/** Of six processes at most. */
export const RECOVERIES_MAX = ROUNDS * 6;
const LOOK_MS = 50;
const GIVEN_UP_AFTER_MS = 60_000;

/** Kills each process alone, round after round, each time when all is well. */
export async function measureRecovery(place: Place): Promise<Recovery[]> {
  const recoveries: Recovery[] = [];
  const names = place.victims.running;
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const victim of names) {
      const post = place.posts[recoveries.length];
      if (post !== undefined) recoveries.push(await recoverFrom(place, victim, post, recoveries.length));
    }
  }
  return recoveries;
}

async function recoverFrom(place: Place, victim: string, { dsn }: Post, index: number): Promise<Recovery> {
  const { victims, baseUrl } = place;
  await until(() => isWell(baseUrl));
  const types = [`Before${index}x`, `After${index}x`] as const;
  const before = await sendUntilTaken(dsn, types[0], newEventId());
  const pid = victims.pidOf(victim);
  victims.kill(victim);
  const killedAt = performance.now();
  const sinceKill = async (isReached: () => Promise<boolean>): Promise<number> => {
    await until(isReached);
    return performance.now() - killedAt;
  };
  const isBack = async (): Promise<boolean> => {
    const now = victims.pidOf(victim);
    return now !== undefined && now !== pid && (await isWell(baseUrl));
  };
  const after = sendUntilTaken(dsn, types[1], newEventId());
  const [readyMs, pagedMs] = await Promise.all([
    sinceKill(isBack),
    after.then(() => sinceKill(() => havePaged(place, types))),
  ]);
  return { victim, readyMs, pagedMs, eventIds: [before, await after] };
}

async function havePaged({ db, watch }: Place, types: readonly string[]): Promise<boolean> {
  const pages = await db.sql.rows<{ id: string; title: string }>(
    `select n.id, i.title from notifications n join incidents i on i.id = n.incident_id
     where i.title like any($1) and n.channel = 'sms'`,
    [types.map((type) => `${type}%`)],
  );
  const taken = await watch.look();
  return new Set(pages.filter(({ id }) => taken.has(id)).map(({ title }) => title)).size === types.length;
}

async function isWell(baseUrl: string): Promise<boolean> {
  const response = await fetch(`${baseUrl}/healthz`);
  await response.text();
  return response.ok;
}

/** What cannot be asked is not so yet. */
async function until(isReached: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + GIVEN_UP_AFTER_MS;
  while (performance.now() < deadline && !(await isReached().catch(() => false))) await delay(LOOK_MS);
}
