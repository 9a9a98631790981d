import { describe, expect, test } from 'vitest';

import { createBadKeyLimiter } from '#auth/sign_in_limiter.ts';
import { fireStep } from '#modules/incidents/paging/fire_step.ts';
import { restartTimers } from '#modules/incidents/paging/schedule_steps.ts';
import { AppError } from '#kernel/errors.ts';
import { newId } from '#kernel/ids.ts';
import { silentLog } from '#kernel/log.ts';
import type { Clock } from '#kernel/time.ts';
import { databaseClock } from '#storage/postgres/database_clock.ts';
import { LeaseStore } from '#storage/postgres/lease_store.ts';
import { runStorePoints } from '#test/kit/ingest_jobs.ts';
import { testClock } from '#test/kit/clock.ts';
import { DEFAULT_LIMITS } from '#test/kit/limits.ts';
import type { RolesRuntime } from '#test/kit/roles.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';
import { openMany } from '#test/kit/many_incidents.ts';
import { onRunEscalationStep, sweepDue } from '#workers/pager_role.ts';

async function annaThenBram(w: StaffedWorld) {
  const [teamId, anna, bram] = await w.staff.teamOf('Anna', 'Bram');
  const alert = await w.staff.alert(teamId, [
    { afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] },
    { afterMinutes: 15, channels: ['sms'], targetUserIds: [bram.userId] },
  ]);
  return { anna, bram, alert };
}

const textsTo = (w: StaffedWorld, { phone }: { phone: string }) => w.phone.messages.filter(({ to }) => to === phone);

describe('a clock that is set back by an hour', () => {
  test('delays no step for longer than its own wait, counted from then, and keeps the order of a timeline', async () => {
    const w = await staffedWorld();
    const [{ bram, alert }, answered] = [await annaThenBram(w), await annaThenBram(w)];
    await alert.trigger();
    await w.advance({ minutes: 10 });
    const answeredId = await answered.alert.trigger();
    await w.runUntilIdle();
    w.clock.advance({ hours: -1 });
    await restartTimers(w.runtime);
    await w.expectOk('resolve_incident', { incidentId: answeredId });
    await w.runUntilIdle();
    const { timeline } = await w.expectOk('get_incident', { incidentId: answeredId });
    const events = timeline.map(({ event }: { event: string }) => event);
    expect(events).toEqual(['triggered', 'step_fired', 'page_sent', 'page_delivered', 'resolved']);
    for (let minute = 0; minute < 14; minute += 1) {
      await w.advance({ minutes: 1 });
      await restartTimers(w.runtime);
    }
    expect(textsTo(w, bram)).toEqual([]);
    await w.advance({ minutes: 1 });
    expect(textsTo(w, bram)).toHaveLength(1);
  });

  test('does not change steps that were expedited, have ended, or come due after the longest wait of the contract', async () => {
    const w = await staffedWorld();
    const [teamId, anna] = await w.staff.teamOf('Anna');
    const step = { channels: ['sms'], targetUserIds: [anna.userId] } as const;
    const alert = await w.staff.alert(teamId, [
      { ...step, afterMinutes: 0 },
      { ...step, afterMinutes: 10 },
      { ...step, afterMinutes: Number.MAX_SAFE_INTEGER },
    ]);
    await alert.trigger();
    await w.runUntilIdle();
    const timers = () =>
      w.context.db.sql.rows<object>('select step_index, state, due_at from incident_steps order by 1');
    await w.context.db.sql.run(`update incident_steps set due_at = '2001-01-01T00:00:00Z' where step_index = 1`);
    const before = await timers();
    w.clock.advance({ hours: -1 });
    await restartTimers(w.runtime);
    expect(await timers()).toEqual(before);
  });

  test('delays no periodic work, neither what was done at a later time nor what was leased until later', async () => {
    const w = await staffedWorld();
    const leases = new LeaseStore(w.context.db.session());
    const times = () => {
      const now = w.clock.now();
      return { now, notSince: now.subtract({ seconds: 5 }), heldUntil: now.add({ seconds: 9 }) };
    };
    const isDue = async () =>
      (await leases.listDue([{ name: 'watch', notSince: times().notSince }], w.clock.now())).length === 1;
    expect(await leases.take('watch', 'one', times())).toBe(true);
    await leases.release('watch', 'one', w.clock.now());
    expect(await isDue()).toBe(false);
    w.clock.advance({ hours: -1 });
    expect(await isDue()).toBe(true);
    expect(await leases.take('watch', 'two', times())).toBe(true);
    expect(await isDue()).toBe(false);
    w.clock.advance({ hours: -1 });
    expect(await isDue()).toBe(true);
    expect(await leases.take('watch', 'three', times())).toBe(true);
  });

  test('does not stop a rule from resolving and counting', async () => {
    const w = await staffedWorld();
    const { alert } = await annaThenBram(w);
    const measure = async (value: number) => {
      await runStorePoints(w.runtime, alert.serviceId, [{ name: 'latency', at: w.clock.now(), value }]);
      await w.evaluate();
    };
    await measure(250);
    w.clock.advance({ minutes: 6 });
    await measure(1);
    w.clock.advance({ hours: -1 });
    await measure(1);
    w.clock.advance({ minutes: 4, seconds: 59 });
    await measure(1);
    expect((await w.expectOk('list_incidents', { status: 'triggered' })).total).toBe(1);
    w.clock.advance({ seconds: 1 });
    await measure(1);
    expect((await w.expectOk('list_incidents', { status: 'resolved' })).total).toBe(1);
  });

  test('does not slow down anybody for longer than a minute after bad keys', async () => {
    const clock = testClock();
    const badKeys = createBadKeyLimiter(clock, { processes: () => 1, set: DEFAULT_LIMITS });
    const guess = () =>
      badKeys
        .guard('192.0.2.1', () => Promise.reject(new AppError('unauthenticated', 'bad key')))
        .catch((error: AppError) => error.code);
    for (let time = 0; time < 20; time += 1) await guess();
    expect(await guess()).toBe('rate_limited');
    clock.advance({ hours: -1 });
    expect(await guess()).toBe('unauthenticated');
  });
});

