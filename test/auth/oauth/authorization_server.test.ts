import { request } from 'node:http';
import { text } from 'node:stream/consumers';

import { beforeEach, expect, test } from 'vitest';

import { recordAdapterOf } from '#auth/oauth/record_adapter.ts';
import { AppError } from '#kernel/errors.ts';
import { send } from '#test/contract/mcp_call.ts';
import { connected, rawApp } from '#test/auth/oauth/raw_app.ts';
import { fileListeningWorld, listeningWorldOfTest } from '#test/auth/oauth/listening_world.ts';

const s = await fileListeningWorld();
// An address may register only 30 apps at once.
beforeEach(() => s.clock.advance({ seconds: 61 }));

test('no header of a request influences metadata, redirects or challenges', async () => {
  const app = await rawApp(s);
  const asked = async (path: string): Promise<string> => {
    const url = new URL(path, s.baseUrl);
    const answer = await new Promise<string>((resolve, reject) => {
      request(
        url,
        {
          headers: {
            host: 'evil.example',
            'x-forwarded-host': 'evil.example',
            'x-forwarded-proto': 'https',
            forwarded: 'host=evil.example',
          },
        },
        (response) => {
          text(response).then((body) => resolve(JSON.stringify(response.headers) + body), reject);
        },
      )
        .on('error', reject)
        .end();
    });
    expect(answer).not.toContain('evil.example');
    return answer;
  };
  const metadata = await asked('/.well-known/oauth-authorization-server');
  expect(metadata).toContain(`${s.baseUrl}/oauth/token`);
  await asked('/.well-known/openid-configuration');
  await asked('/.well-known/oauth-protected-resource/api/mcp');
  expect(await asked(app.authorizationUrl().href)).toContain(`${s.baseUrl}/connect/`);
  await asked(app.authorizationUrl({ redirect_uri: 'https://other.example' }).href);
});

test('both forms of the metadata describe the server', async () => {
  const get = async (path: string) => (await fetch(s.baseUrl + path)).json() as Promise<Record<string, unknown>>;
  const metadata = await get('/.well-known/oauth-authorization-server');
  expect(metadata).toMatchObject({
    issuer: s.baseUrl,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    scopes_supported: ['mcp:read', 'mcp:write', 'offline_access'],
  });
  expect(await get('/.well-known/openid-configuration')).toMatchObject(metadata);
  expect(await get('/oauth/jwks')).toMatchObject({ keys: [{ kty: 'OKP' }] });
  expect(await get('/.well-known/oauth-protected-resource/api/mcp')).toMatchObject({
    resource: s.endpoint.href,
    authorization_servers: [s.baseUrl],
  });
});

test('a base URL with a path is part of every address', async () => {
  const ownWorld = await listeningWorldOfTest({ path: '/ops/tocsin' });
  const { origin } = new URL(ownWorld.baseUrl);
  for (const path of [
    '/.well-known/oauth-authorization-server/ops/tocsin',
    '/.well-known/openid-configuration/ops/tocsin',
    '/ops/tocsin/.well-known/openid-configuration',
    '/ops/tocsin/.well-known/oauth-authorization-server',
  ]) {
    expect(await (await fetch(origin + path)).json(), path).toMatchObject({
      issuer: ownWorld.baseUrl,
      token_endpoint: `${ownWorld.baseUrl}/oauth/token`,
    });
  }
  const { tokens } = await connected(ownWorld, await ownWorld.person());
  expect((await send(ownWorld, 'tools/list', {}, { key: tokens.access_token })).status).toBe(200);
});

test('apps are asked to retry while the database is unavailable', async () => {
  const away = new AppError('unavailable', 'the database does not answer');
  const session = (): never => {
    throw away;
  };
  const adapter = recordAdapterOf({
    ...s.context,
    appSecret: s.context.config.appSecret,
    db: { ...s.context.db, session },
    resources: [],
  })('RefreshToken');
  const fault = { error: 'temporarily_unavailable', statusCode: 503, cause: away };
  await expect(adapter.find('a token')).rejects.toMatchObject(fault);
  await expect(adapter.consume('a token')).rejects.toMatchObject(fault);
});
