import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect, onTestFinished, test } from 'vitest';

import type { ToolCaller } from '#infra/bench/night_shift/mcp_session.ts';
import { investigateWithModel } from '#infra/bench/night_shift/model_agent.ts';
import {
  CAUSES,
  pointsOf,
  raisedIn,
  type Scene,
  SCENES,
  type Signal,
  SIGNALS,
} from '#infra/bench/night_shift/scenes.ts';
import { investigate } from '#infra/bench/night_shift/scripted_agent.ts';
import { seeded } from '#infra/bench/seeded.ts';
import fc from '#test/kit/properties.ts';

/** Answers as the product would, from what the scene has sent. */
function answering(scene: Scene, seed: number): ToolCaller {
  const random = seeded(seed);
  const sent = new Map(SIGNALS.map((signal) => [signal, pointsOf(scene, signal, random)]));
  const now = Date.now();
  const at = (minutesAgo: number) => new Date(now - minutesAgo * 60_000).toISOString();
  const groups = Map.groupBy(raisedIn(scene), ({ type }) => type);
  let calls = 0;
  return {
    get calls() {
      return calls;
    },
    async call(name, input) {
      calls += 1;
      const { metricName, groupId } = input as { metricName: Signal; groupId: string };
      const results: Record<string, () => unknown> = {
        get_incident: () => ({ serviceId: 'service' }),
        list_metric_names: () => ({ metricNames: SIGNALS }),
        query_metric: () => ({
          to: at(0),
          points: sent.get(metricName)?.map(({ minutesAgo, value }) => ({ at: at(minutesAgo), value })),
        }),
        list_exception_groups: () => ({
          groups: [...groups].map(([type, all]) => ({
            groupId: type,
            firstSeenAt: at(Math.max(...all.map(({ minutesAgo }) => minutesAgo))),
            eventCount: all.length,
          })),
        }),
        get_exception_group: () => ({
          type: groupId,
          title: groups.get(groupId)?.[0]?.value,
          recentEvents: groups
            .get(groupId)
            ?.map(({ minutesAgo, release, tags }) => ({ at: at(minutesAgo), release, tags })),
        }),
      };
      return { text: '', result: results[name]?.() };
    },
  };
}

test('24 scenes plant every cause, and most have something that looks like another', () => {
  expect(SCENES).toHaveLength(24);
  expect(new Set(SCENES.map(({ cause }) => cause))).toEqual(new Set(CAUSES));
  expect(SCENES.filter(({ herring }) => herring !== undefined).length).toBeGreaterThan(12);
});

test('the script finds each cause whatever the noise, in twelve calls at most', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...SCENES), fc.nat(), async (scene, seed) => {
      const session = answering(scene, seed);
      expect(await investigate(session, 'incident')).toBe(scene.cause);
      expect(session.calls).toBeLessThanOrEqual(12);
    }),
    { numRuns: 300 },
  );
});

test('a model calls the tools that only look, twelve times at most, and names one cause', async () => {
  const asked: { tools?: { function: { name: string } }[] }[] = [];
  const model = createServer((request, response) => {
    let text = '';
    request.on('data', (part: Buffer) => (text += part.toString()));
    request.on('end', () => {
      const body = JSON.parse(text);
      asked.push(body);
      const call = { id: `call-${asked.length}`, function: { name: 'get_incident', arguments: '{"incidentId":"i"}' } };
      const message =
        body.tools === undefined
          ? { role: 'assistant', content: 'The heap grows. {"cause": "leak"}' }
          : { role: 'assistant', content: null, tool_calls: [call, call, call, call, call] };
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ choices: [{ message }] }));
    });
  });
  await new Promise<void>((resolve) => model.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void model.close());
  const session = answering(SCENES[0]!, 1);
  const tool = (name: string, readOnlyHint: boolean) => ({
    name,
    description: '',
    inputSchema: {},
    annotations: { readOnlyHint },
  });
  const tools = [tool('get_incident', true), tool('resolve_incident', false)];
  const url = `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1/`;
  expect(await investigateWithModel(session, { url, name: 'stand-in', key: undefined }, tools, 'i')).toBe('leak');
  expect(session.calls).toBe(12);
  expect(asked[0]?.tools?.map(({ function: { name } }) => name)).toEqual(['get_incident']);
});
