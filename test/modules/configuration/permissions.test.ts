import { expect, test } from 'vitest';

import type { Permission } from '#kernel/permissions.ts';
import { fileWorld } from '#test/kit/world.ts';

const shared = await fileWorld();

const FILE = `
version: 1
services:
  - { key: checkout, name: checkout, repository: { owner: northwind, name: checkout } }
`;

test('changes nothing with a key that may not mark what is there as managed', async () => {
  const w = await shared.forOrganization();
  const { serviceId } = await w.expectOk('create_service', { name: 'checkout' });
  const views = ['services:view', 'dashboards:view', 'oncall:view'] as const;
  const apply = async (permissions: readonly Permission[]) => {
    const headers = {
      authorization: `Bearer ${await w.given.apiKey({ permissions })}`,
      'content-type': 'application/json',
    };
    const payload = JSON.stringify({ file: FILE });
    return await w.app.inject({ method: 'POST', url: '/api/config/apply', headers, payload });
  };
  const refused = await apply([...views, 'services:edit']);
  expect(refused.statusCode).toBe(403);
  expect(refused.body).toContain('oncall:edit');
  expect(await w.expectOk('get_service', { serviceId })).toMatchObject({ scmRepo: null });
  expect((await apply([...views, 'services:edit', 'oncall:edit'])).json()).toMatchObject({ applied: 1 });
  expect((await apply([...views, 'services:edit'])).json()).toMatchObject({ applied: 0 });
});

test('changes nothing with a key that may not shorten how long data is kept', async () => {
  const w = await shared.forOrganization();
  const key = await w.given.apiKey({
    permissions: ['services:view', 'dashboards:view', 'oncall:view', 'services:edit', 'oncall:edit'],
  });
  const apply = async (days: number) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const payload = JSON.stringify({
      file: `version: 1\nservices: [{ key: checkout, name: checkout, retentionDays: { metrics: ${days} } }]\n`,
    });
    return await w.app.inject({ method: 'POST', url: '/api/config/apply', headers, payload });
  };
  const refused = await apply(7);
  expect(refused.statusCode).toBe(403);
  expect(refused.body).toContain('services:delete');
  expect((await w.expectOk('list_services', {})).services).toEqual([]);
  expect((await apply(60)).json()).toMatchObject({ applied: 2 });
  expect((await apply(59)).statusCode).toBe(403);
});

test('shows no key of a DSN to whoever plans', async () => {
  const w = await shared.forOrganization();
  const { serviceId } = await w.expectOk('create_service', { name: 'checkout' });
  const { dsn } = await w.expectOk('get_service', { serviceId });
  const publicKey = new URL(dsn).username;
  const key = await w.given.apiKey({ permissions: ['services:view', 'dashboards:view', 'oncall:view'] });
  const sentry = "{ publicKey: '0d3b5f7a9c1e4820b6d8f0a2c4e68b13', projectNumber: 42 }";
  const payload = JSON.stringify({
    file: `version: 1\nservices: [{ key: checkout, name: checkout, sentry: ${sentry} }]\n`,
  });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const planned = await w.app.inject({ method: 'POST', url: '/api/config/plan', headers, payload });
  expect(planned.json()).toMatchObject({ changes: [{ operation: 'keep_sentry_dsn', fields: [{ field: 'sentry' }] }] });
  expect(publicKey).toMatch(/^[0-9a-f]{32}$/);
  expect(planned.body).not.toContain(publicKey);
});
