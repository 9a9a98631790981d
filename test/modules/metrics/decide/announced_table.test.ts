import { expect, test } from 'vitest';

import { AnnouncedTable } from '#modules/metrics/decide/announced_table.ts';
import fc from '#test/kit/properties.ts';

const text = fc.constantFrom('', 'host', 'a', 'b', 'zone');
const series = fc.record({
  name: text,
  key: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  labels: fc.array(fc.tuple(text, text)).map((pairs) => pairs.flat()),
  newestAt: fc.nat(),
});

test('a table holds the series that were added, and its parts hold theirs', () => {
  fc.assert(
    fc.property(fc.array(fc.array(series)), (groups) => {
      const table = AnnouncedTable.of(groups.flat());
      expect([...table]).toEqual(groups.flat());
      expect(table.parts(groups.map(({ length }) => length)).map((part) => [...part])).toEqual(groups);
    }),
  );
});

test('texts that series share stand once; when nearly all are new, they are still those of their series', () => {
  const named = (name: string, host: string) => ({ name, key: 1n, labels: ['host', host], newestAt: 1 });
  const shared = AnnouncedTable.of(['a', 'b', 'a', 'b'].map((host) => named('up', host)));
  expect(shared.texts).toEqual(['up', 'host', 'a', 'b']);
  const hosts = Array.from({ length: 3_000 }, (_, index) => `host-${index % 2_500}`);
  expect([...AnnouncedTable.of(hosts.map((host) => named('up', host)))]).toEqual(
    hosts.map((host) => named('up', host)),
  );
});
