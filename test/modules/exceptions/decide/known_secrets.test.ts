import { expect, test } from 'vitest';

import { withoutSecrets } from '#modules/exceptions/decide/secrets.ts';
import { IN_CONTEXT, IN_PLACES, ORDINARY, TOKENS } from '#test/modules/exceptions/decide/known_secrets.ts';

test('two hundred secrets of known shapes are left out, wherever they stand in a text', () => {
  expect(TOKENS.length + IN_CONTEXT.length).toBeGreaterThanOrEqual(200);
  const places = [
    (token: string) => token,
    (token: string) => `refused: ${token} is not valid`,
    (token: string) => `"${token}"`,
    (token: string) => `https://x.test/hook/${token}?a=1`,
  ];
  const cases = [...TOKENS.flatMap((token) => places.map((place) => [place(token), token] as const)), ...IN_CONTEXT];
  expect(cases.filter(([text, secret]) => withoutSecrets(text).includes(secret))).toEqual([]);
});

test('passwords of drivers, programs, statements and languages are left out, and nothing that only resembles them', () => {
  expect(IN_PLACES.filter(([text, secret]) => withoutSecrets(text).includes(secret))).toEqual([]);
  expect(ORDINARY.filter((text) => withoutSecrets(text) !== text)).toEqual([]);
});
