import { isDeepStrictEqual } from 'node:util';

import { afterAll, expect, test } from 'vitest';

import type { AnyAction } from '#actions/action_context.ts';
import type { Id } from '#kernel/ids.ts';
import { PERMISSIONS, ROLES } from '#kernel/permissions.ts';
import { ask } from '#test/contract/ask.ts';
import { buildFixture, EACH_ACTION, type Fixture, exampleBody } from '#test/contract/fixture.ts';
import { call, type Era, ERAS, send } from '#test/contract/mcp_call.ts';
import { sweep } from '#test/kit/properties.ts';
import { fileWorld } from '#test/kit/world.ts';

/** An organization of its own for each way in, so that both begin every step in the same state. */
interface Side {
  readonly orgId: Id<'org'>;
  readonly orgKey: string;
  readonly keys: ReadonlyMap<string, string>;
  readonly fixture: Fixture;
}

/** Outcome of a call with its entry in the audit log. */
interface Outcome {
  readonly result?: unknown;
  readonly problem?: unknown;
  readonly audit: readonly unknown[];
}

const VIEWS = PERMISSIONS.filter((permission) => permission.endsWith(':view'));
const HOLDERS = [...ROLES, 'read-only owner', 'organization', 'read-only organization'];

const KINDS = ['malformed', 'of nothing', 'example'] as const;
/**
 * Whoever may call an action is refused for the same shape: one who may call all, and one who may not, are enough, in
 * one era each.
 */
const SEND_MALFORMED: ReadonlySet<string> = new Set(['owner', 'responder']);
type Bodies = Partial<Record<(typeof KINDS)[number], Record<string, unknown>>>;

/** Operations that make what the deletion of the name removes. */
const CREATORS = EACH_ACTION.filter(([name]) => /^(?:create|add)_/.test(name)).map(
  ([name, action]) => [name.replace('create_', 'delete_').replace('add_', 'remove_'), action] as const,
);

let compared = 0;
const w = await fileWorld();
const rest = await settle(await w.given.organization('Acme'));
const mcp = await settle(await w.given.organization('Acme'));
afterAll(() => console.log(`${compared} calls had the same result, error and audit rows over REST and MCP`));

async function settle({ orgId, orgKey }: { orgId: Id<'org'>; orgKey: string }): Promise<Side> {
  const keys = new Map([
    ['organization', orgKey],
    ['read-only organization', await w.given.apiKey({ orgId, permissions: VIEWS })],
  ]);
  for (const role of ROLES) {
    const { key, userId } = await w.given.user({ role, orgId });
    keys.set(role, key);
    if (role === 'owner') keys.set('read-only owner', await w.given.apiKey({ orgId, userId, permissions: VIEWS }));
  }
  return { orgId, orgKey, keys, fixture: await buildFixture(w, { orgId, orgKey }) };
}

test.each(EACH_ACTION)('%s does the same for everyone over REST and MCP', async (_, action) => {
  const turn = EACH_ACTION.findIndex(([name]) => name === action.name);
  // In the gate an owner calls each action, and one of the others every second one.
  const holders = new Set(['owner', ...sweep(HOLDERS, 2 * HOLDERS.length, turn % (2 * HOLDERS.length))]);
  for (const [index, holder] of HOLDERS.entries()) {
    if (!holders.has(holder)) continue;
    const [here, there] = await Promise.all([bodiesFor(action, rest), bodiesFor(action, mcp)]);
    for (const kind of KINDS.filter((kind) => kind in here)) {
      if (kind === 'malformed' && !SEND_MALFORMED.has(holder)) continue;
      const [expected, found] = await Promise.all([
        overRest(action, rest.keys.get(holder)!, here[kind]!),
        overMcp(action, mcp.keys.get(holder)!, there[kind]!, ERAS[index % ERAS.length]!),
      ]);
      expect(found, `${kind} by ${holder}`).toEqual(expected);
      compared += 1;
    }
  }
});

/** A call that is refused for its shape, one whose ids name nothing, and one that succeeds. */
async function bodiesFor(action: AnyAction, side: Side): Promise<Bodies> {
  const example = await bodyOf(action, side);
  const nowhere = JSON.parse(JSON.stringify(example).replaceAll(ID, (_, kind: string) => `${kind}_${'0'.repeat(26)}`));
  return {
    malformed: { ...example, ['__proto__']: 1, unlisted: true },
    ...(isDeepStrictEqual(nowhere, example) ? {} : { 'of nothing': nowhere }),
    example,
  };
}

async function bodyOf(action: AnyAction, side: Side): Promise<Record<string, unknown>> {
  const creator = CREATORS.find(([name]) => name === action.name)?.[1];
  const made = creator && (await w.expectOk(creator.name, await bodyOf(creator, side), { key: side.orgKey }));
  const body = exampleBody(action, { ...side.fixture, ...made });
  if (action.name === 'add_team_member') body['userId'] = (await w.given.user({ orgId: side.orgId })).userId;
  return body;
}

async function overRest(action: AnyAction, key: string, body: object): Promise<Outcome> {
  const answer = await ask(w, action.name, { key, body });
  const outcome = answer.status === 200 ? { result: answer.body } : { problem: answer.body };
  return comparable({ ...outcome, audit: await auditOf(answer.headers['x-request-id'], 'rest') });
}

async function overMcp(action: AnyAction, key: string, input: object, era: Era): Promise<Outcome> {
  const { body, headers } = await call(w, action.name, input, { key, era });
  const link = body.content.find(({ type }: { type: string }) => type === 'resource_link');
  const whole =
    link && (await send(w, 'resources/read', { uri: link.uri }, { key, era, headers: { 'mcp-name': link.uri } }));
  const result = whole === undefined ? body.structuredContent : JSON.parse(whole.body.result.contents[0].text);
  const outcome = body.isError === true ? { problem: body._meta.problem } : { result };
  return comparable({ ...outcome, audit: await auditOf(headers['x-request-id'], 'mcp') });
}

/** Returns the audit entry without the way in, once that is as expected. */
async function auditOf(requestId: unknown, via: string): Promise<unknown[]> {
  const rows = await w.context.db.sql.rows<{ via: string }>(
    'select actor, via, action, target, before, after, result, at, address from audit_log where request_id = $1 order by id',
    [requestId],
  );
  expect(rows.filter((row) => row.via !== via)).toEqual([]);
  return rows.map(({ via: _via, ...row }) => row);
}

const ID = /\b([a-z]+)_[0-9a-hjkmnp-tv-z]{26}\b/g;

/** Ids by the order in which they are met, and nothing that is random. */
function comparable(outcome: Outcome): Outcome {
  const met = new Map<string, string>();
  const text = JSON.stringify(outcome)
    .replaceAll(ID, (id, kind: string) => met.get(id) ?? met.set(id, `<${kind} ${met.size}>`).get(id)!)
    .replaceAll(/(?<=[a-z]+)\.[0-9a-f]{8}@/g, '@')
    .replaceAll(/tocsin_ing_\w+/g, '<ingestion key>')
    .replaceAll(/:\/\/\w+@tocsin\.test\/\d+/g, '<dsn>')
    .replaceAll(/"eventId":"\w+"/g, '"eventId":"<event>"')
    .replaceAll(/"number":\d+/g, '"number":"<number>"')
    .replaceAll(/"via":"(?:rest|mcp)"/g, '"via":"<way>"');
  return JSON.parse(text);
}
