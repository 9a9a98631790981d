import { expect, test } from 'vitest';

import type { Id } from '#kernel/ids.ts';
import { storesOf } from '#modules/stores.ts';
import { givePassword, signedIn } from '#test/kit/programs/browser.ts';
import { type World, world } from '#test/kit/world.ts';

interface Entry {
  readonly auditId: string;
  readonly action: string;
  readonly target: string;
}

async function ownedWorld() {
  const w = await world();
  await givePassword(w, w.owner.userId);
  const olga = await signedIn(w, w.owner.email);
  const audit = (filter: object) => olga.invoke(w.orgId, 'list_audit_log', filter);
  const entries = async (filter: object): Promise<Entry[]> => (await audit(filter)).body.result.entries;
  return { w, olga, audit, entriesOf: entries };
}

async function append(
  w: World,
  target: string,
  after: object | null = null,
  orgId: Id<'org'> = w.orgId,
): Promise<void> {
  const actor = { kind: 'user', userId: w.owner.userId, apiKeyId: null } as const;
  const entry = { orgId, actor, via: 'console', action: 'change_it', target, before: null, after } as const;
  const origin = { requestId: 'req_1', address: '192.0.2.1' };
  await storesOf(w.context.db.session()).audit.append({ ...entry, result: 'done', origin }, w.clock.now());
}

test('pages go from the newest to the oldest, each entry once, whatever comes meanwhile', async () => {
  const { w, audit } = await ownedWorld();
  const targets = Array.from({ length: 25 }, (_, index) => `thing_${index}`);
  for (const [index, target] of targets.entries()) {
    if (index % 4 === 0) w.clock.advance({ seconds: 1 });
    await append(w, target);
  }
  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const filter = { action: 'change_it', limit: 7, ...(cursor === '' ? {} : { cursor }) };
    const page = (await audit(filter)).body.result as { entries: Entry[]; nextCursor: string | null };
    seen.push(...page.entries.map(({ target }) => target));
    cursor = page.nextCursor;
    await append(w, 'later');
  }
  expect(seen).toEqual(targets.toReversed());
});

test('every filter narrows, and the other organization is never seen', async () => {
  const { w, audit, entriesOf } = await ownedWorld();
  const other = await w.given.organization('Other');
  await append(w, 'theirs', null, other.orgId);
  await append(w, 'early');
  w.clock.advance({ hours: 1 });
  const middle = w.clock.now().toString();
  await w.expectOk('create_team', { name: 'Platform' });
  const actions = async (filter: object) => (await entriesOf(filter)).map(({ action }) => action);
  expect(await actions({ from: middle })).toEqual(['create_team']);
  expect(await actions({ to: middle, action: 'change_it' })).toEqual(['change_it']);
  expect(await actions({ via: 'rest' })).toEqual(['create_team']);
  expect(await actions({ actor: w.owner.userId })).toEqual(['change_it', 'sign_in']);
  expect(await actions({ actor: 'api_key' })).toEqual(['create_team']);
  expect(await actions({ target: 'theirs' })).toEqual([]);
  expect(await actions({ result: 'forbidden' })).toEqual([]);
  const faulty = [{ from: 'soon' }, { cursor: 'x' }, { limit: 0 }, { limit: 'abc' }, { limit: 501 }, { via: 'pigeon' }];
  for (const filter of [...faulty, { colour: 'red' }]) {
    expect((await audit(filter)).status, JSON.stringify(filter)).toBe(400);
  }
});

test('a page tells the names of what its entries hold, never those of others, and the actions there are', async () => {
  const { w, audit } = await ownedWorld();
  const other = await w.given.organization('Other');
  const { serviceId } = await w.expectOk('create_service', { name: 'checkout' });
  const { teamId } = await w.expectOk('create_team', { name: 'Platform' });
  const { memberId } = await w.expectOk('add_team_member', { teamId, userId: w.owner.userId });
  await append(w, serviceId, { groups: [teamId], owner: other.owner.userId });
  const page = (await audit({ limit: 1 })).body.result;
  expect(page.names).toEqual({ [serviceId]: 'checkout', [teamId]: 'Platform' });
  expect(page.actions).toEqual(['add_team_member', 'change_it', 'create_service', 'create_team', 'sign_in']);
  const second = (await audit({ limit: 1, cursor: page.nextCursor })).body.result;
  expect(second.names).toEqual({ [teamId]: 'Platform', [w.owner.userId]: w.owner.name });
  expect(second.entries[0].target).toBe(memberId);
  expect(second.actions).toBeNull();
});

