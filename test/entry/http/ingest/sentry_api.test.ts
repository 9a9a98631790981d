import { expect, test } from 'vitest';

import { slugOf } from '#modules/releases/decide/release.ts';
import { withSettings, type World, world } from '#test/kit/world.ts';

async function get(w: World, path: string, headers: Readonly<Record<string, string>> = {}) {
  const answer = await w.app.inject({
    method: 'GET',
    url: `/api/0/${path}`,
    headers: { authorization: `Bearer ${w.orgKey}`, ...headers },
  });
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json();
}

test('the public address wins over what a proxy makes of the name that the client asked', async () => {
  const w = await withSettings(await world(), { baseUrl: 'https://tocsin.test/monitor' });
  for (const host of ['tocsin.test', 'tocsin.internal:3000', '127.0.0.1:3000']) {
    const { url } = await get(w, `organizations/${w.orgId}/chunk-upload/`, { host });
    expect(url, host).toBe(`https://tocsin.test/monitor/api/0/organizations/${w.orgId}/chunk-upload/`);
  }
});

test('without a public address a client within the network is answered with the one that it knows', async () => {
  const w = await withSettings(await world(), { baseUrl: 'http://127.0.0.1:3000' });
  const { url } = await get(w, `organizations/${w.orgId}/chunk-upload/`, { host: 'tocsin:3000' });
  expect(url).toBe(`http://tocsin:3000/api/0/organizations/${w.orgId}/chunk-upload/`);
});

test('sentry-cli lists the organization of its key', async () => {
  const w = await world();
  const [organization, ...others] = await get(w, 'organizations/');
  expect(others).toEqual([]);
  // What the program of version 3.8 reads; without one of them it reads none.
  expect(organization).toMatchObject({
    id: w.orgId,
    slug: slugOf(organization.name),
    name: expect.any(String),
    dateCreated: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    isEarlyAdopter: false,
    require2FA: false,
  });
});
