import { globSync, readFileSync } from 'node:fs';

import { beforeAll, describe, expect, test } from 'vitest';

import type { AnyOperation } from '#actions/action_context.ts';
import { ACTIONS, CONSOLE_OPERATIONS } from '#actions/registry.ts';
import { refusalOf, type Way } from '#auth/may_act.ts';
import { VIAS } from '#modules/accounts/decide/caller.ts';
import { isAbove, isManagerRole, ROLE_CONSOLE_PERMISSIONS, ROLE_PERMISSIONS, ROLES } from '#kernel/permissions.ts';
import { operatorIn } from '#actions/operator.ts';
import { applyConfiguration } from '#modules/configuration/apply_plan.ts';
import { storesOf } from '#modules/stores.ts';
import { identityProvider, USER_SCHEMA } from '#test/kit/identity_provider.ts';
import { buildConsoleFixture, exampleBody, type Fixture } from '#test/contract/fixture.ts';
import { type Browser, givenPerson, signedIn } from '#test/kit/programs/browser.ts';
import { sweep } from '#test/kit/properties.ts';
import { fileWorld, world, type World } from '#test/kit/world.ts';

/**
 * Actor that is recorded for a way in: the person whom `auth/may_act.ts` lets act, the holder of a key that belongs to
 * nobody, nobody, or the person whose account or link it is, whatever their role.
 */
type Names = 'person' | 'key' | 'nobody' | 'account';

