import { Check } from 'typebox/value';
import { describe, expect, test } from 'vitest';

import { CONSOLE_OPERATIONS } from '#actions/registry.ts';
import type { AnyOperation } from '#actions/action_context.ts';
import { runAction } from '#actions/run_action.ts';
import { AppError } from '#kernel/errors.ts';
import { type Role, ROLE_CONSOLE_PERMISSIONS, ROLE_PERMISSIONS, ROLES } from '#kernel/permissions.ts';
import { ask } from '#test/contract/ask.ts';
import { buildConsoleFixture, type Fixture, exampleBody } from '#test/contract/fixture.ts';
import { faultyBodies } from '#test/contract/faulty_bodies.ts';
import { type Browser, givenPerson, openBrowser, signedIn } from '#test/kit/programs/browser.ts';
import { sweep } from '#test/kit/properties.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { fileWorld } from '#test/kit/world.ts';

/** Pattern of any id; a kind that only an operation names has to be made by the fixture. */
const ID = /(?<=")[a-z]+_[0-9a-z]{26}(?=")/g;
const kindOf = (id: string): string => id.slice(0, id.indexOf('_'));

/**
 * Answers that come before an id is looked for: that nobody has changed the window, or the effect that it would have.
 */
const TOLD_FIRST = new Map<string, string>([
  ['update_maintenance ruleId', 'conflict'],
  ['preview_maintenance maintenanceId', 'done'],
]);

/** Fields that are given in place of others, so that no example has both. */
const IN_PLACE_OF_OTHERS: ReadonlySet<string> = new Set(['simulate_escalation policyId']);

const FOREIGN_ORIGINS = [null, 'https://evil.test', 'null', 'http://tocsin.test.evil.test'];

/** Kinds of faults of shape that a request has had. */
const sentFaults = new Set<string>();
// On a fast machine the faults of all operations are more calls in a minute than a person may make.
const w = await fileWorld({ settings: { callsPerMinute: 1_000_000 } });
const ofRole = ROLES.map(async (role, index) => {
  const { email } = await givenPerson(w, { role, name: role });
  return [role, await signedIn(w, email, `198.51.100.${index}`)] as const;
});
const browsers = Object.fromEntries(await Promise.all(ofRole)) as Record<Role, Browser>;
const owner = memberCaller(w.orgId, w.owner.userId, 'owner');
const fixture = await buildConsoleFixture(w);
const other = await w.given.organization('Other');
const theirs = await buildConsoleFixture(w, other);
const { email } = await givenPerson(w, { role: 'owner', orgId: other.orgId });
const outsider = await signedIn(w, email, '198.51.100.99');

const invoke = (browser: Browser, name: string, body: unknown) =>
  browser.post(`/organizations/${w.orgId}/actions/${name}`, body);

const holds = (role: Role, permission: string): boolean =>
  [...ROLE_PERMISSIONS[role], ...ROLE_CONSOLE_PERMISSIONS[role]].some((held) => held === permission);

/** The highest role without the permission, and the lowest with it. */
const edgesOf = (permission: string): Role[] =>
  [ROLES.find((role) => !holds(role, permission)), ROLES.findLast((role) => holds(role, permission))].filter(
    (role) => role !== undefined,
  );

/** Returns what the operation answers to somebody of the role, without HTTP: a code and sentence, or that it is done. */
async function outcomeOf(operation: AnyOperation, role: Role, body: unknown, requestId = 'req_test') {
  const caller = memberCaller(w.orgId, w.owner.userId, role);
  try {
    const result = await runAction(w.context.actions, operation, caller, body, { requestId, address: null });
    return { code: 'done', result };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { code: error.code, result: [error.message, error.faults] };
  }
}

const auditedIn = async (requestId: string) =>
  await w.context.db.sql.rows('select action, result, via from audit_log where request_id = $1', [requestId]);

const nowhere = await outsider.post('/organizations/org_01h455vb4pex5vsknk084sn02q/actions/list_teams', {});

