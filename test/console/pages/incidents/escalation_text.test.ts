import { expect, test } from 'vitest';

import { handedOverText, stepText, untilText } from '#console/pages/incidents/escalation_text.ts';

const nameOf = (userId: string): string => ({ anna: 'Anna', bram: 'Bram' })[userId] ?? 'a former member';
const step = (index: number, change: object = {}) => ({
  index,
  afterMinutes: 5 * index,
  countsFrom: '2027-02-03T02:00:00.000Z',
  targetUserIds: [],
  useSchedule: true,
  state: 'pending',
  ...change,
});

/** An incident of two steps that was handed over to Anna after the first: she is step 3, and the second follows her. */
const handedOver = (at: string) =>
  ({
    escalation: {
      state: 'running',
      nextStep: 3,
      nextStepAt: '2027-02-03T02:08:00.000Z',
      waitsFor: null,
      stepCount: 4,
      firstStep: 2,
      steps: [
        step(0, { state: 'fired' }),
        step(1, { state: 'cancelled', reason: 'reassigned' }),
        step(2, {
          state: 'fired',
          targetUserIds: ['anna'],
          useSchedule: false,
          countsFrom: '2027-02-03T02:03:00.000Z',
        }),
        step(3, { countsFrom: '2027-02-03T02:03:00.000Z' }),
      ],
    },
    timeline: [{ event: 'reassigned', at, data: {} }],
  }) as unknown as Parameters<typeof handedOverText>[0];

test('in a list, steps have their numbers until there are others than those of the policy', () => {
  const running = {
    state: 'running',
    nextStep: 1,
    nextStepAt: null,
    waitsFor: null,
    stepCount: 3,
    firstStep: 0,
  } as const;
  expect(stepText({ escalation: running })).toBe('step 2 of 3');
  expect(stepText({ escalation: { ...running, nextStep: 3, stepCount: 4, firstStep: 2 } })).toBe('next page');
});

test('on the page, what comes next is said by whom it pages, and after a hand-over whom that has paged', () => {
  const incident = handedOver('2027-02-03T02:03:00.000Z');
  expect(handedOverText(incident, 'Platform', nameOf)).toBe('Handed over: it has paged Anna.');
  expect(untilText(incident.escalation, 'Platform', nameOf)?.replaceAll(/[\u2068\u2069]/g, '')).toBe(
    'until it pages the people on call in Platform',
  );
  expect(untilText({ ...incident.escalation, waitsFor: 'maintenance' }, null, nameOf)).toBe(
    'until it pages the people on call, after the maintenance',
  );
  expect(untilText({ ...incident.escalation, nextStep: null }, null, nameOf)).toBeNull();
});

test('a repetition is no hand-over', () => {
  expect(handedOverText(handedOver('2027-02-03T02:01:00.000Z'), 'Platform', nameOf)).toBeNull();
});
