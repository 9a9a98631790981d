import { expect, test } from 'vitest';

import { givenPerson, signedIn } from '#test/kit/programs/browser.ts';
import { exceptionEvent } from '#test/kit/exception_event.ts';
import { runGroupExceptions } from '#test/kit/ingest_jobs.ts';
import { SERVICE_NUMBER, type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';
import { world } from '#test/kit/world.ts';

const ASKED = {
  serviceId: null,
  serviceName: 'checkout',
  teamName: 'Shop',
  phone: '+31612345678',
  timezone: 'Europe/Amsterdam',
};

async function ownerOf(w: StaffedWorld) {
  const { email, userId } = await givenPerson(w, { role: 'owner', name: 'Anna' });
  return { userId, browser: await signedIn(w, email) };
}

test('one operation makes all that a first page needs, and the caller is paged by the next exception', async () => {
  const w = await staffedWorld();
  const { browser, userId } = await ownerOf(w);
  const answer = await browser.invoke(w.orgId, 'set_up_paging', ASKED);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  const { serviceId, teamId, policyId, ruleId } = answer.body.result;

  const { services } = await w.expectOk('list_services', {});
  expect(services).toMatchObject([{ serviceId, name: 'checkout' }]);
  expect(new Set(services[0].capabilities)).toEqual(new Set(['exceptions', 'metrics', 'oncall']));
  const { teams } = await w.expectOk('list_teams', {});
  expect(teams).toMatchObject([{ teamId, name: 'Shop', escalationPolicies: [{ policyId }] }]);
  const { alertRules } = await w.expectOk('get_service', { serviceId });
  expect(alertRules).toMatchObject([{ ruleId, kind: 'exception', escalationPolicyId: policyId }]);
  expect(await w.expectOk('who_is_on_call', { teamId })).toMatchObject({ onCall: [{ userId }] });

  await runGroupExceptions(w.runtime, { orgId: w.orgId, serviceId }, [exceptionEvent(w.clock.now())]);
  await w.runUntilIdle();
  expect(w.phone.messages).toMatchObject([{ to: ASKED.phone }]);
});

test('a service that is there keeps what it has, and gets what it lacks', async () => {
  const w = await staffedWorld();
  const { browser } = await ownerOf(w);
  const { serviceId } = await w.given.service({ name: 'search', capabilities: ['exceptions'] });
  const asked = { ...ASKED, serviceId, serviceName: null, phone: null };
  expect((await browser.invoke(w.orgId, 'set_up_paging', asked)).body.result).toMatchObject({ serviceId });
  const { services } = await w.expectOk('list_services', {});
  expect(services).toMatchObject([{ serviceId, name: 'search' }]);
  expect(new Set(services[0].capabilities)).toEqual(new Set(['exceptions', 'oncall']));
});

test('what cannot be finished leaves nothing behind', async () => {
  const w = await staffedWorld();
  const { browser } = await ownerOf(w);
  const wrong = [
    { ...ASKED, timezone: 'Mars/Olympus' },
    { ...ASKED, serviceName: null },
    { ...ASKED, phone: 'none' },
  ];
  for (const asked of wrong) {
    expect((await browser.invoke(w.orgId, 'set_up_paging', asked)).status, JSON.stringify(asked)).toBe(400);
  }
  expect((await w.expectOk('list_services', {})).services).toEqual([]);
  expect(await w.expectOk('list_teams', {})).toMatchObject({ teams: [] });
});

test('only who may change services and on-call sets up paging', async () => {
  const w = await staffedWorld();
  for (const role of ['viewer', 'responder'] as const) {
    const { email } = await givenPerson(w, { role });
    const answer = await (await signedIn(w, email)).invoke(w.orgId, 'set_up_paging', ASKED);
    expect(answer.status, role).toBe(403);
  }
});

test('a contact card holds what pages come from, and there is none while nothing is set up', async () => {
  const w = await staffedWorld({ settings: { smtpUrl: 'smtp://127.0.0.1:9', mailFrom: 'Pages <pages@shop.test>' } });
  const { browser } = await ownerOf(w);
  const card = await browser.ask('POST', `/organizations/${w.orgId}/actions/get_contact_card`, { body: {} });
  expect(card.headers['content-type']).toContain('text/vcard');
  expect(card.text.split('\r\n')).toEqual(
    expect.arrayContaining([`TEL;TYPE=WORK,VOICE:${SERVICE_NUMBER}`, 'EMAIL;TYPE=INTERNET:pages@shop.test']),
  );

  const bare = await world();
  const { email } = await givenPerson(bare, { role: 'viewer' });
  expect(await (await signedIn(bare, email)).invoke(bare.orgId, 'get_contact_card')).toMatchObject({ status: 409 });
});
