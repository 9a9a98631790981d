import { beforeEach, expect, test } from 'vitest';

import { REDIRECT, register } from '#test/auth/oauth/raw_app.ts';
import { fileListeningWorld, listeningWorldOfTest } from '#test/auth/oauth/listening_world.ts';

const s = await fileListeningWorld();
// An address may register only 30 apps at once.
beforeEach(() => s.clock.advance({ seconds: 61 }));

test.each([
  'http://example.com/callback',
  'http://127.0.0.1.example.com/callback',
  'http://192.168.0.7/callback',
  'http://[::2]/callback',
  'https://user@example.com/callback',
  'javascript:alert(1)',
  'data:text/html,x',
  'https://example.com/callback#fragment',
  'not an address',
  'ftp://127.0.0.1/callback',
  'ws://127.0.0.1/callback',
  'intent://scan/#Intent;end',
  'file:///tmp/callback',
  'mailto:anna@example.com',
  'myapp:/callback',
  'com.:/callback',
])('an app with the redirect URI %s is not registered', async (uri) => {
  const { status, body } = await register(s, { redirect_uris: [REDIRECT, uri] });
  expect([status, body.error]).toEqual([400, expect.stringMatching(/^invalid_(?:redirect_uri|client_metadata)$/)]);
});

test.each(['com.example.app:/callback', 'com.example.my-app://callback', 'http://localhost:4711/callback'])(
  'an app with the redirect URI %s is registered',
  async (uri) => {
    expect((await register(s, { redirect_uris: [uri] })).status).toBe(201);
  },
);

test('registration accepts what real clients send, and returns what it stored', async () => {
  const { status, body } = await register(s, {
    redirect_uris: [REDIRECT, 'cursor://anysphere.cursor-mcp/callback', 'https://ada.example/callback'],
    client_name: '  Ada\u202e\n ',
    scope: 'openid profile mcp:read',
    grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
    response_types: ['code', 'id_token'],
    token_endpoint_auth_method: 'tls_client_auth',
    require_auth_time: true,
    default_max_age: 10,
    jwks_uri: 'http://169.254.169.254/keys',
    contacts: ['nobody'],
    unheard_of: { of: 1 },
  });
  expect(status).toBe(201);
  expect(body).toMatchObject({
    client_id: expect.stringMatching(/^client_[0-9a-z]{26}$/),
    client_name: 'Ada',
    application_type: 'native',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    scope: 'mcp:read mcp:write offline_access',
    token_endpoint_auth_method: 'none',
  });
  for (const name of [
    'client_secret',
    'jwks_uri',
    'contacts',
    'default_max_age',
    'unheard_of',
    'registration_access_token',
  ]) {
    expect(body).not.toHaveProperty(name);
  }
  expect((await register(s, { redirect_uris: ['https://ada.example/callback'] })).body.application_type).toBe('web');
});

test.each([
  { redirect_uris: [] },
  { redirect_uris: 'x' },
  { redirect_uris: [1] },
  { redirect_uris: Array(21).fill(REDIRECT) },
  { client_name: 7 },
])('registration rejects or corrects %j without an internal error', async (metadata) => {
  expect([201, 400]).toContain((await register(s, metadata)).status);
});

test('an address that registers many apps has to wait', async () => {
  const ownWorld = await listeningWorldOfTest();
  const statuses: number[] = [];
  for (let index = 0; index < 31; index += 1) statuses.push((await register(ownWorld)).status);
  expect(statuses.filter((status) => status === 201)).toHaveLength(30);
  const refused = await register(ownWorld);
  expect([refused.status, refused.headers['retry-after']]).toEqual([429, '60']);
  ownWorld.clock.advance({ minutes: 1 });
  expect((await register(ownWorld)).status).toBe(201);
});
