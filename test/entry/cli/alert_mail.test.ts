import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

import { expect, onTestFinished, test } from 'vitest';

import { postMail } from '#entry/cli/alert_mail.ts';
import { secretArgument } from '#entry/cli/text.ts';
import { loadConfig } from '#entry/config.ts';
import { makeFolder } from '#test/faults/folder.ts';

test.each([
  [202, 0],
  [400, 65],
  [413, 65],
  [401, 67],
  [403, 67],
  [404, 67],
  [302, 75],
  [429, 75],
  [500, 75],
  [503, 75],
])('an answer of %d is told to the mail server as %d', async (status, code) => {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      bodies.push(body);
      response.writeHead(status, { location: '/elsewhere' }).end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const mail = Readable.from([Buffer.from('Subject: x\r\n'), Buffer.from('\r\nDown\r\n')]);
  expect(await postMail(`http://127.0.0.1:${port}/api/alerts/mail/k`, mail)).toMatchObject({ code });
  expect(bodies).toEqual(['Subject: x\r\n\r\nDown\r\n']);
});

test('an API that is away is tried again, and a mail that is too long is not sent', async () => {
  const { baseUrl } = loadConfig({ BASE_URL: 'http://127.0.0.1:1' });
  const mail = (bytes: number) => Readable.from([Buffer.alloc(bytes, 'x')]);
  expect(await postMail(baseUrl, mail(10))).toMatchObject({
    code: 75,
    says: expect.stringContaining('does not answer'),
  });
  expect(await postMail(baseUrl, mail(1024 * 1024 + 1))).toMatchObject({ code: 65 });
});

test('a secret is read from a file, so that no list of processes shows it', () => {
  const file = path.join(makeFolder(), 'key');
  writeFileSync(file, 'alertkey_1\n');
  expect(secretArgument(`@${file}`)).toBe('alertkey_1');
  expect(secretArgument('alertkey_1')).toBe('alertkey_1');
  expect(() => secretArgument(`@${file}.none`)).toThrow('cannot be read');
});
