import { expect, test } from 'vitest';

import { buildFixture } from '#test/contract/fixture.ts';
import { call, type Era, ERAS, send } from '#test/contract/mcp_call.ts';
import { fileWorld } from '#test/kit/world.ts';

const w = await fileWorld();
const fixture = await buildFixture(w);

const read = (uri: string, era: Era, key = w.orgKey) =>
  send(w, 'resources/read', { uri }, { era, key, headers: { 'mcp-name': uri } });

test('the instructions are a runbook of the night shift that knows the time and the caller, under 2,048 characters', async () => {
  const { instructions } = (await send(w, 'server/discover')).body.result;
  expect(instructions.length).toBeLessThan(2_048);
  expect(instructions).toContain(w.clock.now().toString().slice(0, 16));
  expect(instructions).toContain('API key of the organization, and may make changes');
  const viewer = await w.given.user({ role: 'viewer' });
  const own = (await send(w, 'server/discover', {}, { key: viewer.key })).body.result.instructions;
  expect(own).toContain(`${viewer.userId}, and may only read`);
});

test.each(ERAS)('prompts name tools that exist and take names (%s)', async (era) => {
  const { prompts } = (await send(w, 'prompts/list', {}, { era })).body.result;
  expect(prompts.map(({ name }: { name: string }) => name)).toEqual([
    'night_triage',
    'set_up_on_call',
    'weekly_noise',
    'handover',
  ]);
  const tools = (await send(w, 'tools/list')).body.result.tools.map(({ name }: { name: string }) => name);
  for (const {
    name,
    arguments: [argument],
  } of prompts) {
    const prompt = { name, arguments: { [argument.name]: 'checkout' } };
    const { messages } = (await send(w, 'prompts/get', prompt, { era })).body.result;
    const { text } = messages[0].content;
    expect(text).toContain('checkout');
    for (const [named] of text.matchAll(/\b(?:list|get|query|create|update|add|enable|who)_\w+/g))
      expect(tools).toContain(named);
  }
  expect((await send(w, 'prompts/get', { name: 'nothing' }, { era })).body.error.message).toContain('night_triage');
});

test.each(ERAS)('services, incidents and runbooks are resources, as the caller may see them (%s)', async (era) => {
  const { resources } = (await send(w, 'resources/list', {}, { era })).body.result;
  const { resourceTemplates } = (await send(w, 'resources/templates/list', {}, { era })).body.result;
  expect([resources.length, resourceTemplates.length]).toEqual([2, 3]);
  const textOf = async (uri: string) => (await read(uri, era)).body.result.contents[0].text;
  for (const { uri } of resources) expect(await textOf(uri)).toContain(fixture.serviceId);
  expect(await textOf(`tocsin://services/${fixture.serviceId}`)).toContain('"alertRules"');
  expect(await textOf(`tocsin://incidents/${fixture.incidentId}`)).toContain('"evidence"');
  const runbook = await textOf(`tocsin://rules/${fixture.ruleId}/runbook`);
  expect(runbook).toContain('Checkout is slow');
  expect(runbook).toContain('policy: Wake somebody');
  const other = await w.given.organization('Other');
  for (const uri of [`tocsin://rules/${fixture.ruleId}/runbook`, `tocsin://services/${fixture.serviceId}`]) {
    expect((await read(uri, era, other.orgKey)).body.error.message).toContain('not_found');
  }
  for (const uri of ['tocsin://results/delete_service?serviceId=%22x%22', 'tocsin://nothing', 'file:///etc/passwd']) {
    expect((await read(uri, era)).body.error.message).toContain('there is no resource');
  }
});

test.each(ERAS)('ids and names are completed (%s)', async (era) => {
  const values = async (ref: object, name: string, value: string) =>
    (await send(w, 'completion/complete', { ref, argument: { name, value } }, { era })).body.result.completion.values;
  const service = { type: 'ref/resource', uri: 'tocsin://services/{serviceId}' };
  expect(await values(service, 'serviceId', 'check')).toEqual([fixture.serviceId]);
  expect(await values({ type: 'ref/prompt', name: 'handover' }, 'team', 'pay')).toEqual(['Payments']);
  const rule = { type: 'ref/resource', uri: 'tocsin://rules/{ruleId}/runbook' };
  expect(await values(rule, 'ruleId', 'slow')).toEqual([fixture.ruleId]);
  expect(await values(service, 'serviceId', 'nothing like it')).toEqual([]);
});

test('a connection that may only read gets no key, no DSN and no phone number in any answer', async () => {
  const key = await w.given.apiKey({
    permissions: ['services:view', 'dashboards:view', 'exceptions:view', 'oncall:view'],
  });
  const { ingestionKey, dsn } = await w.expectOk('get_service', { serviceId: fixture.serviceId });
  for (const [name, input] of Object.entries({
    list_services: {},
    list_teams: {},
    list_incidents: {},
    get_incident: { incidentId: fixture.incidentId },
    get_exception_group: { groupId: fixture.groupId },
    who_is_on_call: { teamId: fixture.teamId },
  })) {
    const text = JSON.stringify((await call(w, name, input, { key })).body);
    for (const secret of [ingestionKey, dsn, '+31612345678']) expect(text, name).not.toContain(secret);
  }
  expect(JSON.stringify((await call(w, 'list_teams', {})).body)).toContain('+31612345678');
});
