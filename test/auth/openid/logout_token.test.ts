import { constants, generateKeyPairSync, type KeyObject, type KeyPairKeyObjectResult, sign } from 'node:crypto';

import { expect, test } from 'vitest';

import { readLogoutToken } from '#auth/openid/logout_token.ts';

const NOW = 1_800_000_000;
const EXPECTED = { issuer: 'https://idp.test', clientId: 'tocsin', nowSeconds: NOW };
const CLAIMS = {
  iss: 'https://idp.test',
  aud: ['tocsin'],
  iat: NOW,
  jti: 'id',
  sub: 'anna',
  events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
};
const PSS = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
const rsa = (modulusLength = 2_048) => generateKeyPairSync('rsa', { modulusLength });
const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve });
const P1363 = { dsaEncoding: 'ieee-p1363' } as const;

/** Whether a token that was signed so is taken as one of the public key. */
function isTaken(
  alg: string,
  hash: string | null,
  { privateKey, publicKey }: KeyPairKeyObjectResult,
  how: object,
  stated = {},
) {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const input = `${part({ alg })}.${part(CLAIMS)}`;
  const key: { key: KeyObject } = { key: privateKey, ...how };
  const token = `${input}.${sign(hash, Buffer.from(input), key).toString('base64url')}`;
  const unchecked = readLogoutToken(token, { ...EXPECTED, algorithms: new Set([alg]) });
  expect(unchecked.logout).toEqual({ subject: 'anna', tokenId: 'id' });
  return unchecked.isSignedBy([null, { kty: 'RSA' }, { ...publicKey.export({ format: 'jwk' }), ...stated }]);
}

test.each<[string, string | null, KeyPairKeyObjectResult, object]>([
  ['RS256', 'sha256', rsa(), {}],
  ['RS512', 'sha512', rsa(), {}],
  ['PS384', 'sha384', rsa(), PSS],
  ['ES256', 'sha256', ec('P-256'), P1363],
  ['ES384', 'sha384', ec('P-384'), P1363],
  ['ES512', 'sha512', ec('P-521'), P1363],
  ['EdDSA', null, generateKeyPairSync('ed25519'), {}],
  ['Ed25519', null, generateKeyPairSync('ed25519'), {}],
])('a token signed by %s is taken by the key of it, and by no key for something else', (alg, hash, pair, how) => {
  expect(isTaken(alg, hash, pair, how)).toBe(true);
  expect(isTaken(alg, hash, pair, how, { alg, use: 'sig', kid: 'any' })).toBe(true);
  expect(isTaken(alg, hash, pair, how, { use: 'enc' })).toBe(false);
  expect(isTaken(alg, hash, pair, how, { alg: 'RS384' })).toBe(false);
});

test.each<[string, string | null, KeyPairKeyObjectResult, object]>([
  ['RS256', 'sha256', rsa(1_024), {}],
  ['RS256', 'sha512', rsa(), {}],
  ['RS256', 'sha256', rsa(), PSS],
  ['ES256', 'sha256', ec('P-384'), P1363],
  ['ES256', 'sha256', ec('P-256'), {}],
  ['EdDSA', null, generateKeyPairSync('ed448'), {}],
])(
  'a token signed as %s is refused with a weak key, another hash, padding, curve or encoding',
  (alg, hash, pair, how) => {
    expect(isTaken(alg, hash, pair, how)).toBe(false);
  },
);