describe.each(CONSOLE_OPERATIONS.map((operation) => [operation.name, operation] as const))('%s', (name, operation) => {
  const { permission, effect, input } = operation;
  const turn = CONSOLE_OPERATIONS.indexOf(operation);

  test('is for those whose role has its permission, and a refused change is audited', async () => {
    const refused = effect === 'read' ? [] : [{ action: name, result: 'forbidden', via: 'console' }];
    // A body that is no object: callers with the permission are told so, and nothing changes.
    for (const role of edgesOf(permission)) {
      const requestId = `req_${name}_${role}`;
      const { code } = await outcomeOf(operation, role, [], requestId);
      expect(code, role).toBe(holds(role, permission) ? 'invalid_input' : 'forbidden');
      expect(await auditedIn(requestId), role).toEqual(code === 'forbidden' ? refused : []);
    }
    // Requests take ten times as long: in the gate one for each operation, by each role in turn.
    for (const role of sweep(ROLES, ROLES.length, turn % ROLES.length)) {
      const answer = await invoke(browsers[role], name, []);
      expect(answer.status, role).toBe(holds(role, permission) ? 400 : 403);
      const audited = answer.status === 403 ? await auditedIn(answer.body.requestId) : refused;
      expect(audited, role).toEqual(refused);
    }
  });

  test('is nothing to somebody of another organization, and refused to a page of another origin', async () => {
    const path = `/organizations/${w.orgId}/actions/${name}`;
    const ways = [
      async () => {
        const foreign = await outsider.post(path, {});
        expect(foreign).toMatchObject({ status: 404, body: { code: 'not_found' } });
        expect({ ...foreign.body, requestId: '' }).toEqual({ ...nowhere.body, requestId: '' });
      },
      ...FOREIGN_ORIGINS.map((origin) => async () => {
        const answer = await browsers.owner.ask('POST', path, { origin, body: {} });
        expect(answer, String(origin)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
      }),
      async () => expect((await ask(w, name)).body.code).toBe('unknown_action'),
    ];
    // Decided for every operation alike, so that the gate tries each operation by one way in turn.
    for (const tryWay of sweep(ways, ways.length, turn % ways.length)) await tryWay();
  });

  test('is offered by the console alone', async () => {
    const caller = {
      orgId: w.orgId,
      actor: { kind: 'system' },
      via: 'rest',
      mustStepUp: false,
      permissions: new Set([permission]),
    } as const;
    const origin = { requestId: 'req_test', address: null };
    await expect(runAction(w.context.actions, operation, caller, {}, origin)).rejects.toThrow(
      /operation of the console/,
    );
  });

  test('refuses every fault of shape with its path, and has an example that fits', async () => {
    expect(Check(input, operation.example)).toBe(true);
    const fields = Object.keys(input.properties).filter((field) => !IN_PLACE_OF_OTHERS.has(`${name} ${field}`));
    expect(Object.keys(operation.example as object).toSorted()).toEqual(fields.toSorted());
    const faulty = faultyBodies(input, exampleBody(operation, fixture));
    for (const { fault, path, body } of sweep(faulty, 5, turn % 5)) {
      const run = runOperation(w, operation, owner, JSON.parse(body));
      await expect(run, `${fault} at ${path}: ${body}`).rejects.toMatchObject({
        code: 'invalid_input',
        faults: [{ path }],
      });
    }
    // Requests take ten times as long: one for each kind of fault, and in the gate for each fourth operation.
    const sent = new Set([
      ...sweep(faulty.slice(0, 1), 4, turn % 4),
      ...faulty.filter(({ fault }) => !sentFaults.has(fault)),
    ]);
    for (const { fault, path, body } of sent) {
      sentFaults.add(fault);
      const answer = await browsers.owner.ask('POST', `/organizations/${w.orgId}/actions/${name}`, { text: body });
      const description = `${fault} at ${path}: ${body} answered ${answer.text}`;
      expect(answer, description).toMatchObject({ status: 400, body: { code: 'invalid_input', errors: [{ path }] } });
    }
  });

  test('answers an id of another organization as one that does not exist', async () => {
    const body = exampleBody(operation, fixture);
    const text = JSON.stringify(body);
    for (const [kind, id] of Object.entries(fixture)) {
      if (!text.includes(`"${id}"`)) continue;
      const outcomes = [];
      for (const other of [`${kindOf(id)}_00000000000000000000000000`, theirs[kind as keyof Fixture]]) {
        outcomes.push(await outcomeOf(operation, 'owner', JSON.parse(text.replaceAll(id, other))));
      }
      const [first, second] = outcomes;
      expect(first, kind).toMatchObject({ code: TOLD_FIRST.get(`${name} ${kind}`) ?? 'not_found' });
      expect(second, kind).toEqual(first);
    }
  });

  test('passes over an id of another organization in a list as one that does not exist', async () => {
    const text = JSON.stringify(exampleBody(operation, fixture));
    const listed = new Set(text.match(ID)?.filter((id) => !Object.values(fixture).includes(id)));
    for (const id of listed) {
      const foreign = Object.values(theirs).find((their) => kindOf(their) === kindOf(id));
      if (foreign === undefined) throw new Error(`the fixture makes nothing of the kind of ${id}`);
      const [first, second] = await Promise.all(
        [`${kindOf(id)}_00000000000000000000000000`, foreign].map(async (other) => {
          const outcome = await outcomeOf(operation, 'owner', JSON.parse(text.replaceAll(id, other)));
          return JSON.stringify(outcome).replaceAll(other, id);
        }),
      );
      expect(second).toEqual(first);
    }
  });

  test('names no kind of thing that is not tried', () => {
    const named = JSON.stringify(exampleBody(operation, fixture)).match(ID) ?? [];
    const made = Object.values(fixture).filter((id) => !Object.values(theirs).includes(id));
    expect(made.map(kindOf)).toEqual(expect.arrayContaining(named.map(kindOf)));
  });
});

const READS = CONSOLE_OPERATIONS.filter(({ effect }) => effect === 'read').map(
  (operation) => [operation.name, operation] as const,
);

test.each(READS)('%s names nothing of another organization in its answers', async (_name, operation) => {
  const ids = Object.values(theirs).filter((id) => !Object.values(fixture).includes(id));
  // A list without a filter is of everything that the organization has.
  for (const asked of [exampleBody(operation, fixture), {}]) {
    const text = JSON.stringify(await outcomeOf(operation, 'owner', asked));
    expect(ids.filter((id) => text.includes(id))).toEqual([]);
  }
});

test('nothing is for somebody who is not signed in', async () => {
  for (const { name } of sweep(CONSOLE_OPERATIONS, 9)) {
    expect((await invoke(openBrowser(w), name, {})).status, name).toBe(401);
  }
});
