import fc, { slowRuns } from '#test/kit/properties.ts';
import { describe, expect, test } from 'vitest';

import { type Channel, CHANNELS } from '#modules/contacts/decide/channel.ts';
import { type Contact, findAddress, wantsChannel } from '#modules/contacts/decide/contact.ts';
import type { EscalationStep } from '#modules/policies/decide/escalation.ts';
import type { Override } from '#modules/schedules/decide/overrides.ts';
import { type EscalationSetting, simulateEscalation } from '#modules/policies/decide/simulate_escalation.ts';
import { asId, type Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { onCallOfSchedule } from '#modules/schedules/decide/layered_shifts.ts';
import {
  ANNA,
  anyRotation,
  at,
  BRAM,
  CHLOE,
  DIRK,
  everybody,
  presentBut,
} from '#test/modules/schedules/decide/given_rotation.ts';
import { rotationOf, scheduleOf } from '#test/modules/schedules/decide/given_rotation.ts';

const PEOPLE = [ANNA, BRAM, CHLOE, DIRK];

const contact = (userId: Id<'user'>, changes: Partial<Contact> = {}): Contact => ({
  userId,
  phone: '+31612345678',
  email: `${userId}@example.com`,
  hasPush: true,
  smsEnabled: true,
  callEnabled: true,
  pushEnabled: true,
  emailEnabled: true,
  ...changes,
});

const step = (afterMinutes: number, changes: Partial<EscalationStep> = {}): EscalationStep => ({
  afterMinutes,
  channels: ['sms'],
  targetUserIds: [],
  useSchedule: false,
  ...changes,
});

const T = at('2026-03-04T02:00:00Z');

function simulate(steps: readonly EscalationStep[], changes: Partial<EscalationSetting> = {}, from = T) {
  const setting: EscalationSetting = {
    steps,
    schedules: [],
    contacts: new Map(PEOPLE.map((userId) => [userId, contact(userId)])),
    configured: new Set(CHANNELS),
    isPresent: everybody,
    ...changes,
  };
  return simulateEscalation(setting, from);
}

const minutes = (firesAt: Temporal.Instant | null): number | null =>
  firesAt === null ? null : T.until(firesAt).total('minutes');

describe('an incident that nobody answers', () => {
  test('pages step by step, each at its time', () => {
    const steps = [step(0, { targetUserIds: [ANNA] }), step(5, { targetUserIds: [BRAM], channels: ['call', 'push'] })];
    expect(simulate(steps)).toMatchObject([
      { stepIndex: 0, broughtForwardBy: null, pages: [{ kind: 'notify', userId: ANNA, channel: 'sms' }] },
      { stepIndex: 1, pages: [{ channel: 'call' }, { channel: 'push' }] },
    ]);
    expect(simulate(steps).map(({ firesAt }) => minutes(firesAt))).toEqual([0, 5]);
  });

  test('does not wait after a step that reaches nobody, however many follow each other', () => {
    const steps = [step(0), step(5, { useSchedule: true }), step(30, { targetUserIds: [ANNA] }), step(60)];
    const found = simulate(steps);
    expect(
      found.map(({ stepIndex, firesAt, broughtForwardBy, nobodyReached }) => [
        stepIndex,
        minutes(firesAt),
        broughtForwardBy,
        nobodyReached,
      ]),
    ).toEqual([
      [0, 0, null, 'no_targets'],
      [1, 0, 0, 'nobody_on_call'],
      [2, 0, 1, null],
      [3, 60, null, 'no_targets'],
    ]);
  });

  test('does not wait for somebody whose channels all fail, though others are paged', () => {
    const steps = [step(0, { targetUserIds: [ANNA, BRAM], channels: ['call'] }), step(9, { targetUserIds: [CHLOE] })];
    const contacts = new Map([
      [ANNA, contact(ANNA)],
      [BRAM, contact(BRAM, { callEnabled: false })],
      [CHLOE, contact(CHLOE)],
    ]);
    // Off is a choice, which nobody waits for either way: only a failure brings the next step forward.
    expect(simulate(steps, { contacts }).map(({ firesAt }) => minutes(firesAt))).toEqual([0, 9]);
    const mixed = [step(0, { targetUserIds: [ANNA, BRAM], channels: ['call', 'push'] }), steps[1]!];
    const pushOnly = new Map([...contacts, [BRAM, contact(BRAM, { callEnabled: false, hasPush: false })]]);
    const configured: ReadonlySet<Channel> = new Set(['push', 'sms']);
    const noPush = new Map([...pushOnly, [BRAM, contact(BRAM, { hasPush: false })]]);
    const found = simulate(mixed, { contacts: noPush, configured });
    expect(found[0]?.unreachable).toEqual([BRAM]);
    expect(found.map(({ firesAt }) => minutes(firesAt))).toEqual([0, 0]);
  });

  test('asks who is on call when the step fires, not when the incident opens', () => {
    const rotation = rotationOf({ timezone: 'UTC', startAt: at('2026-03-01T03:00:00Z'), userIds: [ANNA, BRAM] });
    const steps = [step(0, { useSchedule: true }), step(90, { useSchedule: true })];
    const found = simulate(steps, { schedules: [{ layered: scheduleOf(rotation) }] });
    expect(found.map(({ pages }) => pages.map(({ userId }) => userId))).toEqual([[ANNA], [BRAM]]);
  });

  test('never fires what lies beyond the last instant', () => {
    const [found] = simulate([step(Number.MAX_SAFE_INTEGER, { targetUserIds: [ANNA] })]);
    expect(found).toMatchObject({ firesAt: null, pages: [], nobodyReached: null });
  });

  test('fires in the order of time, and at equal times in that of the policy', () => {
    const named = { targetUserIds: [ANNA] };
    const found = simulate([step(15, named), step(0, named), step(15, named), step(5, named)]);
    expect(found.map(({ stepIndex }) => stepIndex)).toEqual([1, 3, 0, 2]);
  });
});

const anyChannels = fc.uniqueArray(fc.constantFrom(...CHANNELS), { minLength: 1 });

const anyStep: fc.Arbitrary<EscalationStep> = fc.record({
  afterMinutes: fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 20_000 }), fc.constant(2 ** 52)),
  channels: anyChannels,
  targetUserIds: fc.uniqueArray(fc.constantFrom(...PEOPLE), { maxLength: 2 }),
  useSchedule: fc.boolean(),
});

