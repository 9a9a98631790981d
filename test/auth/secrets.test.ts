import { expect, test, vi } from 'vitest';

import fc from '#test/kit/properties.ts';
import { createCipher } from '#auth/cipher.ts';
import { dsnOf, newIngestKeyPair, openIngestKeyPair, sealIngestKeyPair } from '#auth/ingest_access.ts';
import { hashPassword, isPasswordOf } from '#auth/passwords.ts';
import { hashSecret, isSecretText, newSecretText } from '#auth/secret_text.ts';
import { createLogger } from '#entry/logger.ts';
import { redact } from '#kernel/log.ts';
import { SECRET_PREFIXES } from '#kernel/ids.ts';
import { deriveVapidKeys } from '#notify/channels/push/sender.ts';

test('a secret text is recognised by its prefix and checksum', () => {
  const text = newSecretText('tocsin_key');
  expect(text).toMatch(/^tocsin_key_[0-9A-Za-z]{49}$/);
  expect(isSecretText('tocsin_key', text)).toBe(true);
  expect(isSecretText('tocsin_ing', text)).toBe(false);
});

test('a secret text with any letter changed is refused without asking the database', () => {
  const text = newSecretText('tocsin_key');
  fc.assert(
    fc.property(
      fc.integer({ min: 11, max: text.length - 1 }),
      fc.constantFrom('a', 'b', 'X', 'Z', '0', '9'),
      (place, letter) => {
        const changed = text.slice(0, place) + letter + text.slice(place + 1);
        expect(isSecretText('tocsin_key', changed)).toBe(changed === text);
      },
    ),
  );
});

test('two secrets are never the same, and neither are their hashes', () => {
  const texts = Array.from({ length: 1_000 }, () => newSecretText('tocsin_key'));
  expect(new Set(texts).size).toBe(1_000);
  expect(new Set(texts.map((text) => hashSecret(text).toString('hex'))).size).toBe(1_000);
});

