import { createSocket } from 'node:dgram';
import { once } from 'node:events';

import { expect, onTestFinished, test } from 'vitest';

import { connectionTo, DOMAIN } from '#test/auth/openid/flow.ts';
import { openTestProvider } from '#test/auth/openid/provider.ts';
import { givenPerson, signedIn } from '#test/kit/programs/browser.ts';
import { world } from '#test/kit/world.ts';

/** A name server (RFC 1035) over UDP that has these TXT records. */
async function nameServer(records: ReadonlyMap<string, string>): Promise<string> {
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString('ascii', at + 1, at + 1 + length));
      at += length + 1;
    }
    const question = query.subarray(12, at + 5);
    const text = records.get(labels.join('.').toLowerCase());
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(text === undefined ? 0x81_83 : 0x81_80, 2);
    header.writeUInt16BE(text === undefined ? 0 : 1, 6);
    header.writeUInt32BE(0, 8);
    const data = text === undefined ? Buffer.alloc(0) : Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]);
    const answer = Buffer.from([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60, 0, data.length]);
    socket.send(Buffer.concat([header, question, ...(text === undefined ? [] : [answer, data])]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => void socket.close());
  return `127.0.0.1:${socket.address().port}`;
}

test('a TXT record proves a domain, and without it the sentence says which one to add', async () => {
  const records = new Map<string, string>();
  const w = await world({ settings: { dnsServers: await nameServer(records) } });
  const owner = await signedIn(w, (await givenPerson(w, { role: 'owner' })).email);
  const added = await owner.invoke(w.orgId, 'add_sign_in_domain', { domain: ` ${DOMAIN.toUpperCase()} ` });
  const { domain, record, provenBy } = added.body.result;
  expect([domain, provenBy, record.name]).toEqual([DOMAIN, null, `_tocsin.${DOMAIN}`]);
  const early = await owner.invoke(w.orgId, 'prove_sign_in_domain', { domain });
  expect(early).toMatchObject({ status: 409, body: { detail: expect.stringContaining(record.value) } });
  records.set(record.name, 'tocsin-domain=another');
  expect((await owner.invoke(w.orgId, 'prove_sign_in_domain', { domain })).status).toBe(409);
  records.set(record.name, record.value);
  expect(await owner.invoke(w.orgId, 'prove_sign_in_domain', { domain })).toMatchObject({
    status: 200,
    body: { result: { provenBy: 'dns' } },
  });
});

test.each(['', 'localhost', 'com', '192.0.2.1', 'acme.example.', 'аcme.example', 'a b.example', '-a.example'])(
  '%j is no mail domain',
  async (domain) => {
    const w = await world();
    const owner = await signedIn(w, (await givenPerson(w, { role: 'owner' })).email);
    expect((await owner.invoke(w.orgId, 'add_sign_in_domain', { domain })).status).toBe(400);
  },
);

test('a provider at an address that is not public is refused, as is one that names another issuer', async () => {
  const inside = await world({ settings: { allowInternalAddresses: 'false' } });
  const provider = await openTestProvider(['https://tocsin.example/callback']);
  const owner = await signedIn(inside, (await givenPerson(inside, { role: 'owner' })).email);
  const refused = await owner.invoke(inside.orgId, 'set_openid_connection', connectionTo(provider));
  expect(refused).toMatchObject({ status: 400, body: { detail: expect.stringContaining('no discovery document') } });
  expect(provider.asked).toEqual([]);
  const w = await world();
  const other = await signedIn(w, (await givenPerson(w, { role: 'owner' })).email);
  provider.change('/.well-known/openid-configuration', (body) => ({ ...body, issuer: 'https://evil.example' }));
  const answer = await other.invoke(w.orgId, 'set_openid_connection', connectionTo(provider));
  expect(answer.status).toBe(400);
  expect(JSON.stringify(answer.body)).not.toContain('evil.example');
});
