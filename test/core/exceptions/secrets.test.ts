import { describe, expect, test } from 'vitest';

import { isSecretName, withoutSecrets, withoutTokens } from '#core/exceptions/secrets.ts';
import { beyondLinear } from '#test/kit/counting/count_work.ts';

const F = '[filtered]';
const x = (length: number) => 'aB3xY7kQ9mZ2'.repeat(30).slice(0, length);
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U';
const PEM = '-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc\n-----END RSA PRIVATE KEY-----';

test.each([
  ['GET /reset?token=abc123&user=7', `GET /reset?token=${F}&user=7`],
  ['https://x.test/cb?code=1&access_token=a.b-c#top', `https://x.test/cb?code=1&access_token=${F}#top`],
  ['a=1&X-Amz-Signature=deadbeef&b=2', `a=1&X-Amz-Signature=${F}&b=2`],
  ['url?user[password]=hunter2&x=1', `url?user[password]=${F}&x=1`],
  ['password=hunter2;Server=db', `password=${F};Server=db`],
  ['Server=db;Pwd=hunter2;', `Server=db;Pwd=${F};`],
  ['postgres://app:hunter2@db.test/shop', `postgres://app:${F}@db.test/shop`],
  ['redis://:s3cret@cache:6379 away', `redis://:${F}@cache:6379 away`],
  ['{"password":"hunter2","user":"ann"}', `{"password":"${F}","user":"ann"}`],
  ["{'apiKey': 'k-1', 'n': 2}", `{'apiKey': '${F}', 'n': 2}`],
  ['X-Api-Key: 12345\nHost: x', `X-Api-Key: ${F}\nHost: x`],
  ['Cookie: a=b; c=d\nHost: x', `Cookie: ${F}\nHost: x`],
  ['curl -H "Authorization: Bearer abc" x', `curl -H "Authorization: ${F}" x`],
  [`sent Bearer ${x(40)} twice`, `sent Bearer ${F} twice`],
  ['Basic dXNlcjpwYXNzd29yZDE=', `Basic ${F}`],
  [`bad jwt ${JWT}.`, `bad jwt ${F}.`],
  ['key AKIAIOSFODNN7EXAMPLE is gone', `key ${F} is gone`],
  [`ghp_${x(36)}`, F],
  [`github_pat_${x(60)}`, F],
  [`glpat-${x(20)}`, F],
  ['xoxb-123456789012-abcdefghijkl', F],
  [`sk_live_${x(24)}, rk_test_${x(24)}`, `${F}, ${F}`],
  [`whsec_${x(32)}`, F],
  [`AIza${x(35)}`, F],
  [`SG.${x(22)}.${x(43)}`, F],
  [`sk-ant-api03-${x(40)}`, F],
  [`npm_${x(36)}`, F],
  [`tocsin_ing_${x(49)} and tocsin_key_${x(49)}`, `${F} and ${F}`],
  ['https://hooks.slack.com/services/T00/B00/abcdef', `https://hooks.slack.com/services/${F}`],
  [`cannot read ${PEM} here`, `cannot read ${F} here`],
  ['-----BEGIN PRIVATE KEY-----\nMIIE and then cut', F],
  ['card 4111 1111 1111 1111 refused', 'card [card number] refused'],
  ['card 5500-0000-0000-0004, 340000000000009', 'card [card number], [card number]'],
  [`token: ${x(32)}`, `token: ${F}`],
])('%j is kept as %j', (text, clean) => {
  expect(withoutSecrets(text)).toBe(clean);
  expect(withoutSecrets(clean), 'once clean it stays as it is').toBe(clean);
});

test.each([
  "SyntaxError: Unexpected token: '}' in JSON",
  'Invalid token: expected a name',
  'password: incorrect',
  'max_tokens=100&token_count=5&author=Ann&monkey=1&passenger=2',
  'order 4111111111111112 has a wrong check digit',
  'at 1700000000000000 and 1790000000000000000',
  'order 1234 5678 9012 3456',
  '4111111111111111.5 of them, and 44111111111111111111111',
  'uuid 123e4567-e89b-12d3-a456-426614174000',
  'commit 0a1b2c3d4e5f60718293a4b5c6d7e8f901234567',
  'Basic authentication is required',
  'Bearer of bad news',
  'https://x.test/a?page=2&sort=name',
  'user@example.com asked http://x.test:8080/a@b',
  'key: value; 12:30:05 done',
  'skipping sk-learn and eyJ alone',
  '-----BEGIN CERTIFICATE-----\nMIIC\n-----END CERTIFICATE-----',
  'handle_request_with_a_very_long_name_that_says_nothing',
  'auth_url=https://x.test tokenizer=bpe secretary=Bob',
])('%j stays as it is', (text) => {
  expect(withoutSecrets(text)).toBe(text);
});

test('a line of source keeps its names, and loses what is a secret by its form', () => {
  expect(withoutTokens('login(user, password=password, token=get_token())')).toBe(
    'login(user, password=password, token=get_token())',
  );
  expect(withoutTokens(`stripe.key = "sk_live_${x(24)}"`)).toBe(`stripe.key = "${F}"`);
});

describe('a name', () => {
  test.each([
    'X-Api-Key',
    'x-auth-token',
    'Authorization',
    'Proxy-Authorization',
    'Cookie',
    'set-cookie',
    'dbPassword',
    'DB_PASSWORD',
    'refresh_token',
    'accessToken',
    'api_key',
    'apikey',
    'client_secret',
    'passwd',
    'pwd',
    'PIN',
    'cardNumber',
    'card_number',
    'cvv',
    'PHPSESSID',
    'sessionid',
    'session_id',
    'X-CSRF-Token',
    'private_key',

    'aws_secret_access_key',
    'user[password]',
    'SECRET',
    'password_reset_token',
    'STRIPE_SECRET_KEY',
    'credentials',
  ])('%s is a secret', (name) => expect(isSecretName(name)).toBe(true));

  test.each([
    'author',
    'authority',
    'passing',
    'pass_rate',
    'passenger',
    'tokens',
    'max_tokens',
    'token_count',
    'key',
    'id',

    'monkey',
    'keyboard',
    'secretary',
    'tokenizer',
    'cookie_name',
    'password_policy',
    'pinned',
    'opinion',
    'auth_type',
    'user_id',
    'session',
    'Content-Type',
    'X-Forwarded-For',
    'signal',
    'token_expiry',
    'primary_key',
    'sort_key',
  ])('%s is none', (name) => expect(isSecretName(name)).toBe(false));
});

test('looking for secrets takes work linear in the text, whatever it is made of', async () => {
  expect(await beyondLinear(import.meta.resolve('./secrets_workloads.ts'), 2_000)).toEqual([]);
});
