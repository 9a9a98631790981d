import { expect, test } from 'vitest';

import { ACTIONS } from '#actions/registry.ts';
import { API_PATHS } from '#kernel/api_paths.ts';
import type { Id } from '#kernel/ids.ts';
import { storesOf } from '#modules/stores.ts';
import { ask } from '#test/contract/ask.ts';
import { buildFixture, EACH_ACTION_IN_TURN, exampleBody } from '#test/contract/fixture.ts';
import { call } from '#test/contract/mcp_call.ts';
import { givenBigWorld } from '#test/kit/big_world.ts';
import { testClock } from '#test/kit/clock.ts';
import { fileWorld } from '#test/kit/world.ts';

const CHARACTERS_MAX = 25_000;
const LINES_SHOWN = 12;

// At the same time of every day, so that buckets and shifts begin alike.
const clock = testClock();
clock.set(`${clock.now().toString().slice(0, 10)}T12:00:00Z`);
const w = await fileWorld({ clock });
const fixture = await buildFixture(w);
const doomed = await buildFixture(w);
const big = await givenBigWorld(w);

const bodies: Record<string, object> = {
  list_incidents: {},
  list_exception_groups: {},
  query_metric: { metricName: 'latency', windowMinutes: 10_080, aggregation: 'max' },
};

async function inputOf(name: string): Promise<Record<string, unknown>> {
  const action = ACTIONS.find((candidate) => candidate.name === name)!;
  if (action.effect === 'delete') return exampleBody(action, doomed);
  const body = { ...exampleBody(action, { ...fixture, ...big }), ...bodies[name] };
  if (name === 'list_incidents' || name === 'list_exception_groups') return {};
  if (name === 'add_team_member') return { ...body, userId: (await w.given.user()).userId };
  return body;
}

const TOOLS_PER_PART = 7;
const PARTS = Array.from({ length: Math.ceil(EACH_ACTION_IN_TURN.length / TOOLS_PER_PART) }, (_, part) => part);
const answers: string[] = [];

test.each(PARTS)(
  'every tool answers in 25,000 characters or fewer, however large the organization is: part %i',
  async (part) => {
    for (const [name] of EACH_ACTION_IN_TURN.slice(TOOLS_PER_PART * part, TOOLS_PER_PART * (part + 1))) {
      const input = await inputOf(name);
      const rest =
        name.startsWith('list_') || name.startsWith('get_') ? (await ask(w, name, { body: input })).text.length : null;
      const { body } = await call(w, name, input);
      expect(body.isError, `${name}: ${body.content?.[0]?.text}`).toBeUndefined();
      const texts: string[] = body.content.flatMap(
        ({ text, uri }: { text?: string; uri?: string }) => text ?? uri ?? [],
      );
      const structured = JSON.stringify(body.structuredContent).length;
      const text = texts.join('').length;
      expect(text + structured, name).toBeLessThanOrEqual(CHARACTERS_MAX);
      expect(texts, name).not.toContain(JSON.stringify(body.structuredContent));
      const size = `text ${text} + structured ${structured} = ${text + structured}`;
      answers.push(`## ${name}: ${size}${rest === null ? '' : `; REST ${rest}`}`, ...comparable(texts), '');
    }
  },
);

test('every tool answers as in mcp_answers.txt', async () => {
  await expect(answers.join('\n')).toMatchFileSnapshot('mcp_answers.txt');
});

