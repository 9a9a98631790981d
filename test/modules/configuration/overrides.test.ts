import { expect, test } from 'vitest';

import { operatorIn } from '#actions/operator.ts';
import { applyConfiguration } from '#modules/configuration/apply_plan.ts';
import { pullConfiguration } from '#modules/configuration/pull_configuration.ts';
import { readPlan } from '#modules/configuration/read_plan.ts';
import { readLayers } from '#modules/schedules/decide/stored_layers.ts';
import { setScheduleLayers } from '#modules/schedules/operations/schedule_layers.ts';
import { readSchedule } from '#modules/schedules/store/schedule_store.ts';
import { toTimestamp } from '#kernel/time.ts';
import { storesOf } from '#modules/stores.ts';
import { runOperation } from '#test/kit/run_operation.ts';
import { fileWorld } from '#test/kit/world.ts';

const shared = await fileWorld();

const ORIGIN = { requestId: 'req_test', address: null };

const FILE = `
version: 1
people:
  - { key: anna, name: Anna, email: anna@example.com }
  - { key: bram, name: Bram, email: bram@example.com }
teams:
  - { key: payments, name: Payments, members: [{ person: anna }] }
schedules:
  - key: primary
    team: payments
    name: Primary
    timezone: Europe/Amsterdam
    layers:
      - name: Days
        rotation: { every: 1, unit: weeks }
        turns: [{ people: [anna] }]
        startsAt: 2026-01-05T09:00
        hours: [{ fromDay: 1, from: '09:00', toDay: 5, to: '17:00' }]
    overrides:
      - { person: bram, startsAt: 2031-02-06T09:00, endsAt: 2031-02-07T09:00, layer: Days }
`;

async function applying() {
  const w = await shared.forOrganization();
  const { actions } = w.context;
  const caller = operatorIn(w.orgId);
  const request = (text: string) => ({ text, fileName: 'tocsin.yaml', prune: false });
  return {
    w,
    caller,
    apply: async (text: string) => await applyConfiguration(actions, caller, ORIGIN, request(text)),
    plan: async (text: string) => (await readPlan(actions, caller, request(text))).plan,
    pull: async () => await pullConfiguration(actions, caller),
  };
}

test('overrides the only layer of a schedule, whatever its name', async () => {
  const { w, caller, apply, plan, pull } = await applying();
  await apply(FILE);
  expect((await plan(FILE)).changes).toEqual([]);
  const [schedule] = await storesOf(w.context.db.session()).schedules.listPage(w.orgId, {}, { offset: 0, limit: 1 });
  if (schedule === undefined) throw new Error('the file makes a schedule');
  const layers = readLayers(readSchedule(schedule)).map(({ rotation, turns, hours }) => {
    return { layerId: 'rotation', name: 'Named by hand', rotation, turns, hours };
  });
  const { id: scheduleId, name, timezone, updatedAt } = schedule;
  const edited = { scheduleId, readAt: toTimestamp(updatedAt), name, timezone, layers, keepTurns: true };
  await runOperation(w, setScheduleLayers, caller, edited);
  expect((await plan(FILE)).changes).toEqual([]);
  expect((await plan(await pull())).changes).toEqual([]);
});

const TWO_LAYERS = FILE.replace(
  '    overrides:',
  `      - name: Nights
        rotation: { every: 1, unit: weeks }
        turns: [{ people: [bram] }]
        startsAt: 2026-01-05T09:00
        hours: [{ fromDay: 1, from: '22:00', toDay: 2, to: '06:00' }]
    overrides:`,
).replace('layer: Days', 'layer: Nights');

test('makes an override anew that is another one by now', async () => {
  const { w, caller, apply, plan } = await applying();
  await apply(TWO_LAYERS);
  const schedules = async () =>
    await storesOf(w.context.db.session()).schedules.listPage(w.orgId, {}, { offset: 0, limit: 1 });
  const [schedule] = await schedules();
  if (schedule === undefined) throw new Error('the file makes a schedule');
  const { id: scheduleId, name, timezone, updatedAt } = schedule;
  const layers = readLayers(readSchedule(schedule)).map(({ id: layerId, name: of, rotation, turns, hours }) => {
    return { layerId, name: of === 'Nights' ? 'Renamed by hand' : of, rotation, turns, hours };
  });
  const edited = { scheduleId, readAt: toTimestamp(updatedAt), name, timezone, layers, keepTurns: true };
  await runOperation(w, setScheduleLayers, caller, edited);
  expect((await apply(TWO_LAYERS)).applied).toBeGreaterThan(0);
  expect((await plan(TWO_LAYERS)).changes).toEqual([]);
  const overrides = await w.context.db.sql.rows('select id from schedule_overrides where schedule_id = $1', [
    scheduleId,
  ]);
  expect(overrides).toHaveLength(1);
});
