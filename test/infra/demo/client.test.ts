import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect, onTestFinished, test } from 'vitest';

import { connect } from '#infra/demo/client.ts';

test('a demo that waits for an SMS in vain says that one person gets only so many pages a minute', async () => {
  const phones = createServer((_request, response) => response.end('{"messages":[]}')).listen(0, '127.0.0.1');
  onTestFinished(() => void phones.close());
  await once(phones, 'listening');
  const phoneUrl = `http://127.0.0.1:${(phones.address() as AddressInfo).port}`;
  const client = connect({ baseUrl: '', apiKey: '', userId: '', phoneUrl, stop: async () => {} });
  await expect(client.waitForSms('+31612345678', 'checkout', 1)).rejects.toThrow(
    /^waited 0.001 s in vain for an SMS to \+31612345678 about checkout: at most 3 pages a minute go to one person; wait a minute and run it again$/,
  );
});