/** The first lines and what follows the text, ids by their kind and nothing random. */
function comparable([text = '', ...others]: readonly string[]): string[] {
  const lines = text.split('\n');
  const shown =
    lines.length > LINES_SHOWN + 1 ? [...lines.slice(0, LINES_SHOWN), `… ${lines.length} lines`, lines.at(-1)!] : lines;
  return [...shown, ...others].map((line) =>
    line
      .replaceAll(/(?<![a-z])([a-z]+)_[0-9a-hjkmnp-tv-z]{26}/g, '<$1>')
      .replaceAll(/(?<![a-z])([a-z]+)_0[0-9a-hjkmnp-tv-z]*…/g, '<$1>…')
      .replaceAll(/\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z)?/g, '<time>')
      .replaceAll(/\.[0-9a-f]{8}@/g, '@')
      .replaceAll(/tocsin_ing_\w+/g, '<ingestion key>')
      .replaceAll(/:\/\/\w+@tocsin\.test\/\d+/g, '<dsn>')
      .replaceAll(/\b[0-9a-f]{32}\b/g, '<event>')
      .slice(0, 300),
  );
}

test('lists tell the 50 most urgent with the total, and a series its summary and at most 60 points that keep the peak', async () => {
  const incidents = (await call(w, 'list_incidents', {})).body;
  expect(incidents.structuredContent.result.incidents).toHaveLength(50);
  expect(new Set(incidents.structuredContent.result.incidents.map(({ status }: { status: string }) => status))).toEqual(
    new Set(['triggered']),
  );
  expect(incidents.content[0].text).toContain(`total: ${incidents.structuredContent.result.total}`);
  expect(incidents.content[0].text).toMatch(/Shortened: incidents: 50 of 42\d/);
  expect(incidents.content[0].text.match(/\bincident_\w+/g)).toHaveLength(50);
  const input = { serviceId: big.serviceId, metricName: 'latency', windowMinutes: 10_080, aggregation: 'max' };
  const { result } = (await call(w, 'query_metric', input)).body.structuredContent;
  expect(result.points.length).toBeLessThanOrEqual(60);
  expect(Math.max(...result.points.map(({ value }: { value: number }) => value))).toBe(result.summary.max);
  expect(Object.keys(result.summary)).toEqual(['min', 'p50', 'p95', 'max', 'last']);
});

test('the newest event is told whole but for the frames of libraries, and each other one in a line', async () => {
  const ordinary = (await call(w, 'get_exception_group', { groupId: fixture.groupId })).body;
  expect(ordinary.structuredContent).not.toHaveProperty('shortened');
  const { body } = await call(w, 'get_exception_group', { groupId: big.groupId });
  const text: string = body.content[0].text;
  const { recentEvents } = await w.expectOk('get_exception_group', { groupId: big.groupId });
  const lines = text.split('\n');
  for (const { eventId } of recentEvents) expect(lines.filter((line) => line.includes(eventId))).toHaveLength(1);
  expect(text).toContain('libraryFramesLeftOut: 26');
  expect(text).not.toContain('site-packages');
  const link = body.content.find(({ type }: { type: string }) => type === 'resource_link');
  expect(link.uri).toMatch(/^tocsin:\/\/results\/get_exception_group\?groupId=/);
});

test('a responder is told of the largest incident in 25,000 characters or fewer, too', async () => {
  const key = await w.given.apiKey({ permissions: ['oncall:view', 'exceptions:view', 'dashboards:view'] });
  const [agent] = await w.context.db.sql.rows<{ id: Id<'apikey'> }>(
    'select id from api_keys order by created_at desc, id desc limit 1',
  );
  const apiKeyId = agent!.id;
  const responder = { agentId: apiKeyId, orgId: w.orgId, connectionId: null, apiKeyId, enabledBy: w.owner.userId };
  await storesOf(w.context.db.session()).responders.enable({ ...responder, enabledAt: w.clock.now() });
  const sending = { key, url: API_PATHS.responder };
  const { content, isError } = (await call(w, 'get_incident', { incidentId: big.incidentId }, sending)).body;
  expect(isError).toBeUndefined();
  const texts: string[] = content.map(({ text }: { text: string }) => text);
  expect(texts[0]).toContain(big.incidentId);
  expect(texts.join('').length).toBeLessThanOrEqual(CHARACTERS_MAX);
  expect(texts.join('').length).toBeGreaterThan(1_000);
});
