import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { CONSOLE_ROUTES } from '#entry/http/console/registry.ts';
import type { ConsoleRoute } from '#entry/http/console/route.ts';
import { type Role, ROLES } from '#kernel/permissions.ts';
import { type Browser, givenPerson, openBrowser, signedIn } from '#test/kit/browser.ts';
import { type World, world } from '#test/kit/world.ts';

let w: World;
let browsers: Record<Role, Browser>;
let outsider: Browser;
beforeAll(async () => {
  w = await world({ keepOpen: true });
  const ofRole = ROLES.map(async (role, index) => {
    const { email } = await givenPerson(w, { role, name: role });
    return [role, await signedIn(w, email, `198.51.100.${index}`)] as const;
  });
  browsers = Object.fromEntries(await Promise.all(ofRole)) as Record<Role, Browser>;
  const other = await w.given.organization('Other');
  const { email } = await givenPerson(w, { role: 'owner', orgId: other.orgId });
  outsider = await signedIn(w, email, '198.51.100.99');
});
afterAll(() => w.close());

/** The path with the organization, and with names of nothing elsewhere. */
const pathOf = ({ path }: ConsoleRoute, orgId: string): string =>
  path.replace(':org', orgId).replace(':action', 'list_teams').replaceAll(/:\w+/g, 'nothing_0');

/** A body and query that fit nothing: what is allowed gets past the check of who asks, and no further. */
const askAs = (browser: Browser, route: ConsoleRoute, orgId: string = w.orgId, origin?: null) =>
  browser.ask(route.method, pathOf(route, orgId), {
    ...(route.body !== undefined || route.takesAnyBody ? { body: { no: 'such property' } } : {}),
    ...(origin === null ? { origin } : {}),
  });

const EACH = CONSOLE_ROUTES.filter(({ name }) => name !== 'listen_to_changes').map(
  (route) => [route.name, route] as const,
);
/** Those that would end the session which the others of this file use. */
const ENDS = new Set(['sign_out', 'end_other_sessions']);

test('every name and every address is there once', () => {
  const names = CONSOLE_ROUTES.map(({ name }) => name);
  const addresses = CONSOLE_ROUTES.map(({ method, path }) => `${method} ${path}`);
  expect(new Set(names).size).toBe(names.length);
  expect(new Set(addresses).size).toBe(addresses.length);
});

describe.each(EACH)('%s', (name, route) => {
  test('is for whom it says', async () => {
    const nobody = await askAs(openBrowser(w), route);
    expect(nobody.headers['cache-control']).toContain('no-store');
    expect(nobody.body?.code === 'unauthenticated').toBe(route.access !== 'anyone');
    if (ENDS.has(name)) return;

    for (const role of ROLES) {
      const { status } = await askAs(browsers[role], route);
      expect(status, role).not.toBe(401);
      expect(status, role).toBeLessThan(500);
      const isForManagers = route.access === 'manager' && role !== 'owner' && role !== 'admin';
      const mayBeMore = route.refusals?.includes('forbidden') === true && status === 403;
      expect(status === 403, role).toBe(isForManagers || mayBeMore);
    }
  });

  test.runIf(route.path.includes(':org'))('is nothing to somebody of another organization', async () => {
    const foreign = await askAs(outsider, route);
    const unknown = await askAs(outsider, route, 'org_01h455vb4pex5vsknk084sn02q');
    expect(foreign).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect({ ...foreign.body, requestId: '' }).toEqual({ ...unknown.body, requestId: '' });
  });

  test.runIf(route.method !== 'GET')('is refused to a page of another origin', async () => {
    expect((await askAs(browsers.owner, route, w.orgId, null)).status).toBe(403);
    for (const origin of ['https://evil.test', 'null', 'http://tocsin.test.evil.test', 'https://tocsin.test']) {
      const answer = await browsers.owner.ask(route.method, pathOf(route, w.orgId), { origin });
      expect(answer, origin).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    }
  });
});

test('what was refused to a member is in the audit log, and says nothing of what was sent', async () => {
  const { viewer, owner } = browsers;
  const path = `/organizations/${w.orgId}/invitations`;
  await viewer.post(path, { email: 'secret-friend@example.com', role: 'admin' });
  const { entries } = (await owner.get(`/organizations/${w.orgId}/audit?action=create_invitation&result=forbidden`))
    .body.result;
  expect(entries[0]).toMatchObject({
    actor: { kind: 'user', name: 'viewer' },
    via: 'console',
    result: 'forbidden',
    before: null,
    after: null,
    address: '198.51.100.4',
  });
});

test('an action goes by the role, and its refusal says so', async () => {
  const invoke = (role: Role, action: string, body: object) =>
    browsers[role].post(`/organizations/${w.orgId}/actions/${action}`, body);
  expect((await invoke('viewer', 'list_teams', {})).body).toMatchObject({ result: { teams: [] } });
  const refused = await invoke('viewer', 'create_team', { name: 'Platform' });
  expect(refused.status).toBe(403);
  expect(refused.body.detail).toMatch(/^create_team needs the permission oncall:edit, which /);
  expect((await invoke('responder', 'create_team', { name: '' })).status).toBe(400);
  expect((await invoke('responder', 'create_team', { name: 'Platform' })).status).toBe(200);
  expect((await invoke('viewer', 'fly', {})).body.code).toBe('unknown_action');
  const { entries } = (await browsers.owner.get(`/organizations/${w.orgId}/audit?action=create_team`)).body.result;
  expect(entries.map(({ via, result }: { via: string; result: string }) => [via, result])).toEqual([
    ['console', 'done'],
    ['console', 'forbidden'],
  ]);
});