const anyContact = (userId: Id<'user'>) =>
  fc.record({
    phone: fc.option(fc.constant(`+3161234567${PEOPLE.indexOf(userId)}`)),
    hasPush: fc.boolean(),
    smsEnabled: fc.boolean(),
    callEnabled: fc.boolean(),
    pushEnabled: fc.boolean(),
    emailEnabled: fc.boolean(),
  });

const anyWorld = fc
  .record({
    rotations: fc.array(anyRotation, { maxLength: 3 }),
    steps: fc.array(anyStep, { minLength: 1, maxLength: 6 }),
    contacts: fc.tuple(...PEOPLE.map(anyContact)),
    configured: fc.uniqueArray(fc.constantFrom(...CHANNELS)),
    leavers: fc.uniqueArray(fc.constantFrom(...PEOPLE), { maxLength: 2 }),
    covers: fc.array(
      fc.record({
        schedule: fc.nat({ max: 2 }),
        userId: fc.constantFrom(...PEOPLE),
        from: fc.integer({ min: -600, max: 600 }),
        minutes: fc.integer({ min: 1, max: 900 }),
      }),
      { maxLength: 4 },
    ),
    afterStart: fc.integer({ min: -5_000, max: 365 * 24 * 60 }),
  })
  .map(({ rotations, steps, contacts, configured, leavers, covers, afterStart }) => {
    const triggeredAt = (rotations[0]?.startAt ?? T).add({ minutes: afterStart });
    const overrides = covers.map(({ schedule, userId, from, minutes: length }, index) => ({
      schedule,
      overrideId: asId('override', `override_${index}`),
      userId,
      startAt: triggeredAt.add({ minutes: from }),
      endAt: triggeredAt.add({ minutes: from + length }),
      createdAt: T,
    }));
    const setting: EscalationSetting = {
      steps,
      schedules: rotations.map((rotation, index) => ({
        layered: scheduleOf(rotation, overrides.filter(({ schedule }): boolean => schedule === index) as Override[]),
      })),
      contacts: new Map(
        PEOPLE.flatMap((userId, index) =>
          leavers.includes(userId) ? [] : [[userId, contact(userId, contacts[index])] as const],
        ),
      ),
      configured: new Set(configured),
      isPresent: presentBut(leavers),
    };
    return { setting, triggeredAt };
  });

/**
 * The obvious reference: a list of timers that is looked through again and again, everybody on call asked anew at each
 * step, and what the specification says of addresses and channels written down plainly.
 */
function playThrough({ steps, schedules, contacts, configured, isPresent }: EscalationSetting, from: Temporal.Instant) {
  const order = steps.map((_, index) => index).sort((a, b) => steps[a]!.afterMinutes - steps[b]!.afterMinutes || a - b);
  const dueMs = steps.map(({ afterMinutes }) => from.epochMilliseconds + afterMinutes * 60_000);
  const end = Date.UTC(2200, 0, 1);
  const log: string[] = [];
  for (const [place, index] of order.entries()) {
    const due = dueMs[index]!;
    if (due >= end) {
      log.push(`${index} never`);
      continue;
    }
    const now = at(new Date(due).toISOString());
    const { targetUserIds, useSchedule, channels } = steps[index]!;
    const onCall = schedules.flatMap(({ layered }) => {
      const { shift } = onCallOfSchedule(layered, now, isPresent);
      return useSchedule && shift !== null ? shift.userIds : [];
    });
    const sent: string[] = [];
    let isFailure = false;
    for (const userId of new Set([...targetUserIds, ...onCall])) {
      const person = contacts.get(userId);
      const usable = channels.filter(
        (channel) => person && wantsChannel(person, channel) && findAddress(person, channel) !== null,
      );
      const working = usable.filter((channel) => configured.has(channel));
      sent.push(...working.map((channel) => `${userId} ${channel}`));
      if (usable.length > 0 && working.length === 0) isFailure = true;
    }
    log.push(`${index} at ${now.toString()}: ${sent.toSorted().join(', ')}`);
    const next = order[place + 1];
    if (next !== undefined && (sent.length === 0 || isFailure)) dueMs[next] = Math.min(dueMs[next]!, due);
  }
  return log;
}

test('equals a plain play-through of the specification in random worlds', () => {
  let skipped = 0;
  fc.assert(
    fc.property(anyWorld, ({ setting, triggeredAt }) => {
      const found = simulateEscalation(setting, triggeredAt);
      skipped += found.filter(({ nobodyReached }) => nobodyReached !== null).length;
      const log = found.map(({ stepIndex, firesAt, pages }) => {
        const sent = pages.flatMap(({ kind, userId, channel }) => (kind === 'notify' ? [`${userId} ${channel}`] : []));
        return firesAt === null
          ? `${stepIndex} never`
          : `${stepIndex} at ${firesAt.toString()}: ${sent.toSorted().join(', ')}`;
      });
      expect(log).toEqual(playThrough(setting, triggeredAt));
    }),
    { numRuns: slowRuns(3_000) },
  );
  expect(skipped).toBeGreaterThan(50);
});
