import fc from '#test/kit/properties.ts';
import { describe, expect, test } from 'vitest';

import {
  addStep,
  canRepeat,
  type DraftStep,
  faultsOf,
  hasFaults,
  isOutOfOrder,
  moveStep,
  NO_DETAILS,
  NO_REPEAT,
  ON_CALL,
  removeStep,
  repeatSteps,
  scheduleTarget,
  targetsOf,
  teamTarget,
  toDraft,
  toPolicyInput,
  toStepInputs,
  withTargets,
} from '#console/pages/policies/policy_draft.ts';
import { POLICY_TEMPLATES } from '#console/pages/policies/policy_templates.ts';
import { POLICY_STEPS_MAX } from '#modules/policies/decide/policy_details.ts';

const ALWAYS = { repeat: NO_REPEAT, hours: null };

const stepsAt = (...minutes: (number | '')[]): DraftStep[] =>
  minutes.map((afterMinutes, key) => ({
    key,
    afterMinutes,
    channels: ['sms'],
    targetUserIds: [`user_${key}`],
    useSchedule: false,
    ...NO_DETAILS,
  }));

const times = (steps: readonly DraftStep[]) => steps.map(({ afterMinutes }) => afterMinutes);
const whom = (steps: readonly DraftStep[]) => steps.map(({ targetUserIds }) => targetUserIds[0]);

describe('the editor of a policy', () => {
  test('begins with the people on call, and adds steps at equal distances', () => {
    const first = addStep([]);
    expect(first).toMatchObject([{ afterMinutes: 0, useSchedule: true, targetUserIds: [] }]);
    expect(times(addStep(addStep(first)))).toEqual([0, 5, 10]);
    expect(times(addStep(stepsAt(0, 15)))).toEqual([0, 15, 30]);
    expect(times(addStep(stepsAt(3, 3)))).toEqual([3, 3, 8]);
    expect(times(addStep(stepsAt(0, '')))).toEqual([0, '', 5]);
  });

  test('moves what a step does, and leaves times in their order', () => {
    const moved = moveStep(stepsAt(0, 5, 15), 2, -1);
    expect(times(moved)).toEqual([0, 5, 15]);
    expect(whom(moved)).toEqual(['user_0', 'user_2', 'user_1']);
    expect(moveStep(stepsAt(0, 5), 0, -1)).toEqual(stepsAt(0, 5));
    expect(moveStep(stepsAt(0, 5), 1, 1)).toEqual(stepsAt(0, 5));
  });

  test('repeats all steps after the last one, as far as a policy may be that long', () => {
    expect(times(repeatSteps(stepsAt(0, 5, 15)))).toEqual([0, 5, 15, 25, 30, 40]);
    expect(times(repeatSteps(stepsAt(0)))).toEqual([0, 5]);
    expect(repeatSteps([])).toEqual([]);
    const many = stepsAt(...Array.from({ length: 51 }, (_, index) => index));
    expect(canRepeat(many)).toBe(false);
    expect(repeatSteps(many)).toBe(many);
  });

  test('gives every step a key of its own, whatever is done in whatever order', () => {
    const act = fc.constantFrom(
      (steps: readonly DraftStep[]) => addStep(steps),
      (steps: readonly DraftStep[]) => repeatSteps(steps),
      (steps: readonly DraftStep[]) => removeStep(steps, steps[0]?.key ?? 0),
      (steps: readonly DraftStep[]) => moveStep(steps, steps.at(-1)?.key ?? 0, -1),
    );
    fc.assert(
      fc.property(fc.array(act, { maxLength: 30 }), (acts) => {
        const steps = acts.reduce<readonly DraftStep[]>((current, apply) => apply(current), []);
        expect(new Set(steps.map(({ key }) => key)).size).toBe(steps.length);
        expect(steps.length).toBeLessThanOrEqual(POLICY_STEPS_MAX);
      }),
    );
  });

  test('says what is wrong at its field', () => {
    const [first] = stepsAt('');
    const faults = faultsOf({ ...ALWAYS, name: ' ', teamId: '', steps: [{ ...first!, channels: [] }] }, true);
    expect(faults).toMatchObject({ name: 'A policy needs a name', teamId: expect.stringContaining('team') });
    expect(faults.ofSteps.get(0)).toEqual({
      afterMinutes: 'Enter whole minutes, 0 or more',
      channels: 'Choose at least one channel',
    });
    expect(hasFaults(faultsOf({ ...ALWAYS, name: 'A', teamId: 't', steps: [] }, true))).toBe(true);
    expect(hasFaults(faultsOf({ ...ALWAYS, name: 'A', teamId: 't', steps: [] }, false))).toBe(false);
    expect(hasFaults(faultsOf({ ...ALWAYS, name: 'A', teamId: 't', steps: stepsAt(0) }, true))).toBe(false);
    expect(isOutOfOrder(stepsAt(0, 10, 5), 2)).toBe(true);
    expect(isOutOfOrder(stepsAt(0, 10, 10), 2)).toBe(false);
  });

  test('has templates without faults', () => {
    for (const { name, steps } of POLICY_TEMPLATES) {
      for (const scheduleIds of [[], ['primary'], ['primary', 'secondary']]) {
        const made = steps(['user_1', 'user_2'], scheduleIds);
        expect(hasFaults(faultsOf({ ...ALWAYS, name, teamId: 't', steps: made }, true))).toBe(false);
        expect(toStepInputs(made)).toHaveLength(made.length);
      }
    }
  });

  test('has the template of a primary and a secondary, who is whose turn follows without a schedule of their own', () => {
    const made = (...scheduleIds: string[]) => toStepInputs(POLICY_TEMPLATES[0]!.steps([], scheduleIds));
    expect(made('primary', 'secondary')).toMatchObject([
      { afterMinutes: 0, useSchedule: true, scheduleIds: ['primary'] },
      { afterMinutes: 10, useSchedule: true, scheduleIds: ['secondary'] },
    ]);
    expect(made('primary')).toMatchObject([{ scheduleIds: ['primary'] }, { useSchedule: true, turn: 'next' }]);
  });

  test('takes schedules, a team and people from one picker, and sets what each needs', () => {
    const [step] = addStep([]);
    const changed = (from: DraftStep, targets: string[]): DraftStep => ({ ...from, ...withTargets(from, targets) });
    expect(targetsOf(step!)).toEqual([ON_CALL]);
    const primary = changed(step!, [...targetsOf(step!), scheduleTarget('primary')]);
    expect(primary).toMatchObject({ useSchedule: true, scheduleIds: ['primary'] });
    const both = changed(primary, [...targetsOf(primary), scheduleTarget('secondary'), 'anna', teamTarget('t')]);
    expect(targetsOf(both)).toEqual(['schedule primary', 'schedule secondary', 'team t', 'anna']);
    expect(changed(both, [...targetsOf(both), ON_CALL])).toMatchObject({ useSchedule: true, scheduleIds: [] });
    expect(changed(both, [...targetsOf(both), teamTarget('u')]).pagedTeamId).toBe('u');
    const nobody = changed({ ...both, isNext: true, isInTurn: true }, ['anna']);
    expect(nobody).toMatchObject({ useSchedule: false, isNext: false, pagedTeamId: null, isInTurn: false });
    expect(targetsOf(nobody)).toEqual(['anna']);
  });
});

