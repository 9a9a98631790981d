import { expect, test } from 'vitest';

import { operatorIn } from '#actions/operator.ts';
import { applyConfiguration } from '#modules/configuration/apply_plan.ts';
import { fileText } from '#modules/configuration/decide/write_file.ts';
import type { ConfigurationFile } from '#modules/configuration/decide/file.ts';
import { readPlan } from '#modules/configuration/read_plan.ts';
import { world } from '#test/kit/world.ts';

const PEOPLE = 3_000;
const TEAMS = 300;
const SCHEDULES = 1_200;

function largeFile(): ConfigurationFile {
  const person = (number: number) => `person-${number % PEOPLE}`;
  return {
    version: 1,
    people: Array.from({ length: PEOPLE }, (_, number) => ({
      key: person(number),
      name: `Person ${number}`,
      email: `person.${number}@example.com`,
      phones: [`+316${String(10_000_000 + number)}`],
    })),
    teams: Array.from({ length: TEAMS }, (_, team) => ({
      key: `team-${team}`,
      name: `Team ${team}`,
      members: Array.from({ length: 12 }, (_member, place) => ({ person: person(team * 10 + place) })),
    })),
    schedules: Array.from({ length: SCHEDULES }, (_, number) => ({
      key: `schedule-${number}`,
      team: `team-${number % TEAMS}`,
      name: `Schedule ${number}`,
      timezone: 'Europe/Amsterdam',
      layers: [
        {
          name: 'Week',
          rotation: { every: 1, unit: 'weeks' as const },
          turns: Array.from({ length: 8 }, (_turn, place) => ({ people: [person((number % TEAMS) * 10 + place)] })),
          startsAt: '2026-01-05T09:00',
        },
      ],
    })),
    policies: Array.from({ length: TEAMS }, (_, team) => ({
      key: `policy-${team}`,
      team: `team-${team}`,
      name: `Policy ${team}`,
      steps: [
        { afterMinutes: 0, channels: ['push' as const, 'sms' as const], onCall: true },
        { afterMinutes: 10, channels: ['call' as const], people: [person(team * 10)] },
      ],
    })),
  };
}

test(
  'thousands of people and schedules are planned within a minute, and applied within five',
  { timeout: 900_000 },
  async () => {
    const w = await world();
    const caller = operatorIn(w.orgId);
    const request = { text: fileText(largeFile()), fileName: 'large.yaml', prune: false };
    const before = process.memoryUsage().rss;
    const began = performance.now();
    const planned = await readPlan(w.context.actions, caller, request);
    const planSeconds = (performance.now() - began) / 1_000;
    const memoryMb = (process.memoryUsage().rss - before) / 1e6;
    const applying = performance.now();
    const done = await applyConfiguration(
      w.context.actions,
      caller,
      { requestId: 'req_large', address: null },
      request,
    );
    const applySeconds = (performance.now() - applying) / 1_000;
    const again = performance.now();
    const second = await readPlan(w.context.actions, caller, request);
    const secondSeconds = (performance.now() - again) / 1_000;
    console.info({
      megabytes: request.text.length / 1e6,
      planSeconds,
      memoryMb,
      applied: done.applied,
      applySeconds,
      secondSeconds,
    });
    expect(second.plan.changes).toEqual([]);
    expect(planned.plan.changes.length).toBe(done.applied);
    expect(planSeconds).toBeLessThan(60);
    expect(applySeconds).toBeLessThan(300);
  },
);
