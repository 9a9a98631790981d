import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Check } from 'typebox/value';
import { TypeID } from 'typeid-js';
import { expect, test } from 'vitest';

import { isSecretText } from '#auth/secret_text.ts';
import { ACTIONS } from '#actions/registry.ts';
import { idSourceOf } from '#actions/id_sources.ts';
import { EXAMPLE_IDS as IDS } from '#actions/fields.ts';
import { SERVICE_WITH_KEYS_EXAMPLE } from '#modules/services/view.ts';
import { METRIC_PROTOCOLS } from '#ingest/registry.ts';
import { EACH_ACTION } from '#test/contract/fixture.ts';
import { fileWorld } from '#test/kit/world.ts';
import { keysOf } from '#kernel/records.ts';

const BASE_URL = 'https://tocsin.northwind.test/alerts';

const w = await fileWorld({ settings: { baseUrl: BASE_URL } });
const response = await w.app.inject({ method: 'GET', url: '/api/openapi.json' });
const text = response.body;
const document = JSON.parse(text);
const config = await createConfig('extends: [recommended-strict]');
const found = await lintFromString({ source: text, absoluteRef: '/openapi.json', config });
/** Complaints of the strict rules. */
const problems = found.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`);

test('the document is OpenAPI 3.1 of version 1.0.0 at the base URL, and no strict rule has anything to say', () => {
  expect(document).toMatchObject({ info: { version: '1.0.0' }, servers: [{ url: BASE_URL }] });
  expect(document.openapi).toMatch(/^3\.1\./);
  expect(problems).toEqual([]);
});

test('it has every action of the registry in its order, and no other', () => {
  const paths = Object.keys(document.paths).filter((path) => path.startsWith('/api/rest/'));
  expect(paths).toEqual(ACTIONS.map(({ name }) => `/api/rest/actions/${name}`));
});

test.each(EACH_ACTION)('%s is published with its permission, its schemas and an example of each', (name, action) => {
  expect(Object.keys(document.paths[`/api/rest/actions/${name}`])).toEqual(['post']);
  const { post } = document.paths[`/api/rest/actions/${name}`];
  expect(post).toMatchObject({ operationId: name, 'x-permission': action.permission, security: [{ apiKey: [] }] });
  expect(post.description).toContain(action.summary);
  expect(post.description).toContain(`\`${action.permission}\``);
  expect(post.summary).toMatch(/^[A-Z].{9,140}$/);
  const request = post.requestBody.content['application/json'];
  const answer = post.responses[200].content['application/json'];
  expect(post.requestBody.required).toBe(true);
  expect(Object.keys(request.schema.properties ?? {})).toEqual(Object.keys(action.input.properties));
  expect(request.schema.additionalProperties).toBe(false);
  expect(request.example).toEqual(action.example);
  expect(Check(action.input, request.example)).toBe(true);
  expect(Object.keys(answer.example)).toEqual(['result']);
  expect(Check(action.result, answer.example.result)).toBe(true);
  expect(Object.keys(request.example)).toEqual(Object.keys(action.input.properties));
  const always = ['200', '400', '401', '403', '413', '415', '429', '500', '503'];
  const names = /"\w+Ids?":/.test(JSON.stringify(action.input)) ? ['404'] : [];
  const conflicts = action.conflict === undefined ? [] : ['409'];
  expect(Object.keys(post.responses)).toEqual([...always, ...names, ...conflicts].toSorted());
});

test('ids of one kind are shown by one action, and a body that takes them says which', () => {
  const shown = ACTIONS.flatMap(({ lists = {} }) => keysOf(lists));
  expect(shown.toSorted()).toEqual([...new Set(shown)].toSorted());
  expect(idSourceOf('serviceId')).toMatchObject({ kind: 'service', shownBy: 'list_services' });
  expect(idSourceOf('escalationPolicyId')).toEqual(idSourceOf('policyId'));
  for (const name of ['overrideId', 'exceptionGroupId', 'toStringId', 'name']) expect(idSourceOf(name)).toBeUndefined();
  const taken = ACTIONS.flatMap(({ input }) => Object.keys(input.properties)).filter((name) => name.endsWith('Id'));
  expect(taken.filter((name) => idSourceOf(name) === undefined)).toEqual([]);
});

test('ids of examples have the form of ids, and the key of the example was never one', () => {
  for (const id of Object.values(IDS)) expect(TypeID.fromString(id).toString()).toBe(id);
  expect(SERVICE_WITH_KEYS_EXAMPLE.ingestionKey).toMatch(/^tocsin_ing_[0-9A-Za-z]{49}$/);
  expect(isSecretText('tocsin_ing', SERVICE_WITH_KEYS_EXAMPLE.ingestionKey)).toBe(false);
});

test('the document has the endpoints of senders and operators', () => {
  expect(Object.keys(document.paths)).toEqual(
    expect.arrayContaining([
      ...METRIC_PROTOCOLS.map(({ path }) => path),
      '/api/{projectId}/envelope',
      '/api/{projectId}/store',
      '/healthz',
      '/livez',
      '/readyz',
      '/metrics',
      '/api/openapi.json',
    ]),
  );
});

test('every refusal that is listed has an example of its own status and code', () => {
  for (const response of Object.values<Record<string, never>>(document.components.responses)) {
    const { example } = response['content']!['application/problem+json'] as { example: Record<string, unknown> };
    expect(document.components.schemas.Problem.properties.code.enum).toContain(example['code']);
    expect(example['status']).toBeGreaterThanOrEqual(400);
  }
});

test('the reference is a page whose every file comes from here, under a policy that lets in nothing else', async () => {
  const page = await w.app.inject({ method: 'GET', url: '/docs' });
  expect(page.statusCode).toBe(200);
  const policy = String(page.headers['content-security-policy']);
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe|http|\*/);
  const files = [...page.body.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, file]) => file!);
  expect(files).toEqual(expect.arrayContaining(['docs/swagger-ui-bundle.js', 'docs/reference.js', 'api/openapi.json']));
  for (const file of files.filter((file) => file !== 'data:,')) {
    const answer = await w.app.inject({ method: 'GET', url: `/${file}`, headers: { 'accept-encoding': 'gzip' } });
    expect(answer.statusCode, file).toBe(200);
    if (!file.startsWith('docs/')) continue;
    expect(answer.headers).toMatchObject({ 'content-encoding': 'gzip', 'x-content-type-options': 'nosniff' });
    const again = await w.app.inject({ url: `/${file}`, headers: { 'if-none-match': String(answer.headers.etag) } });
    expect([again.statusCode, again.body]).toEqual([304, '']);
  }
  expect(page.body).not.toMatch(/<script(?! (type="module" )?src=)|<style|style=/);
});

test('the reference finds its files also behind a proxy that keeps the path of the base URL', async () => {
  for (const path of ['/docs', '/docs/reference.js', '/api/openapi.json', '/healthz']) {
    expect((await w.app.inject({ url: `/alerts${path}` })).statusCode).toBe(200);
  }
  const slash = await w.app.inject({ url: '/alerts/docs/' });
  expect([slash.statusCode, slash.headers.location]).toEqual([308, '../docs']);
  const headers = { authorization: `Bearer ${w.orgKey}`, 'content-type': 'application/json' };
  const url = '/alerts/api/rest/actions/list_teams';
  expect((await w.app.inject({ method: 'POST', url, headers, payload: '{}' })).json()).toEqual({
    result: { total: 0, teams: [], people: [expect.objectContaining({ userId: w.owner.userId })] },
  });
});
