import { expect, test } from 'vitest';

import { createExternalPost, isInternalHostname } from '#auth/external_fetch.ts';
import { startPushService } from '#test/kit/programs/push_service.ts';
import { givenPerson, signedIn } from '#test/kit/programs/browser.ts';
import { world } from '#test/kit/world.ts';

test('a push service that is not on the public Internet gets nothing, whatever its name is', async () => {
  const service = await startPushService();
  const port = new URL(service.browser('Firefox', 'x').subscription.endpoint).port;
  const message = { headers: {}, body: Buffer.from('x'), timeoutMs: 2_000 };
  const post = createExternalPost({ allowInternalAddresses: false });
  for (const name of ['localhost', '127.0.0.1', '[::1]', '[::ffff:7f00:1]', '0x7f.1', '169.254.169.254']) {
    await expect(post(`https://${name}:${port}/send`, message), name).rejects.toMatchObject({ code: 'ERR_NOT_PUBLIC' });
  }
  await expect(post(`http://localhost:${port}/send`, message)).rejects.toThrow(/only https/);
  expect(service.requests).toBe(0);
});

test('a name that resolves to a private address is not a push service', async () => {
  const inside = { allowInternalAddresses: false };
  expect(await isInternalHostname('localhost', inside)).toBe(true);
  expect(await isInternalHostname('localhost', { allowInternalAddresses: true })).toBe(false);
  expect(await isInternalHostname('push.invalid', inside)).toBe(false);
});

test('a device whose push service is not public is rejected when it is added', async () => {
  const w = await world({ settings: { allowInternalAddresses: 'false' } });
  const { email } = await givenPerson(w, { role: 'responder' });
  const browser = await signedIn(w, email);
  const answer = await browser.invoke(w.orgId, 'create_push_subscription', {
    endpoint: 'https://127.0.0.1/send',
    keys: { p256dh: 'x', auth: 'x' },
  });
  expect(answer).toMatchObject({
    status: 400,
    body: { errors: expect.arrayContaining([{ path: 'endpoint', message: expect.any(String) }]) },
  });
});