/** Every secret of the product, and what a log line says around it. */
const SECRETS: readonly (readonly [string, (secret: string) => string, string])[] = [
  ...Object.entries(SECRET_PREFIXES).map(([kind, prefix]) => {
    return [kind, (secret: string) => secret, newSecretText(prefix)] as const;
  }),
  ['DSN', (secret) => `http://${secret}@tocsin.example/1`, newIngestKeyPair().dsnKey],
  ['key of a DSN in a query', (secret) => `/api/1/envelope/?sentry_key=${secret}&x=1`, newIngestKeyPair().dsnKey],
  ['password of a store', (secret) => `postgres://app:${secret}@db/x`, 'hunter2'],
  [
    'password of a mail server',
    (secret) => `smtps://mail%40x:${secret}@mail.example:465`,
    'p%40ss/w0rd'.replace('/', ''),
  ],
  ['password in JSON', (secret) => `{"email":"a@b.c","currentPassword":"${secret}"}`, 'amber kettle 41'],
  ['password in JSON in JSON', (secret) => JSON.stringify({ body: JSON.stringify({ password: secret }) }), 'amber 41'],
  [
    'secret of an app for one-time passwords',
    (secret) => `otpauth://totp/Tocsin:a?secret=${secret}&issuer=T`,
    'JBSWY3DPEHPK3PXP',
  ],
  ['code of OAuth', (secret) => `/callback?code=${secret}&state=x`, newSecretText('tocsin_oac')],
  [
    'verifier of OAuth',
    (secret) => `grant_type=authorization_code&code_verifier=${secret}`,
    'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  ],
  [
    'secret of a client that we did not make',
    (secret) => `client_id=x&client_secret=${secret}`,
    'ZJYCqe3GGRvdrudKyZS0XhGv',
  ],
  [
    'link that answers',
    (secret) => `GET /api/answers/acknowledge/notification_01k9/${secret} 200`,
    '1800000000.Y2hlY2tlZA-x_y',
  ],
  ['short link that acknowledges', (secret) => `GET /a/${'0'.repeat(26)}${secret} 200`, 'abcdefgh01234567'],
  ['link that answers a proposal', (secret) => `POST /p/${'0'.repeat(26)}${secret} 200`, 'abcdefgh01234567'],
  ['PIN in a form', (secret) => `answer=approve&pin=${secret}`, '482913'],
  ['PIN in JSON', (secret) => `{"pin":"${secret}"}`, '482913'],
  ['code of an app or an SMS', (secret) => JSON.stringify({ body: `{"code":"${secret}"}` }), '482913'],
  ['recovery codes', (secret) => `{"recoveryCodes":["${secret}","b"]}`, 'kx7f-22md-pq9s'],
  ['secret of a push subscription', (secret) => `{"keys":{"p256dh":"x","auth":"${secret}"}}`, 'tBHItJI5svbpez7KI4CCXg'],
  [
    'secret of a DSN in a header',
    (secret) => `X-Sentry-Auth: Sentry sentry_version=7, sentry_secret=${secret}`,
    newIngestKeyPair().dsnKey,
  ],
  [
    'token of sentry-cli',
    (secret) => `SENTRY_AUTH_TOKEN=${secret} sentry-cli releases list`,
    newSecretText('tocsin_key'),
  ],
  ['key of StatsD', (secret) => `a:1|c|#ingestion_key:${secret}`, newSecretText('tocsin_ing')],
  ['cookie of OAuth', (secret) => `cookie: tocsin_oauth_request=${secret}; tocsin_oauth.sig=${secret}`, 'KZb2_f0Tq-cB'],
  ['token in a link to traces', (secret) => `https://traces.example/t?access_token=${secret}`, 'f00dcafe'],
  ['header of an API', (secret) => `authorization: Bearer ${secret}`, 'abc.def-ghi'],
  ['header with a password', (secret) => `authorization: Basic ${secret}`, 'dXNlcjpwYXNz'],
  ['header with a key of our own', (secret) => `"authorization":"Bearer ${secret}"`, newSecretText('tocsin_key')],
];

test.each(SECRETS)('a log never shows the %s, wherever it stands', (_kind, around, secret) => {
  for (const line of [
    around(secret),
    `x${around(secret)}`,
    `'${around(secret)}'.`,
    JSON.stringify({ m: around(secret) }),
  ]) {
    expect(redact(line)).not.toContain(secret);
  }
});

test('a log shows none of the secrets of the configuration, nor what is derived from them', () => {
  const config = {
    appSecret: 'an app "secret" with \\ that is long',
    twilioAuthToken: '0123456789abcdef0123456789abcdef',
  };
  const { privateKey } = deriveVapidKeys(config.appSecret);
  const lines: string[] = [];
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
  createLogger({ ...config, logLevel: 'info' }, 'cli').info(
    { config, err: new Error(config.appSecret), privateKey },
    privateKey,
  );
  write.mockRestore();
  expect(lines).toHaveLength(1);
  for (const secret of [config.twilioAuthToken, privateKey, 'long', JSON.stringify(config.appSecret).slice(1, -1)]) {
    expect(lines[0]).not.toContain(secret);
  }
  expect(() => JSON.parse(lines[0]!) as unknown).not.toThrow();
});

test('a sealed key pair opens with the same secret only', () => {
  const pair = newIngestKeyPair();
  const cipher = createCipher('a secret that is long enough, one');
  const sealed = sealIngestKeyPair(pair, cipher);
  expect(openIngestKeyPair(sealed.secrets, cipher)).toEqual(pair);
  expect(() => openIngestKeyPair(sealed.secrets, createCipher('a secret that is long enough, two'))).toThrow(
    /authenticate/,
  );
  expect(sealed.secrets.includes(pair.ingestionKey)).toBe(false);
});

test('a tampered sealed pair is refused', () => {
  const cipher = createCipher('a secret that is long enough, one');
  const { secrets } = sealIngestKeyPair(newIngestKeyPair(), cipher);
  for (const place of [0, 12, 30]) {
    const tampered = Buffer.from(secrets);
    tampered.writeUInt8(tampered.readUInt8(place) ^ 1, place);
    expect(() => cipher.decrypt(tampered)).toThrow(/authenticate/);
  }
});

test('a DSN has the key, the host, any path prefix and the project, and no slash at its end', () => {
  const key = 'a'.repeat(32);
  expect(dsnOf('https://tocsin.example', key, 7)).toBe(`https://${key}@tocsin.example/7`);
  expect(dsnOf('http://localhost:3000/ops/', key, 7)).toBe(`http://${key}@localhost:3000/ops/7`);
});

test('a password is known by its hash, and no other is', async () => {
  const hash = await hashPassword('correct horse battery');
  expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+$/);
  expect(await isPasswordOf(hash, 'correct horse battery')).toBe(true);
  expect(await isPasswordOf(hash, 'correct horse batterz')).toBe(false);
  expect(await isPasswordOf('not a hash', 'correct horse battery')).toBe(false);
});