describe('a clock that is set forward by an hour', () => {
  test('fires once what is due by then, and sends digests instead of a storm', async () => {
    const w = await staffedWorld();
    const { anna, bram, alert } = await annaThenBram(w);
    await openMany(w, alert, 10);
    await w.runUntilIdle();
    await w.advance({ hours: 1 });
    await w.advance({ minutes: 1 });
    await w.advance({ minutes: 1 });
    expect([textsTo(w, anna).length, textsTo(w, bram).length]).toEqual([4, 4]);
  });

  test('and back again leaves no trace', async () => {
    const w = await staffedWorld();
    const { anna, bram, alert } = await annaThenBram(w);
    w.clock.advance({ hours: 1 });
    await alert.trigger();
    await w.runUntilIdle();
    w.clock.advance({ hours: -1 });
    await restartTimers(w.runtime);
    await w.advance({ minutes: 14 });
    expect([textsTo(w, anna).length, textsTo(w, bram).length]).toEqual([1, 0]);
    await w.advance({ minutes: 1 });
    expect(textsTo(w, bram)).toHaveLength(1);
  });
});

/** A machine whose clock can be set, and what has really gone by. */
function machine(hoursWrong = 0) {
  const world = testClock();
  const began = world.now().epochMilliseconds;
  const elapsedMs = () => world.now().epochMilliseconds - began;
  let wrongBy = hoursWrong;
  return {
    world,
    source: { elapsedMs, wallMs: () => world.now().add({ hours: wrongBy }).epochMilliseconds },
    set: (hours: number) => (wrongBy = hours),
  };
}

describe('the clock of the database', () => {
  const apart = (clock: Clock, truth: Clock) => clock.now().epochMilliseconds - truth.now().epochMilliseconds;

  test.each([1, -1, -400_000])('is used by a process whose machine is wrong by %i h', async (hours) => {
    const { world, source } = machine(hours);
    const clock = databaseClock(async () => world.now().epochMilliseconds, silentLog, source);
    await clock.compare();
    expect(apart(clock, world)).toBe(0);
    world.advance({ minutes: 5 });
    expect(apart(clock, world)).toBe(0);
  });

  test('is not affected when the clock of the machine is set while the process runs', async () => {
    const { world, source, set } = machine();
    const clock = databaseClock(async () => world.now().epochMilliseconds, silentLog, source);
    await clock.compare();
    set(1);
    world.advance({ seconds: 5 });
    expect(apart(clock, world)).toBe(0);
    await clock.compare();
    expect(apart(clock, world)).toBe(0);
  });

  test('is followed when it is set, and that is logged', async () => {
    const { world, source } = machine();
    const jumps: object[] = [];
    let database = world.now();
    const log = { ...silentLog, warn: (fields: object) => void jumps.push(fields) };
    const clock = databaseClock(async () => database.epochMilliseconds, log, source);
    await clock.compare();
    expect(apart(clock, world)).toBe(0);
    database = database.subtract({ hours: 1 });
    await clock.compare();
    expect(apart(clock, { now: () => database })).toBe(0);
    expect(jumps).toEqual([{ bySeconds: -3600 }]);
  });

  test('does not count as wrong because it answers slowly', async () => {
    const { world, source } = machine();
    const asked = world.now().epochMilliseconds;
    const clock = databaseClock(
      async () => {
        world.advance({ seconds: 8 });
        return asked + 1_000;
      },
      silentLog,
      source,
    );
    await clock.compare();
    expect(apart(clock, world)).toBe(0);
  });

  test('keeps running while the database is unavailable', async () => {
    const { world, source } = machine(1);
    let isAway = false;
    const clock = databaseClock(
      () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve(world.now().epochMilliseconds)),
      silentLog,
      source,
    );
    await clock.compare();
    isAway = true;
    world.advance({ minutes: 30 });
    await clock.compare();
    expect(apart(clock, world)).toBe(0);
  });
});