test('what a policy says beyond its steps is read and sent as it is, and cleared where it says nothing', () => {
  const [first] = stepsAt(0);
  const stored = {
    name: 'A',
    teamId: 't',
    steps: [
      {
        afterMinutes: 0,
        channels: ['sms' as const],
        targetUserIds: [],
        useSchedule: true,
        scheduleIds: ['s'],
        turn: 'next' as const,
        members: { teamId: 't', inTurn: true as const },
        needsEverybody: true as const,
      },
    ],
    repeat: { times: 3, pauseMinutes: 5 },
    hours: {
      timezone: 'UTC',
      windows: [{ days: [1], from: '09:00', to: '24:00' }],
      outside: { policyId: 'p' },
      exemptFrom: 'fatal' as const,
    },
  };
  const { steps, repeat, hours } = stored;
  expect(toPolicyInput(toDraft(stored))).toEqual({ steps, repeat, hours });
  expect(hasFaults(faultsOf(toDraft(stored), false))).toBe(false);
  expect(toPolicyInput({ ...ALWAYS, steps: [{ ...first!, policyId: 'p', useSchedule: true }] }).steps).toEqual([
    { afterMinutes: 0, channels: ['sms'], targetUserIds: [], useSchedule: false, policyId: 'p' },
  ]);
});

test('faults of the repetition and of the hours are named at their fields', () => {
  const draft = { name: 'A', teamId: 't', steps: stepsAt(0), hours: null };
  expect(faultsOf({ ...draft, repeat: { times: 10, pauseMinutes: 5 } }, false).repeat).toContain('0 to 9 times');
  expect(faultsOf({ ...draft, repeat: { times: 1, pauseMinutes: 0 } }, false).repeat).toBeDefined();
  const windows = [{ key: 4, days: [], from: '9', to: '25:00' }];
  const hours = { timezone: 'UTC', windows, otherPolicyId: '', exemptFrom: null };
  const faults = faultsOf({ ...draft, repeat: NO_REPEAT, hours }, false).hours;
  expect(faults?.outside).toBeDefined();
  expect(Object.keys(faults?.ofWindows.get(4) ?? {})).toEqual(['days', 'from', 'to']);
});
