import { expect, test } from 'vitest';

import { pushContact } from '#notify/channels/push/sender.ts';

test.each([
  ['https://tocsin.example.org', null, 'https://tocsin.example.org', true],
  ['https://tocsin.example.org/below', 'a@b.org', 'https://tocsin.example.org/below', true],
  ['http://127.0.0.1:3000', 'Tocsin <pager@example.org>', 'mailto:pager@example.org', true],
  ['https://localhost', 'pager@example.org', 'mailto:pager@example.org', true],
  ['https://10.0.0.7', 'pager@example.org', 'mailto:pager@example.org', true],
  ['https://[::1]:3000', 'pager@example.org', 'mailto:pager@example.org', true],
  ['https://tocsin.internal', null, 'mailto:operator@example.com', false],
  ['https://tocsin', 'tocsin@mail', 'mailto:operator@example.com', false],
  ['http://127.0.0.1:3000', 'tocsin@localhost', 'mailto:operator@example.com', false],
  ['http://127.0.0.1:3000', 'Tocsin <tocsin@box.local>', 'mailto:operator@example.com', false],
  ['http://127.0.0.1:3000', 'tocsin@box.localdomain', 'mailto:operator@example.com', false],
  ['https://tocsin.test', 'Tocsin <tocsin@mail.invalid>', 'mailto:operator@example.com', false],
  ['http://127.0.0.1:3000', null, 'mailto:operator@example.com', false],
])('the contact of push messages of %s with mail from %s is %s', (baseUrl, mailFrom, subject, isGiven) => {
  expect(pushContact(baseUrl, mailFrom)).toEqual({ subject, isGiven });
});
