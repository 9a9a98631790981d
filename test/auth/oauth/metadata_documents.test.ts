import { generateKeyPairSync, sign } from 'node:crypto';

import { auth } from '@modelcontextprotocol/client';
import { beforeEach, expect, onTestFinished, test } from 'vitest';

import { createExternalFetch, isPublicAddress } from '#auth/external_fetch.ts';
import { send } from '#test/contract/mcp_call.ts';
import { documentHost } from '#test/auth/oauth/document_host.ts';
import { appOf, codeFor, REDIRECT } from '#test/auth/oauth/raw_app.ts';
import { fileListeningWorld } from '#test/auth/oauth/listening_world.ts';

const s = await fileListeningWorld();
// Documents are counted by the minute.
beforeEach(() => s.clock.advance({ minutes: 1 }));

test('an app is known by the document at the address that is its id, which is asked for once', async () => {
  const host = await documentHost();
  const clientId = host.serve('/app.json', {
    client_id: `${host.origin}/app.json`,
    client_name: 'Ada in the cloud',
    client_uri: host.origin,
    redirect_uris: [REDIRECT, 'https://ada.example/callback'],
    grant_types: ['authorization_code', 'refresh_token', 'urn:example:unheard-of'],
    scope: 'openid everything',
    logo_uri: 'https://ada.example/logo.png',
  });
  const anna = await s.person();
  const app = appOf(s, clientId);
  const uid = await anna.open(app.authorizationUrl());
  expect((await anna.ask('GET', `/connect/${uid}`)).body.result.client).toEqual({
    name: 'Ada in the cloud',
    uri: host.origin,
    logoUri: null,
    redirectHost: '127.0.0.1:4711',
    kind: 'metadata_document',
  });
  // A second browser, and the token endpoint, have it still.
  const { body } = await app.redeem(await codeFor(app, await s.person()));
  expect((await send(s, 'tools/list', {}, { key: body.access_token })).status).toBe(200);
  expect((await app.refresh(body.refresh_token)).status).toBe(200);
  expect(host.asked).toEqual(['/app.json']);
});

test('the SDK connects by its document instead of registering', async () => {
  const host = await documentHost();
  const clientMetadata = { client_name: 'Ada', redirect_uris: [REDIRECT], token_endpoint_auth_method: 'none' };
  const clientId = host.serve('/sdk.json', { ...clientMetadata, client_id: `${host.origin}/sdk.json` });
  let asked: URL | undefined;
  let verifier = '';
  // eslint-disable-next-line typescript/no-explicit-any -- what the SDK hands over is handed back as it is
  const held: Record<string, any> = {};
  const provider = {
    redirectUrl: REDIRECT,
    clientMetadataUrl: clientId,
    clientMetadata,
    clientInformation: () => held['client'],
    saveClientInformation: (client: unknown) => void (held['client'] = client),
    tokens: () => held['tokens'],
    saveTokens: (tokens: unknown) => void (held['tokens'] = tokens),
    redirectToAuthorization: (url: URL) => void (asked = url),
    saveCodeVerifier: (text: string) => void (verifier = text),
    codeVerifier: () => verifier,
    saveDiscoveryState: (state: unknown) => void (held['found'] = state),
    discoveryState: () => held['found'],
  };
  expect(await auth(provider, { serverUrl: s.endpoint })).toBe('REDIRECT');
  expect(asked?.searchParams.get('client_id')).toBe(clientId);
  const called = await (await s.person()).approve(asked!);
  const [authorizationCode, iss] = [called.searchParams.get('code')!, called.searchParams.get('iss')!];
  expect(await auth(provider, { serverUrl: s.endpoint, authorizationCode, iss })).toBe('AUTHORIZED');
  expect(held['tokens']).toMatchObject({ access_token: expect.stringMatching(/^tocsin_oat_/) });
  expect(await s.context.db.sql.rows(`select 1 from oauth_records where kind = 'Client'`)).toEqual([]);
});