/** Every route that takes more than questions. A new one fails the test until it stands here, with a test of its way. */
const DOORS: readonly (readonly [path: RegExp, names: Names, test: string])[] = [
  [/^\/api\/rest\/actions\//, 'person', 'test/contract/permissions.test.ts'],
  [/^\/api\/mcp$/, 'person', 'test/auth/oauth/permissions.test.ts'],
  [/^\/api\/mcp\/responder$/, 'key', 'test/journeys/responder.test.ts'],
  [/^\/api\/config\/(?:plan|apply)$/, 'person', 'test/modules/configuration/sentry_keys.test.ts'],
  [/^\/api\/console\/organizations\//, 'person', 'test/entry/http/console/operations.test.ts'],
  [/^\/api\/console\/connect\//, 'person', 'test/auth/oauth/required_factor.test.ts'],
  [/^\/api\/console\/(?:me|sessions?|password-resets|sign-in)(?:\/|$)/, 'account', 'test/entry/http/console'],
  [/^\/api\/console\/invitations\//, 'account', 'test/entry/http/console'],
  [/^\/oauth\//, 'account', 'test/auth/oauth/tokens.test.ts'],
  [/^\/(?:a\/:code|p\/:code|api\/answers\/)/, 'person', 'test/journeys/messages/sms_links.test.ts'],
  [/^\/api\/callbacks\/twilio\//, 'person', 'test/journeys/messages/speaking_for.test.ts'],
  [/^\/api\/places\//, 'person', 'test/modules/places/presses.test.ts'],
  [/^\/scim\/v2\//, 'nobody', 'test/entry/http/scim.test.ts'],
  [/^\/status\//, 'nobody', 'test/entry/http/status'],
  [/^\/api\/(?:ingest|:projectId)/, 'nobody', 'test/entry/http/ingest'],
  [/^\/api\/0\//, 'nobody', 'test/entry/http/ingest'],
  [/^\/api\/alerts/, 'nobody', 'test/entry/http/alerts'],
];

/** Names, for each way that the audit log records, how it comes in and which check stands behind it. */
const WAYS: Readonly<Record<(typeof VIAS)[number], Names>> = {
  rest: 'person',
  mcp: 'person',
  console: 'person',
  cli: 'nobody',
  scim: 'nobody',
  slack: 'person',
  mattermost: 'person',
  discord: 'person',
  telegram: 'person',
  sms: 'person',
  call: 'person',
  push: 'person',
  email: 'person',
  rule: 'nobody',
  alert: 'nobody',
};

/**
 * Files that name a person as the one who acts, and what of them asks whether this person may, here, now and by this
 * way. A new one fails the test until it stands here.
 */
const MAKERS: Readonly<Record<string, string>> = {
  // Only a refusal is written in the name of the person.
  'src/actions/run_account_operation.ts': 'await recordRefusal(',
  'src/auth/api_keys.ts': 'refusalOf(standing',
  'src/auth/oauth/connections.ts': 'refusalOf(connection',
  'src/auth/sessions.ts': 'refusalOf(standing',
  'src/entry/http/answers/answer_as_person.ts': 'refusalOf(standing',
  'src/entry/http/places/press.ts': 'await speakFor(',
  // Operations of a person on their own account only.
  'src/modules/accounts/operations/record_account_change.ts': 'userId',
  // The person has made the code while signed in, and types it in the chat.
  'src/modules/places/link_chat_account.ts': 'code.userId',
};

/** Files whose routes end in a star, which the surface does not show: documents, pages, actions, alerts and SCIM. */
const STARS = {
  'src/entry/http/console_pages.ts': null,
  'src/entry/http/docs.ts': null,
  // Addresses that take nothing, and count what was sent there.
  'src/entry/http/ingest/ingest.ts': null,
  'src/entry/http/ingest/ingest_sentry.ts': null,
  'src/entry/http/ingest/open_alert_ingest.ts': '/api/alerts/*',
  'src/entry/http/rest.ts': '/api/rest/actions/*',
  'src/entry/http/scim.ts': '/scim/v2/*',
};

const read = (file: string): string => readFileSync(file, 'utf8');

test('every route that may change something belongs to a way in that is tried', () => {
  const shown = read('test/contract/surface.txt')
    .split('\n')
    .flatMap((line) => /^route (\S+) .*(?:POST|PUT|PATCH|DELETE)/.exec(line)?.[1] ?? []);
  const routes = [...shown, ...Object.values(STARS).filter((route) => route !== null)];
  const starred = globSync('src/entry/**/*.ts').filter((file) => /\/\*['"`]/.test(read(file)));
  expect(starred.toSorted()).toEqual(Object.keys(STARS).toSorted());
  expect(routes.length).toBeGreaterThan(60);
  expect(routes.filter((route) => !DOORS.some(([path]) => path.test(route)))).toEqual([]);
  expect(DOORS.filter(([path]) => !routes.some((route) => path.test(route))).map(([path]) => String(path))).toEqual([]);
  expect(DOORS.filter(([, , file]) => globSync(file).length === 0)).toEqual([]);
  expect(Object.keys(WAYS).toSorted()).toEqual(VIAS.toSorted());
});

test('whatever names a person as the one who acts asks first whether they may', () => {
  const makers = globSync('{src,workers}/**/*.ts')
    .filter((file) => /kind: 'user',\s*userId(?:,|: (?:key|code|linked)\.userId,)/.test(read(file)))
    .filter((file) => !file.startsWith('src/console/'));
  expect(makers.toSorted()).toEqual(Object.keys(MAKERS).toSorted());
  for (const [file, asks] of Object.entries(MAKERS)) expect(read(file), file).toContain(asks);
});

test('no message speaks for somebody above whoever could have sent it', () => {
  const numbers = ['unconfirmed', 'confirmed', 'of_another', null] as const;
  const secretRoles = [undefined, null, ...ROLES];
  for (const role of ROLES) {
    const standing = { role, secondFactorRequired: false, hasSecondFactor: false, networks: null, providerRule: null };
    for (const number of numbers) {
      for (const secretRole of secretRoles) {
        const way: Way = { kind: 'message', number, wants: 'more', ...(secretRole !== undefined && { secretRole }) };
        // A chat without a recorded role was set up by an admin at least.
        const isForged =
          number === 'unconfirmed' ||
          number === 'of_another' ||
          (secretRole !== undefined && isAbove(role, secretRole ?? 'admin'));
        expect(refusalOf(standing, way) !== null, JSON.stringify({ role, way })).toBe(isForged);
      }
    }
    expect(refusalOf(null, { kind: 'credential', address: null })).toBe('no_member');
    const lacking = { ...standing, secondFactorRequired: true };
    const ways: Way[] = [
      { kind: 'credential', address: null },
      { kind: 'message', number: 'confirmed', wants: 'more' },
      { kind: 'session', secondFactorAt: null, by: 'password', address: null },
    ];
    for (const way of ways) expect(refusalOf(lacking, way) !== null, way.kind).toBe(isManagerRole(role));
  }
});

/** Reads come first, and what takes things away last, so that each call finds what it names. */
const ORDER = ['read', 'write', 'delete'];
const inOrder = <Operation extends AnyOperation>(operations: readonly Operation[]): Operation[] =>
  operations.toSorted((a, b) => ORDER.indexOf(a.effect) - ORDER.indexOf(b.effect));

const home = await fileWorld({ settings: { callsPerMinute: 1_000_000 } });

const CALLS = [
  ...inOrder(ACTIONS).map((operation) => ({ operation, by: 'key' as const })),
  ...inOrder([...ACTIONS, ...CONSOLE_OPERATIONS]).map((operation) => ({ operation, by: 'browser' as const })),
];
const CALLS_PER_PART = 50;
const PERMISSIONS = new Map<string, string>(CALLS.map(({ operation: { name, permission } }) => [name, permission]));

const LOWER_ROLES = ROLES.filter((role) => role !== 'owner');
/** Calls by their roles: in the gate four in seven are called, each by one role, and `operations.test.ts` tells who may. */
const CALLS_OF = LOWER_ROLES.map((role, place) => ({ role, calls: sweep(CALLS, 7, place) }));

describe.each(CALLS_OF)('whatever a $role does by every operation', ({ role, calls: all }) => {
  const parts = Array.from({ length: Math.ceil(all.length / CALLS_PER_PART) }, (_, part) => ({
    part,
    calls: all.slice(CALLS_PER_PART * part, CALLS_PER_PART * (part + 1)),
  }));
  const held = new Set<string>([...ROLE_PERMISSIONS[role], ...ROLE_CONSOLE_PERMISSIONS[role]]);
  let w: World;
  let fixture: Fixture;
  let browser: Browser;
  let byKey: Awaited<ReturnType<World['given']['user']>>;
  let ids: ReadonlySet<string | null>;
  let done = 0;
  beforeAll(async () => {
    w = await home.forOrganization(role);
    fixture = await buildConsoleFixture(w);
    const { userId, email } = await givenPerson(w, { role, name: 'Rosa' });
    browser = await signedIn(w, email, '198.51.100.7');
    byKey = await w.given.user({ role, name: 'Rosa by key' });
    ids = new Set([userId, byKey.userId]);
  });

  test.each(parts)(
    'stands in the audit log under their own name, and only what their role may: part $part',
    async ({ calls }) => {
      const since = await w.context.db.sql.row<{ at: string }>(`select coalesce(max(id), '') as at from audit_log`);
      for (const { operation, by } of calls) {
        const body = exampleBody(operation, fixture);
        const { status } =
          by === 'key'
            ? await w.call(operation.name, body, { key: byKey.key })
            : await browser.invoke(w.orgId, operation.name, body);
        if (status === 200) done += 1;
      }
      const rows = await w.context.db.sql.rows<{ action: string; via: string; result: string; who: string | null }>(
        `select l.action, l.via, l.result, l.actor->>'userId' as who from audit_log l where l.id > $1 and l.actor->>'kind' <> 'system'`,
        [since?.at],
      );
      expect(rows.filter(({ who }) => !ids.has(who))).toEqual([]);
      const beyond = rows.filter(({ action, result }) => {
        const permission = PERMISSIONS.get(action);
        return result === 'done' && permission !== undefined && !held.has(permission);
      });
      expect(beyond).toEqual([]);
    },
  );

  test('is more than nothing, in which nothing would be shown', () => {
    expect(done).toBeGreaterThan(10);
  });
});

test('an account that a stranger made for an address becomes a member of nobody who provisions that address', async () => {
  const w = await world();
  const idp = await identityProvider(w);
  // A stranger has invited the address into an organization of their own, and set the password by the link they were shown.
  const strangers = await w.forOrganization('Strangers');
  const made = await givenPerson(strangers, { role: 'viewer', name: 'Nora' });
  const { sql } = w.context.db;
  await sql.run('update users set address_proven_at = null where id = $1', [made.userId]);
  const user = { schemas: [USER_SCHEMA], userName: made.email, emails: [{ primary: true, value: made.email }] };
  const refused = await idp.ask('POST', '/Users', user);
  expect(refused).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
  expect(refused.body.detail).toContain('has never proven this address');
  const people = { version: 1, people: [{ key: 'nora', name: 'Nora', email: made.email, role: 'admin' }] };
  const request = { text: JSON.stringify(people), fileName: 'file.yaml', prune: false };
  const origin = { requestId: 'req_1', address: null };
  await expect(applyConfiguration(w.context.actions, operatorIn(w.orgId), origin, request)).rejects.toThrow(
    'has never proven this address',
  );
  const { people: store } = storesOf(w.context.db.session());
  expect(await store.findRole(w.orgId, made.userId)).toBeNull();
  await sql.run('update users set address_proven_at = now() where id = $1', [made.userId]);
  expect((await idp.ask('POST', '/Users', user)).status).toBe(201);
  expect(await store.findRole(w.orgId, made.userId)).not.toBeNull();
});
