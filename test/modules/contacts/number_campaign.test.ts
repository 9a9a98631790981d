import { expect, test } from 'vitest';

import { getConsoleOperation } from '#actions/registry.ts';
import { operatorIn } from '#actions/operator.ts';
import { runAction } from '#actions/run_action.ts';
import { askForNumbers } from '#modules/contacts/contact_view.ts';
import { storesOf } from '#modules/stores.ts';
import { type World, world } from '#test/kit/world.ts';

// eslint-disable-next-line typescript/no-explicit-any -- tests look into results of any shape
async function run(w: World, name: string, input: object = {}): Promise<any> {
  const origin = { requestId: 'req_campaign', address: null };
  return await runAction(w.context.actions, getConsoleOperation(name), operatorIn(w.orgId), input, origin);
}

async function ask(w: World, mail: object | null = {}): Promise<void> {
  const { db, clock } = w.context;
  const { simulatedIds } = w.context.actions.installation;
  await askForNumbers({ db, clock, onOutbox: () => {}, mail, simulatedIds });
}

/** A team whose members have a number each, but for those of `without`. */
async function givenTeam(w: World, names: readonly string[], without: readonly string[] = []) {
  const { teamId } = await w.expectOk('create_team', { name: 'Payments' });
  const people = [];
  for (const [index, name] of names.entries()) {
    const person = await w.given.user({ name });
    const phone = without.includes(name) ? {} : { phone: `+3161234567${index}` };
    await w.expectOk('add_team_member', { teamId, userId: person.userId, ...phone });
    people.push({ ...person, phone: `+3161234567${index}` });
  }
  return people;
}

test('a campaign tells who has not confirmed a number or received a test, and asks them by mail, again and not for ever', async () => {
  const w = await world();
  const [ada] = await givenTeam(w, ['Ada', 'Bo', 'Cy'], ['Bo']);
  await w.given.user({ name: 'In no team' });
  const now = () => w.clock.now();
  const { sql } = w.context.db;
  await sql.run('insert into confirmed_numbers (user_id, phone, confirmed_at) values ($1, $2, $3)', [
    ada!.userId,
    ada!.phone,
    now(),
  ]);
  expect(await run(w, 'get_number_campaign')).toMatchObject({
    since: null,
    people: 3,
    done: 0,
    open: [
      { name: 'Ada', state: 'untested', times: 0 },
      { name: 'Bo', state: 'no_number' },
      { name: 'Cy', state: 'unconfirmed' },
    ],
  });
  await ask(w);
  expect((await run(w, 'get_number_campaign')).open[0].times).toBe(0);

  await run(w, 'start_number_campaign');
  await ask(w, null);
  expect((await run(w, 'get_number_campaign')).open[0].times).toBe(0);
  await ask(w);
  await ask(w);
  const jobs = await sql.rows<{ name: string }>(
    "select job_name as name from outbox where job_name = 'send_number_request'",
  );
  expect(jobs).toHaveLength(3);
  const asked = await run(w, 'get_number_campaign');
  expect(asked.open.map(({ times }: { times: number }) => times)).toEqual([1, 1, 1]);
  expect(Date.parse(asked.open[0].nextAt) - Date.parse(asked.open[0].askedAt)).toBe(3 * 86_400_000);

  for (let days = 0; days < 30; days += 3) {
    w.clock.advance({ hours: 72 });
    await ask(w);
  }
  const often = await run(w, 'get_number_campaign');
  expect(often.open.map(({ times, nextAt }: { times: number; nextAt: unknown }) => [times, nextAt])).toEqual([
    [5, null],
    [5, null],
    [5, null],
  ]);

  const { notifications } = storesOf(w.context.db.session());
  const [sent] = await notifications.insert(
    [
      {
        orgId: w.orgId,
        incidentId: null,
        stepIndex: null,
        kind: 'test',
        userId: ada!.userId,
        channel: 'sms',
        address: ada!.phone,
        status: 'queued',
        reason: null,
      },
    ],
    now(),
  );
  const arrived = async (channel: string, address: string, providerId: string | null) =>
    await sql.run(
      "update notifications set status = 'delivered', released_at = $2, channel = $3, address = $4, provider_id = $5 where id = $1",
      [sent, now(), channel, address, providerId],
    );
  const { simulatedIds } = w.context.actions.installation;
  for (const [channel, address, providerId] of [
    ['sms', ada!.phone, simulatedIds.replace('__', 'SM').replace('%', '0')],
    ['sms', '+31600000000', null],
    ['call', ada!.phone, null],
    ['email', 'ada@example.com', null],
  ] as const) {
    await arrived(channel, address, providerId);
    expect(await run(w, 'get_number_campaign'), `${channel} ${address}`).toMatchObject({ done: 0 });
  }
  await arrived('sms', ada!.phone, null);
  expect(await run(w, 'get_number_campaign')).toMatchObject({ done: 1, open: [{ name: 'Bo' }, { name: 'Cy' }] });

  await run(w, 'stop_number_campaign');
  await run(w, 'stop_number_campaign');
  expect(await run(w, 'get_number_campaign')).toMatchObject({ since: null, done: 1 });
});

test('a campaign is of one organization', async () => {
  const w = await world();
  const other = await w.forOrganization('Other');
  await givenTeam(other, ['Dee']);
  await run(w, 'start_number_campaign');
  await ask(w);
  expect((await run(other, 'get_number_campaign')).open).toMatchObject([{ name: 'Dee', times: 0 }]);
  expect((await run(w, 'get_number_campaign')).people).toBe(0);
});
