import { readdirSync } from 'node:fs';

import { expect, test } from 'vitest';

import { METRIC_PROTOCOLS, PORT_PROTOCOLS } from '#ingest/registry.ts';

test('every protocol is registered under the name of its file', () => {
  const files = readdirSync(new URL('../../src/ingest/protocols', import.meta.url)).filter((name) =>
    name.endsWith('.ts'),
  );
  const names = [...[...METRIC_PROTOCOLS, ...PORT_PROTOCOLS].map(({ name }) => name), 'sentry'];
  expect(files.toSorted()).toEqual(names.map((name) => `${name}.ts`).toSorted());
});
