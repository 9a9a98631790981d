import fc from 'fast-check';
import { expect, test } from 'vitest';

import { createCipher } from '#auth/cipher.ts';
import { dsnOf, newIngestKeyPair, openIngestKeyPair, sealIngestKeyPair } from '#auth/ingest_keys.ts';
import { hashPassword, isPasswordOf } from '#auth/passwords.ts';
import { hashSecret, isSecretText, newSecretText } from '#auth/secret_text.ts';
import { redact } from '#kernel/log.ts';

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

test('logs never show a secret, wherever it stands', () => {
  const { ingestionKey } = newIngestKeyPair();
  const key = newSecretText('tocsin_key');
  const line = `Bearer ${key} at postgres://app:hunter2@db/x?sentry_key=0123456789abcdef and ${ingestionKey}`;
  const shown = redact(line);
  for (const secret of [key, ingestionKey, 'hunter2', '0123456789abcdef']) expect(shown).not.toContain(secret);
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