test('an app with keys of its own signs for its tokens', async () => {
  const host = await documentHost();
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const clientId = `${host.origin}/signing.json`;
  host.serve('/keys.json', {
    keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'ES256' }],
  });
  host.serve('/signing.json', {
    client_id: clientId,
    client_name: 'Ada',
    redirect_uris: [REDIRECT],
    token_endpoint_auth_method: 'private_key_jwt',
    jwks_uri: `${host.origin}/keys.json`,
  });
  const app = appOf(s, clientId);
  const code = await codeFor(app, await s.person());
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const seconds = Math.floor(Date.now() / 1000);
  const claims = { iss: clientId, sub: clientId, aud: s.baseUrl, jti: 'once', iat: seconds, exp: seconds + 60 };
  const signed = `${part({ alg: 'ES256', kid: 'one' })}.${part(claims)}`;
  const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString(
    'base64url',
  );
  const proof = {
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: `${signed}.${signature}`,
  };
  expect((await app.redeem(code)).status).toBe(401);
  const redeemed = await app.redeem(code, proof);
  expect(redeemed.status, JSON.stringify(redeemed.body)).toBe(200);
  expect((await app.refresh(redeemed.body.refresh_token, proof)).status).toBe(401);
});

test('a document that is not what it says, or sends codes away in clear, connects nothing', async () => {
  const host = await documentHost();
  const good = { client_name: 'Ada', redirect_uris: [REDIRECT] };
  const urls = [
    host.serve('/other-id.json', { ...good, client_id: `${host.origin}/elsewhere.json` }),
    host.serve('/plain-http.json', {
      ...good,
      client_id: `${host.origin}/plain-http.json`,
      redirect_uris: ['http://ada.example/callback'],
    }),
    host.serve('/secret.json', { ...good, client_id: `${host.origin}/secret.json`, client_secret: 'x' }),
    host.serve('/large.json', { ...good, client_id: `${host.origin}/large.json`, padding: 'x'.repeat(20_000) }),
    host.serve('/no-object.json', []),
    host.serve('/moved.json', (_request, response) => {
      response.writeHead(302, { location: '/good.json' }).end();
    }),
    host.serve('/slow.json', () => {}),
    `${host.origin}/missing.json`,
    'https://localhost:1/closed.json',
    `${host.origin.replace('https', 'http')}/good.json`,
    `${host.origin}/x/../good.json`,
  ];
  host.serve('/good.json', { ...good, client_id: `${host.origin}/good.json` });
  onTestFinished(s.clock.beImpatient(0.1));
  const answers = await Promise.all(
    urls.map(async (url) => await fetch(appOf(s, url).authorizationUrl(), { redirect: 'manual' })),
  );
  for (const [index, answer] of answers.entries()) {
    expect([answer.status, answer.headers.get('location')], urls[index]).toEqual([400, null]);
  }
  expect(host.asked).not.toContain('/good.json');
});

test('no more than thirty documents are asked for in a minute in the name of one address', async () => {
  const host = await documentHost();
  const open = (path: string) => fetch(appOf(s, host.origin + path).authorizationUrl(), { redirect: 'manual' });
  for (let index = 0; index < 35; index += 1) expect((await open(`/${index}.json`)).status).toBe(400);
  expect(host.asked).toHaveLength(30);
  s.clock.advance({ minutes: 1 });
  await open('/later.json');
  expect(host.asked.at(-1)).toBe('/later.json');
});

const INSIDE = `0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.8 192.168.1.1
  198.18.0.1 224.0.0.1 240.0.0.1 255.255.255.255 :: ::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 64:ff9b::7f00:1 2002:7f00:1::
  fc00::1 fd12::1 fe80::1 ff02::1 2001:db8::1 no-address`;

test.each(INSIDE.split(/\s+/))('%s is nobody’s on the public Internet', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each(['1.1.1.1', '172.32.0.1', '8.8.8.8', '223.255.255.255', '2606:4700::1111', '2a00:1450:4001::1'])(
  '%s is public',
  (address) => {
    expect(isPublicAddress(address)).toBe(true);
  },
);

test('a product on the Internet asks nobody inside, by whatever name', async () => {
  const host = await documentHost();
  const url = host.serve('/app.json', { client_id: 'x' });
  const outside = createExternalFetch({ allowInternalAddresses: false });
  const refused = /not on the public Internet/;
  const port = new URL(url).port;
  for (const name of ['localhost', '127.0.0.1', '[::1]', '[::ffff:7f00:1]', '0x7f.1', '2130706433', '0.0.0.0']) {
    await expect(outside(`https://${name}:${port}/app.json`), name).rejects.toThrow(refused);
  }
  await expect(outside(`http://localhost:${port}/app.json`)).rejects.toThrow(/only https/);
  expect(host.asked).toEqual([]);
  const inside = createExternalFetch({ allowInternalAddresses: true });
  expect(await (await inside(url)).json()).toEqual({ client_id: 'x' });
});