test('an entry tells who, through what, when, what and from where', async () => {
  const { w, entriesOf } = await ownedWorld();
  const actor = {
    kind: 'user',
    userId: w.owner.userId,
    apiKeyId: null,
    connection: { connectionId: 'connection_1', clientName: 'Some agent' },
  } as const;
  await w.context.db.sql.run(
    `insert into audit_log (id, org_id, at, actor, via, action, target, before, after, result, address, request_id)
     values ('audit_1', $1, $2, $3, 'mcp', 'update_team', 'team_1', '{"name":"a"}', '{"name":"b"}', 'done', '192.0.2.9', 'req_9')`,
    [w.orgId, w.clock.now().toString(), JSON.stringify(actor)],
  );
  expect(await entriesOf({ actor: 'connection_1' })).toEqual([
    {
      auditId: 'audit_1',
      at: w.clock.now().toString({ fractionalSecondDigits: 3 }),
      actor: { kind: 'user', id: w.owner.userId, name: 'Olga' },
      via: 'mcp',
      apiKey: null,
      connection: { connectionId: 'connection_1', clientName: 'Some agent' },
      proposal: null,
      chatAccount: null,
      action: 'update_team',
      target: 'team_1',
      before: { name: 'a' },
      after: { name: 'b' },
      result: 'done',
      address: '192.0.2.9',
      requestId: 'req_9',
    },
  ]);
});

/** RFC 4180, as strictly as it gets. */
function parseCsv(text: string): string[][] {
  expect(text.endsWith('\r\n')).toBe(true);
  const rows: string[][] = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    rows.at(-1)!.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
    if (end === '\r\n') rows.push([]);
  }
  return rows.slice(0, -1);
}

test('exports hold every entry, as JSON as the list has them, as CSV that no spreadsheet runs', async () => {
  const { w, olga, entriesOf } = await ownedWorld();
  const file = `/organizations/${w.orgId}/actions/export_audit_log`;
  const dangerous = ['=1+1', '+31', '-1', '@x', '\t=1', ' =1', 'a,b', 'say "hi"', 'two\r\nlines', 'plain', 'naïve 🚨'];
  for (const text of dangerous) await append(w, text, { text });
  await w.context.db.sql.run(
    `insert into audit_log (id, org_id, at, actor, via, action, result, request_id)
     select 'audit_' || n, $1, $2, '{"kind":"system"}', 'system', 'change_much', 'done', 'req_1' from generate_series(1, 2500) n`,
    [w.orgId, w.clock.now().toString()],
  );

  const lines = await olga.ask('GET', `${file}?format=jsonl`);
  expect(lines.headers['content-type']).toBe('application/jsonl; charset=utf-8');
  expect(lines.headers['content-disposition']).toMatch(/^attachment; filename="audit-\d{4}-\d\d-\d\d\.jsonl"$/);
  const entries = lines.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Entry);
  expect(new Set(entries.map(({ auditId }) => auditId)).size).toBe(entries.length);
  expect(entries.length).toBeGreaterThanOrEqual(2500 + dangerous.length);
  expect(entries.slice(0, 500)).toEqual(await entriesOf({ limit: 500 }));

  const csv = await olga.ask('GET', `${file}?format=csv&action=change_it`);
  expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8');
  const [names, ...rows] = parseCsv(csv.text);
  const target = names!.indexOf('target');
  const after = names!.indexOf('after');
  expect(rows.map((row) => row.length)).toEqual(rows.map(() => names!.length));
  const cells = rows.map((row) => row[target]!);
  expect(cells.map((cell) => (cell.startsWith("'") ? cell.slice(1) : cell)).toSorted()).toEqual(dangerous.toSorted());
  for (const cell of rows.flat()) expect(cell).not.toMatch(/^\s*[=+\-@]/);
  expect(JSON.parse(rows.find((row) => row[target] === 'say "hi"')![after]!)).toEqual({ text: 'say "hi"' });
  expect((await olga.get(`${file}?format=xml`)).status).toBe(400);
});
