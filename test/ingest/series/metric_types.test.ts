import { expect, onTestFinished, test } from 'vitest';

import { MetricTypes } from '#ingest/series/metric_types.ts';
import { ServiceTypes } from '#ingest/series/service_types.ts';
import type { Id } from '#kernel/ids.ts';
import { silentLog } from '#kernel/log.ts';
import { testClock } from '#test/kit/clock.ts';

const [GAUGE, COUNTER] = [2, 1];
const serviceOf = (index: number) => `service_${index}` as Id<'service'>;

/** The types of services, while the database is away. */
function away(): ServiceTypes {
  const session = () => {
    throw new Error('away');
  };
  const types = new ServiceTypes({ db: { session }, clock: testClock(), log: silentLog });
  onTestFinished(() => types.close());
  return types;
}

test('a service has types of so many metrics and no more, but those that it has may change', () => {
  const types = new MetricTypes();
  for (let i = 0; i < 21_000; i += 1) types.tell(`m${i}`, GAUGE);
  expect([types.typeOf('m0'), types.typeOf('m19999'), types.typeOf('m20000')]).toEqual([GAUGE, GAUGE, undefined]);
  types.learn('m20000', GAUGE, '');
  expect(types.typeOf('m20000')).toBeUndefined();
  expect(types.tell('m7', COUNTER)).toEqual({ name: 'm7', before: GAUGE, now: COUNTER });
  expect(types.takeUnwritten()).toHaveLength(20_000);
});

test('what was told here is newer than what is read from the database, until it is written', () => {
  const types = new MetricTypes();
  types.tell('m', GAUGE);
  types.learn('m', COUNTER, 's');
  expect(types.typeOf('m')).toBe(GAUGE);
  types.takeUnwritten();
  types.learn('m', COUNTER, 's');
  expect(types.typeOf('m')).toBe(COUNTER);
});

test('what could not be written is written later', async () => {
  const services = away();
  const types = await services.of(serviceOf(1));
  types.tell('m', GAUGE);
  await services.share();
  expect(types.takeUnwritten()).toEqual([{ name: 'm', type: GAUGE, unit: '' }]);
});

test('types of the services that were not heard of for longest are forgotten, unless they are to be written', async () => {
  const services = away();
  const types = await services.of(serviceOf(0));
  types.tell('m', GAUGE);
  const quiet = await services.of(serviceOf(1));
  for (let i = 2; i < 300; i += 1) await services.of(serviceOf(i));
  expect(await services.of(serviceOf(0))).toBe(types);
  expect(await services.of(serviceOf(1))).not.toBe(quiet);
});
