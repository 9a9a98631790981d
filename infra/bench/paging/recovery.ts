import { setTimeout as delay } from 'node:timers/promises';

import type { Database } from '#storage/postgres/database.ts';

import type { PagedService } from './fixture.ts';
import type { PageWatch } from './pages.ts';
import { newEventId, sendUntilTaken } from './sender.ts';
import type { RunningProcesses } from './processes.ts';

/** Cost of one kill, in milliseconds from the kill. */
export interface Recovery {
  readonly victim: string;
  /** Time until the process is back and every store answers. */
  readonly readyMs: number;
  /** Time until exceptions of just before and just after the kill have paged somebody. */
  readonly pagedMs: number;
  /** Ids of those exceptions. */
  readonly eventIds: readonly string[];
}

interface Setup {
  readonly baseUrl: string;
  readonly db: Database;
  /** `RECOVERIES_MAX` of them, each of which pages different people. */
  readonly services: readonly PagedService[];
  readonly watch: PageWatch;
  readonly processes: RunningProcesses;
}

const ROUNDS = 3;
/** Number of kills with at most six processes. */
export const RECOVERIES_MAX = ROUNDS * 6;
const LOOK_MS = 50;
const GIVEN_UP_AFTER_MS = 60_000;

/** Kills each process alone, round after round, each time after everything has recovered. */
export async function measureRecovery(setup: Setup): Promise<Recovery[]> {
  const recoveries: Recovery[] = [];
  const names = setup.processes.running;
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const victim of names) {
      const service = setup.services[recoveries.length];
      if (service !== undefined) recoveries.push(await recoverFrom(setup, victim, service, recoveries.length));
    }
  }
  return recoveries;
}

async function recoverFrom(setup: Setup, victim: string, { dsn }: PagedService, index: number): Promise<Recovery> {
  const { processes, baseUrl } = setup;
  await until(() => isWell(baseUrl));
  const types = [`Before${index}x`, `After${index}x`] as const;
  const before = await sendUntilTaken(dsn, types[0], newEventId());
  const pid = processes.pidOf(victim);
  processes.kill(victim);
  const killedAt = performance.now();
  const sinceKill = async (isReached: () => Promise<boolean>): Promise<number> => {
    await until(isReached);
    return performance.now() - killedAt;
  };
  const isBack = async (): Promise<boolean> => {
    const now = processes.pidOf(victim);
    return now !== undefined && now !== pid && (await isWell(baseUrl));
  };
  const after = sendUntilTaken(dsn, types[1], newEventId());
  const [readyMs, pagedMs] = await Promise.all([
    sinceKill(isBack),
    after.then(() => sinceKill(() => havePaged(setup, types))),
  ]);
  return { victim, readyMs, pagedMs, eventIds: [before, await after] };
}

export async function havePaged(
  { db, watch }: Pick<Setup, 'db' | 'watch'>,
  types: readonly string[],
): Promise<boolean> {
  const pages = await db.sql.rows<{ id: string; title: string }>(
    `select n.id, i.title from notifications n join incidents i on i.id = n.incident_id
     where i.title like any($1) and n.channel = 'sms'`,
    [types.map((type) => `${type}%`)],
  );
  const taken = await watch.look();
  return new Set(pages.filter(({ id }) => taken.has(id)).map(({ title }) => title)).size === types.length;
}

export async function isWell(baseUrl: string): Promise<boolean> {
  const response = await fetch(`${baseUrl}/healthz`);
  await response.text();
  return response.ok;
}

/** An error counts as "not yet". */
export async function until(isReached: () => Promise<boolean>, givenUpAfterMs = GIVEN_UP_AFTER_MS): Promise<void> {
  const deadline = performance.now() + givenUpAfterMs;
  while (performance.now() < deadline && !(await isReached().catch(() => false))) await delay(LOOK_MS);
}
