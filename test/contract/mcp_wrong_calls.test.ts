import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { nearestActions } from '#actions/nearest_actions.ts';
import { ACTIONS } from '#actions/registry.ts';
import { buildFixture } from '#test/contract/fixture.ts';
import { call, send } from '#test/contract/mcp_call.ts';
import { wrongCalls } from '#test/contract/wrong_calls.ts';
import { sweep } from '#test/kit/properties.ts';
import { type World, world } from '#test/kit/world.ts';

/** Returns the call that an answer proposes, or the nearest name of a metric. */
async function proposalOf(w: World, tool: string, input: unknown): Promise<[string, unknown] | 'right' | null> {
  const { body } = await send(w, 'tools/call', { name: tool, arguments: input });
  const result = body.result?.structuredContent?.result;
  if (body.result !== undefined && body.result.isError !== true) {
    const [nearest] = result.nearestNames ?? [];
    return nearest === undefined ? 'right' : [tool, { ...(input as object), metricName: nearest }];
  }
  const text: string = body.error?.message ?? body.result.content[0].text;
  const [, name, json] = /Call instead: (\w+) (.*)$/m.exec(text) ?? [];
  return name === undefined ? null : [name, JSON.parse(json!)];
}

describe('of wrong calls, a third of 100 in the gate', () => {
  let w: World;
  let all: ReturnType<typeof wrongCalls>;
  let calls: ReturnType<typeof wrongCalls>;
  const wrong: string[] = [];
  beforeAll(async () => {
    w = await world({ keepOpen: true });
    const fixture = await buildFixture(w);
    await w.given.service({ name: 'search' });
    await w.expectOk('create_team', { name: 'Platform' });
    const cleo = await w.given.user({ name: 'Cleo' });
    await w.context.db.sql.run("update users set email = 'cleo@example.com' where id = $1", [cleo.userId]);
    const { number } = await w.expectOk('get_incident', { incidentId: fixture.incidentId });
    all = wrongCalls({ ...fixture, number });
    calls = sweep(all, 3, 1);
  });
  afterAll(() => w.close());

  test('no suggestion does more than was asked', async () => {
    for (const [tool, input] of calls) {
      const proposal = await proposalOf(w, tool, input);
      const description = `${tool} ${JSON.stringify(input)}`;
      if (proposal === null || proposal === 'right') {
        wrong.push(`${description}: ${proposal === null ? 'no suggestion' : 'was no error'}`);
        continue;
      }
      const [name, body] = proposal;
      const isKnown = ACTIONS.some((action) => action.name === tool);
      expect(isKnown ? name : tool).toBe(tool);
      const retried = (await call(w, name, body)).body;
      if (retried.isError === true || retried.structuredContent === undefined) {
        wrong.push(`${description}: ${name} ${JSON.stringify(body)} answered ${JSON.stringify(retried).slice(0, 300)}`);
      }
    }
  });

  test('at least 95 % are right at the first retry', () => {
    expect(all).toHaveLength(100);
    console.log(
      [`${calls.length - wrong.length} of ${calls.length} wrong calls were right at the first retry`, ...wrong].join(
        '\n',
      ),
    );
    expect(wrong.length, wrong.join('\n')).toBeLessThanOrEqual(calls.length / 20);
  });
});

test.each([
  ['ack_incident', 'acknowledge_incident', 'resolve_incident'],
  ['silence_incident', 'acknowledge_incident', 'resolve_incident'],
  ['update_rule', 'update_alert_rule', 'delete_alert_rule'],
  ['get_rule', 'list_services', 'delete_alert_rule'],
  ['disable_rule', 'update_alert_rule', 'delete_alert_rule'],
  ['list_keys', undefined, 'rotate_ingest_key'],
])('%s may mean %s and never %s', (written, meant, never) => {
  const names = nearestActions(written, ACTIONS).map(({ name }) => name);
  expect(names[0]).toBe(meant);
  expect(names).not.toContain(never);
});

test('a deletion is never suggested for what was named only nearly', async () => {
  const w = await world();
  await w.given.service({ name: 'checkout' });
  expect(await proposalOf(w, 'delete_service', { serviceId: 'chekout' })).toBeNull();
  expect(await proposalOf(w, 'delete_service', { serviceId: 'checkout' })).toMatchObject(['delete_service', {}]);
  const blind = await w.given.apiKey({ permissions: ['services:delete'] });
  const { body } = await call(w, 'delete_service', { serviceId: 'checkout' }, { key: blind });
  expect(body.content[0].text).not.toContain('Call instead');
});
