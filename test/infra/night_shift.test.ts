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
      const result = results[name]?.();
      return { text: JSON.stringify(result), result };
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

interface Asked {
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly messages: readonly { readonly role: string; readonly content: string; readonly tool_call_id?: string }[];
}

/** An endpoint like OpenAI's that plays recorded calls, two in each turn, and then says what it was told to. */
async function playing(calls: readonly (readonly [name: string, input: object])[], said: string) {
  const heard: Asked[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (part: Buffer) => (text += part.toString()));
    request.on('end', () => {
      const asked: Asked = JSON.parse(text);
      heard.push(asked);
      const done = asked.messages.filter(({ role }) => role === 'tool').length;
      const next = calls.slice(done, done + 2).map(([name, input], index) => {
        return { id: `call-${done + index}`, type: 'function', function: { name, arguments: JSON.stringify(input) } };
      });
      const message =
        next.length === 0 || asked.tools === undefined
          ? { role: 'assistant', content: said }
          : { role: 'assistant', content: null, tool_calls: next };
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ choices: [{ message }] }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => new Promise((resolve) => server.close(resolve));
  return { heard, close, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
}

test('a model that calls as the script does has the same answers in each of the 24 scenes, and names the cause', async () => {
  const tools = [
    'get_incident',
    'list_metric_names',
    'query_metric',
    'list_exception_groups',
    'get_exception_group',
  ].map((name) => ({ name, description: '', inputSchema: {}, annotations: { readOnlyHint: true } }));
  for (const scene of SCENES) {
    const calls: [string, object][] = [];
    const requests: string[] = [];
    const session = answering(scene, 24);
    const recording: ToolCaller = {
      get calls() {
        return session.calls;
      },
      async call(name, input) {
        const answer = await session.call(name, input);
        calls.push([name, input]);
        requests.push(answer.text);
        return answer;
      },
    };
    const cause = await investigate(recording, 'incident');
    const model = await playing(calls, `It is over. {"cause": "${cause}"}`);
    const again = answering(scene, 24);
    const named = await investigateWithModel(again, { ...model, name: 'double', key: 'k' }, tools, 'incident');
    await model.close();
    expect([scene.name, named, again.calls]).toEqual([scene.name, scene.cause, calls.length]);
    const answers = model.heard.at(-1)!.messages.filter(({ role }) => role === 'tool');
    expect(answers.map(({ tool_call_id }) => tool_call_id)).toEqual(calls.map((_, index) => `call-${index}`));
    const timeless = (texts: readonly string[]) => texts.map((text) => text.replaceAll(/\d{4}-[\d-]+T[\d:.]+Z/g, ''));
    expect(timeless(answers.map(({ content }) => content))).toEqual(timeless(requests));
  }
});
