import { expect, test } from 'vitest';
import { parse } from 'yaml';

import { operatorIn } from '#actions/operator.ts';
import type { ConfigurationFile } from '#modules/configuration/decide/file.ts';
import { meaningOf } from '#modules/configuration/decide/meaning.ts';
import { applyConfiguration } from '#modules/configuration/apply_plan.ts';
import { pullConfiguration } from '#modules/configuration/pull_configuration.ts';
import { readPlan, readState } from '#modules/configuration/read_plan.ts';
import { fileWorld, type World } from '#test/kit/world.ts';

const shared = await fileWorld();

const FILE = `
version: 1
people:
  - { key: anna, name: Anna, email: anna.wide@example.com }
  - { key: bram, name: Bram, email: bram.wide@example.com }
  - { key: caro, name: Caro, email: caro.wide@example.com }
teams:
  - { key: payments, name: Payments, members: [{ person: anna }, { person: bram }, { person: caro }] }
calendars:
  - { key: holidays, name: Holidays, dates: ['2031-12-25', '2031-12-26'] }
schedules:
  - key: primary
    team: payments
    name: Primary
    timezone: Europe/Amsterdam
    layers:
      - name: Month
        rotation: { every: 1, unit: months }
        turns: [{ people: [anna] }, { people: [bram, caro] }, { people: [] }]
        startsAt: 2026-01-05T09:00
      - name: Nights
        rotation: { every: 12, unit: hours }
        turns: [{ people: [caro] }]
        startsAt: 2026-01-05T20:00
        endsAt: 2035-01-05T20:00
        hours:
          - { fromDay: 1, from: '20:00', toDay: 2, to: '08:00' }
          - { fromDay: 7, from: '22:00', toDay: 1, to: '06:00' }
        holidays: { calendar: holidays, layer: off }
    overrides:
      - { person: anna, startsAt: 2031-03-04T20:00, endsAt: 2031-03-05T08:00, layer: Nights }
      - { person: bram, startsAt: 2031-03-04T20:00, endsAt: 2031-03-05T08:00 }
  - key: secondary
    team: payments
    name: Secondary
    timezone: UTC
    layers:
      - { name: Week, rotation: { every: 2, unit: weeks }, turns: [{ people: [bram] }], startsAt: 2026-01-05T09:00 }
policies:
  - key: day
    team: payments
    name: By day
    steps:
      - { afterMinutes: 0, channels: [push], schedules: [primary], everybody: true }
      - { afterMinutes: 5, channels: [sms], next: [primary] }
      - { afterMinutes: 10, channels: [call], schedules: [secondary], people: [anna] }
      - { afterMinutes: 20, channels: [push], policy: night }
    repeat: { times: 2, pauseMinutes: 15 }
    hours:
      timezone: Europe/Amsterdam
      windows: [{ fromDay: 1, from: '08:00', toDay: 1, to: '20:00' }, { fromDay: 5, from: '18:00', toDay: 6, to: '02:00' }]
      otherwise: night
      exemptFrom: fatal
  - key: night
    team: payments
    name: By night
    steps: [{ afterMinutes: 0, channels: [call], teams: [payments] }]
    roundRobin: true
`;

function toolsOf(w: World) {
  const caller = operatorIn(w.orgId);
  const request = (text: string) => ({ text, fileName: 'wide.yaml', prune: false });
  const origin = { requestId: 'req_wide', address: null };
  return {
    plan: async (text: string) => (await readPlan(w.context.actions, caller, request(text))).plan.changes,
    apply: async (text: string) => await applyConfiguration(w.context.actions, caller, origin, request(text)),
    pull: async () => await pullConfiguration(w.context.actions, caller),
  };
}

test('layers, holidays, hours and named schedules are applied once, and pulled as they are', async () => {
  const w = await shared.forOrganization();
  const first = toolsOf(w);
  await first.apply(FILE);
  expect(await first.plan(FILE)).toEqual([]);
  const pulled = await first.pull();
  expect(await first.plan(pulled)).toEqual([]);
  const second = toolsOf(await w.forOrganization('Empty'));
  await second.apply(pulled);
  expect(await second.plan(pulled)).toEqual([]);
  const withoutOwners = (text: string) => text.replaceAll(/ *- key: olga.*\n(?: +[^ -].*\n)*/g, '');
  expect(withoutOwners(await second.pull())).toBe(withoutOwners(await first.pull()));
});

