import { describe, expect, test } from 'vitest';

import { fireStep } from '#modules/incidents/paging/fire_step.ts';
import { toTimestamp } from '#kernel/time.ts';
import type { Database } from '#storage/postgres/database.ts';
import { slowRuns } from '#test/kit/properties.ts';
import { type DetailedWorld, detailedWorld } from '#test/modules/policies/detailed_world.ts';
import { sweepDue } from '#workers/pager_role.ts';

const SMS = { channels: ['sms'] } as const;
const named = (afterMinutes: number, userId: string) => ({ afterMinutes, ...SMS, targetUserIds: [userId] });

test('a round robin does not count a step whose transaction was lost, and passes over people whom nothing reaches', async () => {
  const w = await detailedWorld();
  for (const name of ['Anna', 'Bram', 'Cleo']) await w.person(name);
  const alert = await w.alertBy([{ afterMinutes: 0, ...SMS, members: { teamId: w.teamId, inTurn: true } }]);
  const incidentId = await alert.trigger();
  const db = dyingDatabase(w.runtime.db, { place: 1, when: 'before', begun: 0, isDead: false });
  const killed = { ...w.runtime, onOutbox: () => {}, db };
  await expect(fireStep(killed, incidentId, 0)).rejects.toThrow('killed');
  await w.runUntilIdle();
  expect(w.paged()).toEqual(['Anna']);
});

describe('a process that is killed', () => {
  /**
   * Kills a process at each of its transactions in turn until it outlives the incident, and returns where others were paged
   * than two people twice. The gate takes every 23rd transaction.
   */
  async function killEverywhere(run: (dying: Dying) => Promise<readonly string[]>): Promise<object[]> {
    const apart = slowRuns(23, 23) === 1 ? 23 : 1;
    const wrong: object[] = [];
    for (const when of ['before', 'after'] as const) {
      let place = when === 'before' ? 1 : Math.min(2, apart);
      for (;;) {
        const dying = { place, when, begun: 0, isDead: false };
        const paged = await run(dying);
        if (paged.toSorted().join() !== 'Anna,Anna,Bram,Bram') wrong.push({ place, when, paged });
        if (!dying.isDead) break;
        place += apart;
      }
      // Each page is fired, claimed and recorded.
      if (place <= 12) wrong.push({ place, when, paged: 'not killed' });
    }
    return wrong;
  }

  /** The process works as long as it lives, and from then on another one, without any job and on the same stores. */
  async function workOn(w: DetailedWorld, dying: Dying, minutes: readonly number[]): Promise<void> {
    const runtime = { ...w.runtime, onOutbox: () => {}, db: dyingDatabase(w.runtime.db, dying) };
    const begin = w.clock.now();
    for (const minute of minutes) {
      w.clock.set(begin.add({ minutes: minute }).toString());
      if (!dying.isDead) await sweepDue(runtime, 0).catch(passOverKill);
      if (dying.isDead) await w.runUntilIdle();
    }
  }

  test('loses and doubles no page of any round, also while they wait for hours', async () => {
    // Friday. The last step comes due while no process works; when one works again, the hours are over.
    const w = await detailedWorld({ jobs: 'lost', at: '2027-01-08T15:00:00Z' });
    const [anna, bram] = [await w.person('Anna'), await w.person('Bram')];
    const windows = [{ days: [1, 2, 3, 4, 5], from: '09:00', to: '17:00' }];
    const hours = { timezone: 'UTC', windows, outside: 'hold', exemptFrom: null };
    const alert = await w.alertBy([named(0, anna.userId), named(4, bram.userId)], {
      hours,
      repeat: { times: 1, pauseMinutes: 2 },
    });
    let friday = w.clock.now().add({ minutes: 115 });
    const run = async (dying: Dying) => {
      const before = w.paged().length;
      w.clock.set(friday.toString());
      const incidentId = await alert.trigger();
      await workOn(w, dying, [0, 1]);
      w.clock.set(friday.add({ minutes: 40 }).toString());
      await workOn(w, dying, [0, 1]);
      const { escalation } = await w.expectOk('get_incident', { incidentId });
      expect(escalation.nextStepAt).toBe(toTimestamp(friday.add({ hours: 64, minutes: 5 })));
      w.clock.set(friday.add({ hours: 64, minutes: 5 }).toString());
      // The steps that are due, and what a process that died with a page has left.
      await workOn(w, dying, [0, 2, 6, 7]);
      const paged = w.paged().slice(before);
      await w.expectOk('resolve_incident', { incidentId });
      await w.advance({ minutes: 2 });
      friday = friday.add({ hours: 7 * 24 });
      return paged;
    };
    expect(await killEverywhere(run)).toEqual([]);
  });
});

const KILLED = new Error('killed');

function passOverKill(error: unknown): void {
  if (error !== KILLED) throw error;
}

/** A process that dies at one of its transactions, counted from 1. */
interface Dying {
  readonly place: number;
  /** Whether that transaction is lost, or only what would have followed its commit. */
  readonly when: 'before' | 'after';
  /** Number of transactions that the process has begun. */
  begun: number;
  isDead: boolean;
}

/** The database as a process sees it that is killed: afterwards nothing of it reaches the store. */
function dyingDatabase(db: Database, dying: Dying): Database {
  const kill = (): never => {
    dying.isDead = true;
    throw KILLED;
  };
  const mortal: Pick<Database, 'session' | 'transaction'> = {
    session: () => (dying.isDead ? kill() : db.session()),
    async transaction(work) {
      dying.begun += 1;
      const isLast = dying.begun === dying.place;
      if (dying.isDead) kill();
      const result = await db.transaction(async (session) => {
        const done = await work(session);
        return isLast && dying.when === 'before' ? kill() : done;
      });
      return isLast ? kill() : result;
    },
  };
  return Object.setPrototypeOf(mortal, db) as Database;
}