describe('a worker whose machine is wrong by an hour', () => {
  /** The world is right; one more worker works on a machine that is not. */
  async function shiftedRuntime(w: StaffedWorld, hours: number) {
    const source = {
      elapsedMs: () => w.clock.now().epochMilliseconds,
      wallMs: () => w.clock.now().add({ hours }).epochMilliseconds,
    };
    const clock = databaseClock(async () => w.clock.now().epochMilliseconds, silentLog, source);
    await clock.compare();
    return { ...w.runtime, clock };
  }

  test('ahead or behind, it pages nobody early, late or twice', async () => {
    const w = await staffedWorld();
    const runtimes = [await shiftedRuntime(w, 1), await shiftedRuntime(w, -1)];
    const { anna, bram, alert } = await annaThenBram(w);
    w.phone.addFault({ kind: 'http_error', status: 503, number: anna.phone, times: 1 });
    const incidentId = await alert.trigger();
    for (const seconds of [0, 10, 880, 9]) {
      w.clock.advance({ seconds });
      for (const runtime of runtimes) {
        await sweepDue(runtime, 0);
        await fireStep(runtime, incidentId, 1);
      }
      await w.runUntilIdle();
    }
    expect([textsTo(w, anna).length, textsTo(w, bram).length]).toEqual([1, 0]);
    w.clock.advance({ seconds: 1 });
    for (const runtime of runtimes) await sweepDue(runtime, 0);
    await w.runUntilIdle();
    expect([textsTo(w, anna).length, textsTo(w, bram).length]).toEqual([1, 1]);
  });

  test('neither takes work that another worker does, nor blocks others', async () => {
    const w = await staffedWorld();
    const runtime = await shiftedRuntime(w, 1);
    const leases = new LeaseStore(w.context.db.session());
    const take = (clock: Clock) => {
      const now = clock.now();
      const times = { now, notSince: now.subtract({ seconds: 5 }), heldUntil: now.add({ seconds: 9 }) };
      return leases.take('watch', newId('job'), times);
    };
    expect(await take(w.clock)).toBe(true);
    expect(await take(runtime.clock)).toBe(false);
    w.clock.advance({ seconds: 10 });
    expect(await take(runtime.clock)).toBe(true);
    expect(await take(w.clock)).toBe(false);
  });
});

describe('a queue that wakes a worker a little too early by the database clock', () => {
  const run = (runtime: RolesRuntime, incidentId: string) =>
    onRunEscalationStep(runtime).run({ incidentId, stepIndex: 1 }, { jobId: newId('job'), attempt: 1, log: silentLog });

  test('delays no step: the worker waits for what is due in a moment, and fires nothing that is due later', async () => {
    const w = await staffedWorld();
    const { alert } = await annaThenBram(w);
    const incidentId = await alert.trigger();
    w.clock.advance({ minutes: 14, seconds: 59 });
    await run(w.runtime, incidentId);
    expect(await firedSteps(w)).toEqual([]);
    w.clock.advance({ milliseconds: 900 });
    let isLooked = false;
    const clock = {
      now() {
        // Told how late it is once, the handler finds the moment come when it looks again.
        if (isLooked) w.clock.advance({ milliseconds: 50 });
        isLooked = true;
        return w.clock.now();
      },
    };
    await run({ ...w.runtime, clock }, incidentId);
    expect(await firedSteps(w)).toEqual([1]);
  });

  async function firedSteps(w: StaffedWorld): Promise<number[]> {
    const rows = await w.context.db.sql.rows<{ index: number }>(
      `select step_index as index from incident_steps where state = 'fired' order by 1`,
    );
    return rows.map(({ index }) => index);
  }
});
