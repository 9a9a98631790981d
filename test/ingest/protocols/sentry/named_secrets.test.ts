import { expect, test } from 'vitest';

import type { ExceptionEvent } from '#modules/exceptions/decide/event.ts';
import { readEvent } from '#ingest/protocols/sentry/event.ts';
import { Temporal } from '#kernel/time.ts';

const receivedAt = Temporal.Instant.from('2026-11-21T12:00:00Z');

function normalise(payload: Readonly<Record<string, unknown>>): ExceptionEvent {
  const context = { eventId: 'a'.repeat(32), receivedAt, clientIp: null, client: 'sentry.test/1.0' };
  const event = readEvent({ context, payload: Buffer.from(JSON.stringify(payload)) });
  if (typeof event === 'string') throw new Error(event);
  return event;
}

const frame = { function: 'checkout', filename: 'views.py', lineno: 7 };
const error = { type: 'ValueError', value: 'bad order', stacktrace: { frames: [frame] } };

test('arguments of a command line and lists of a form are left out by their names', () => {
  const event = normalise({
    exception: error,
    extra: { 'sys.argv': ['app', '--password1', 'hunter2', '--page', '2'], form: [['new_password1', ['hunter2']]] },
  });
  expect(JSON.stringify(event)).not.toContain('hunter2');
  expect(event.extra).toMatchObject({ 'sys.argv': ['app', '--password1', '[filtered]', '--page', '2'] });
});

test('a secret is left out by its name wherever its value stands', () => {
  const secrets = {
    password1: 'hunter2',
    new_password2: 'hunter2',
    pin_code: 1234,
    nested: { otp_code: 'hunter2' },
    api: { id: 1, key: 'hunter2' },
    login: [{ code: 1234 }],
  };
  const event = normalise({
    exception: {
      ...error,
      stacktrace: { frames: [{ ...frame, vars: { ...secrets, form: JSON.stringify(secrets) } }] },
    },
    extra: {
      密码: 'hunter2',
      fields: [{ name: 'password1', value: 'hunter2' }, { key: 'cvv2', value: 1234 }, ['security_code', 1234]],
      others: [
        { field: 'password1', val: 'hunter2' },
        { Key: 'pin_code', Value: 1234 },
        { id: 'token2', text: 'hunter2' },
      ],
      command: { name: 'auth', args: ['hunter2'] },
    },
    request: {
      data: 'password1=hunter2&new_password2=hunter2&cookie_consent_version=3',
      cookies: [['sessionid', 'hunter2']],
    },
    contexts: { body: JSON.stringify({ body: JSON.stringify(secrets) }) },
    breadcrumbs: [{ message: "POST <QueryDict: {'password1': ['hunter2']}>", data: secrets }],
    tags: { pin_code: '1234' },
    user: { id: 7, passcode: 'hunter2' },
  });
  const kept = JSON.stringify(event);
  expect(kept).not.toMatch(/hunter2|1234/);
  expect(kept).toMatch(/cookie_consent_version=3/);
});

test.each([
  '{ password1: "hunter2", otp_code: \'hunter2\' }',
  '{:password1=>"hunter2", otp_code: "hunter2"}',
  'map[password1:hunter2 a:b]',
  '{Name:a Password1:hunter2}',
  'mutation { login(name: "a", password1: "hunter2") { id } }',
  '<login><pin:pinCode type="x">hunter2</pin:pinCode></login>',
  'mysql --user root --password1 hunter2',
  '["password1": "hunter2"]',
  'user: ann\npassword1: hunter2\n',
])('a secret is left out of values as languages show them: %s', (text) => {
  const kept = JSON.stringify(normalise({ exception: { ...error, value: text }, extra: { text } }));
  expect(kept).not.toContain('hunter2');
});

test.each([
  'Invalid token: "expected a name"',
  'password: must not be blank',
  'at auth.token (token.js:12:5)',
  'option --token is required',
  'new_password2: This field is required.',
  'Unexpected token: ":"',
])('a text about a secret stays what it is: %s', (text) => {
  expect(normalise({ exception: { ...error, value: text } }).exceptions[0]?.value).toBe(text);
});

test('a secret is left out of a message that is made of its template', () => {
  const { message } = normalise({
    logentry: { message: 'login with {password1} by %(user)s', params: { password1: 'hunter2', user: 'ann' } },
  });
  expect(message).toBe('login with [filtered] by ann');
});

test('arguments in lists are read as a command line, and values bound to a statement by its columns', async () => {
  const statement = 'INSERT INTO users (email, password) VALUES (?, ?)';
  const event = normalise({
    exception: error,
    extra: {
      dump: ['mysqldump', '-phunter2', 'shop'],
      curl: ['curl', '-u', 'bob:hunter2', '-H', 'Accept: text/html'],
      redis: ['redis-cli', '-a', 'hunter2'],
      grep: ['grep', '-p', 'hunt me', '-n'],
      failed: `Command '['mysqldump', '-phunter2', 'shop']' returned non-zero exit status 2.`,
      yaml: 'password: |\n  hunter2\nhost: db',
      header: { k: 'authorization', v: 'hunter2' },
      query: { sql: 'UPDATE users SET token = $1 WHERE id = $2', bindings: ['hunter2', 7] },
      plain: { sql: 'SELECT password FROM users WHERE id = ?', params: [7] },
    },
    breadcrumbs: [{ category: 'query', message: statement, data: { 'db.params': ['a@b.c', 'hunter2'] } }],
  });
  expect(JSON.stringify(event)).not.toContain('hunter2');
  expect(event.extra).toMatchObject({
    dump: ['mysqldump', '-p[filtered]', 'shop'],
    curl: ['curl', '-u', 'bob:[filtered]', '-H', 'Accept: text/html'],
    grep: ['grep', '-p', 'hunt me', '-n'],
    failed: `Command '['mysqldump', '-p[filtered]', 'shop']' returned non-zero exit status 2.`,
    yaml: 'password: |\n[filtered]\nhost: db',
    query: { bindings: '[filtered]' },
    plain: { params: [7] },
  });
});
