import { expect, test } from 'vitest';

import { operatorIn } from '#actions/operator.ts';
import { applyConfiguration } from '#modules/configuration/apply_plan.ts';
import { fileWorld } from '#test/kit/world.ts';

const shared = await fileWorld();

const ORIGIN = { requestId: 'req_test', address: null };

const TEAM = `
version: 1
people:
  - { key: anna, name: Anna, email: anna@example.com }
teams:
  - { key: payments, name: Payments, members: [{ person: anna }] }
`;

const POLICIES = `
policies:
  - key: always
    team: payments
    name: Always
    steps: [{ afterMinutes: 0, channels: [push], people: [anna] }]
  - key: day
    team: payments
    name: Day
    steps: [{ afterMinutes: 0, channels: [push], people: [anna] }, { afterMinutes: 5, channels: [push], policy: always }]
    hours:
      timezone: Europe/Amsterdam
      windows: [{ fromDay: 1, from: '09:00', toDay: 5, to: '17:00' }]
      otherwise: night
  - key: night
    team: payments
    name: Night
    steps: [{ afterMinutes: 0, channels: [call], people: [anna] }]
`;

async function applying() {
  const w = await shared.forOrganization();
  const apply = async (text: string) =>
    await applyConfiguration(w.context.actions, operatorIn(w.orgId), ORIGIN, {
      text,
      fileName: 'tocsin.yaml',
      prune: true,
    });
  return { w, apply };
}

test('deletes a policy before those that it names, whatever their keys', async () => {
  const { apply } = await applying();
  await apply(TEAM + POLICIES);
  expect((await apply(TEAM)).plan.changes.map(({ action, key }) => `${action} ${key}`)).toEqual([
    'delete day',
    'delete night',
    'delete always',
  ]);
  expect((await apply(TEAM)).applied).toBe(0);
});