test('an override of one layer is of that layer, also where the layer comes with the same file', async () => {
  const w = await shared.forOrganization();
  const { plan, apply } = toolsOf(w);
  await apply(FILE);
  const stored = await w.context.db.sql.rows<{ layer: string | null }>(
    `select o.layer_id as layer from schedule_overrides o where o.org_id = $1 order by o.layer_id nulls first`,
    [w.orgId],
  );
  expect(stored.map(({ layer }) => layer === null || layer.startsWith('layer'))).toEqual([true, true]);
  expect(stored.map(({ layer }) => layer === null)).toEqual([true, false]);
  const moved = FILE.replace(', layer: Nights }', ', layer: Month }');
  expect((await plan(moved)).map(({ action, kind }) => `${action} ${kind}`)).toEqual(['create override']);
  await expect(plan(FILE.replace(', layer: Nights }', ', layer: Mornings }'))).rejects.toThrow(
    'the schedule has no layer "Mornings"',
  );
});

test('overrides are added to a schedule whose layers the file leaves out, and one of nobody is made where there is none', async () => {
  const w = await shared.forOrganization();
  const { plan, apply, pull } = toolsOf(w);
  const pulled = async (): Promise<ConfigurationFile> => parse(await pull()) as ConfigurationFile;
  const overridesAlone = (name: string): string => `
version: 1
people: [{ key: bram, name: Bram, email: bram.wide@example.com }]
teams: [{ key: payments, name: Payments }]
schedules:
  - key: ${name.toLowerCase()}-feed
    team: payments
    name: ${name}
    timezone: Europe/Amsterdam
    overrides: [{ person: bram, startsAt: 2031-03-06T09:00, endsAt: 2031-03-07T09:00 }]
`;
  await apply(FILE);
  const before = (await pulled()).schedules!.find(({ name }) => name === 'Primary')!;
  const changes = await plan(overridesAlone('Primary'));
  expect(changes.map(({ action, kind }) => `${action} ${kind}`)).toEqual(['create override']);
  await apply(overridesAlone('Primary'));
  const after = (await pulled()).schedules!.find(({ name }) => name === 'Primary')!;
  expect(after.layers).toEqual(before.layers);
  expect(after.overrides).toHaveLength(3);
  await apply(overridesAlone('Feed'));
  const made = (await pulled()).schedules!.find(({ name }) => name === 'Feed');
  expect(made).toMatchObject({ layers: [{ turns: [] }], overrides: [{ startsAt: '2031-03-06T09:00' }] });
  expect(await plan(overridesAlone('Feed'))).toEqual([]);
});

test('a layer and a step are changed by themselves', async () => {
  const w = await shared.forOrganization();
  const { plan, apply } = toolsOf(w);
  await apply(FILE);
  const changed = FILE.replace('rotation: { every: 12, unit: hours }', 'rotation: { every: 1, unit: days }')
    .replace('afterMinutes: 20, channels: [push], policy: night', 'afterMinutes: 30, channels: [push], policy: night')
    .replace("'2031-12-26'", "'2031-12-27'");
  const changes = await plan(changed);
  expect(changes.map(({ action, kind, key }) => `${action} ${kind} ${key}`)).toEqual([
    'update calendar holidays',
    'update schedule primary',
    'update policy day',
  ]);
  await apply(changed);
  expect(await plan(changed)).toEqual([]);
});

test('what a plan means for shifts is found out in a step for each schedule, so that others are served in between', async () => {
  const w = await shared.forOrganization();
  await toolsOf(w).apply(FILE);
  const caller = operatorIn(w.orgId);
  const text = FILE.replaceAll(/timezone: (Europe\/Amsterdam|UTC)\n    layers/g, 'timezone: Asia/Tokyo\n    layers');
  const { plan, meaning } = await readPlan(w.context.actions, caller, { text, fileName: 'wide.yaml', prune: false });
  const state = await readState(w.context.actions, caller);
  const steps = meaningOf(plan, state, w.clock.now());
  let count = 0;
  let step = steps.next();
  for (; !step.done; step = steps.next()) count += 1;
  expect(count).toBe(2);
  expect(step.value).toEqual(meaning);
  expect(meaning[0]).toContain('is on call instead of');
});
