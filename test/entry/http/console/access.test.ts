import { Check } from 'typebox/value';
import { describe, expect, test } from 'vitest';

import type { AnyAccountOperation } from '#actions/action_context.ts';
import { ACCOUNT_OPERATIONS, ACTIONS, CONSOLE_OPERATIONS } from '#actions/registry.ts';
import { routeOf, takesBody } from '#entry/http/console/account_operations.ts';
import { type Role, ROLES } from '#kernel/permissions.ts';
import { faultyBodies } from '#test/contract/faulty_bodies.ts';
import { type Browser, givenPerson, openBrowser, signedIn } from '#test/kit/programs/browser.ts';
import { fileWorld } from '#test/kit/world.ts';

const w = await fileWorld();
const ofRole = ROLES.map(async (role, index) => {
  const { email } = await givenPerson(w, { role, name: role });
  return [role, await signedIn(w, email, `198.51.100.${index}`)] as const;
});
const browsers = Object.fromEntries(await Promise.all(ofRole)) as Record<Role, Browser>;

/** Operations that would end the session which the other tests of this file use. */
const ENDS = new Set(['sign_out', 'end_other_sessions']);
const EACH = ACCOUNT_OPERATIONS.map((operation) => [operation.name, operation] as const);

const askAs = (browser: Browser, operation: AnyAccountOperation, asking: object = {}) => {
  const { method, path } = routeOf(operation);
  return browser.ask(method, path.replaceAll(/:\w+/g, 'nothing_0'), asking);
};

/** Returns the body of an example; the rest of it is in the path. */
const bodyOf = ({ example, route }: AnyAccountOperation): Record<string, unknown> =>
  Object.fromEntries(Object.entries(example as object).filter(([name]) => !route.includes(`:${name}`)));

test('every name and every address is there once', () => {
  const all = [...ACTIONS, ...CONSOLE_OPERATIONS, ...ACCOUNT_OPERATIONS];
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  const addresses = ACCOUNT_OPERATIONS.map(({ route }) => route);
  expect(new Set(addresses).size).toBe(addresses.length);
});

describe.each(EACH)('%s', (name, operation) => {
  const { method } = routeOf(operation);
  const hasBody = takesBody(method) && Object.keys(bodyOf(operation)).length > 0;
  /** Fits nothing: what is allowed gets past the check of who asks, and no further. */
  const misfit = takesBody(method) ? { body: { no: 'such property' } } : {};

  test('is for whom it says', async () => {
    const nobody = await askAs(openBrowser(w), operation, misfit);
    expect(nobody.headers['cache-control']).toContain('no-store');
    expect(nobody.body.code === 'unauthenticated').toBe(operation.scope === 'signed_in');
    if (ENDS.has(name)) return;
    for (const role of ROLES) {
      const { status } = await askAs(browsers[role], operation, misfit);
      expect(status, role).toBeLessThan(500);
      expect([401, 403], role).not.toContain(status);
      expect(takesBody(method) ? status : 400, role).toBe(400);
    }
  });

  test.runIf(method !== 'GET')('is refused to a page of another origin', async () => {
    expect((await askAs(browsers.owner, operation, { ...misfit, origin: null })).status).toBe(403);
    for (const origin of ['https://evil.test', 'null', 'http://tocsin.test.evil.test', 'https://tocsin.test']) {
      const answer = await askAs(browsers.owner, operation, { origin });
      expect(answer, origin).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    }
  });

  test('has an example that fits, which names every property', () => {
    expect(Check(operation.input, operation.example)).toBe(true);
    expect(Object.keys(operation.example as object).toSorted()).toEqual(
      Object.keys(operation.input.properties).toSorted(),
    );
  });

  test.runIf(hasBody)('refuses every fault of shape with its path', async () => {
    const properties = Object.entries(operation.input.properties).filter(([property]) => property in bodyOf(operation));
    const schema = { ...operation.input, properties: Object.fromEntries(properties), required: [] };
    for (const { fault, path, body } of faultyBodies(schema, bodyOf(operation))) {
      const answer = await askAs(browsers.owner, operation, { text: body });
      const description = `${fault} at ${path}: ${body} answered ${answer.text}`;
      expect(answer, description).toMatchObject({ status: 400, body: { code: 'invalid_input', errors: [{ path }] } });
    }
  });
});

test('a refusal to a member is in the audit log, without what was sent', async () => {
  const { viewer, owner } = browsers;
  await viewer.invoke(w.orgId, 'create_invitation', { email: 'secret-friend@example.com', role: 'admin' });
  const filter = { action: 'create_invitation', result: 'forbidden' };
  const { entries } = (await owner.invoke(w.orgId, 'list_audit_log', filter)).body.result;
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
  const invoke = (role: Role, action: string, body: object) => browsers[role].invoke(w.orgId, action, body);
  expect((await invoke('viewer', 'list_teams', {})).body).toMatchObject({ result: { teams: [] } });
  const refused = await invoke('viewer', 'create_team', { name: 'Platform' });
  expect(refused.status).toBe(403);
  expect(refused.body.detail).toMatch(/^create_team needs the permission oncall:edit, which /);
  expect((await invoke('responder', 'create_team', { name: '' })).status).toBe(400);
  expect((await invoke('responder', 'create_team', { name: 'Platform' })).status).toBe(200);
  expect((await invoke('viewer', 'fly', {})).body.code).toBe('unknown_action');
  const { entries } = (await invoke('owner', 'list_audit_log', { action: 'create_team' })).body.result;
  expect(entries.map(({ via, result }: { via: string; result: string }) => [via, result])).toEqual([
    ['console', 'done'],
    ['console', 'forbidden'],
  ]);
});
