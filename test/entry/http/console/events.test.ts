import { expect, onTestFinished, test } from 'vitest';

import { LIVE_TOPICS } from '#modules/pages/decide/live_topics.ts';
import { type Browser, givenPerson, givePassword, openBrowser, signedIn } from '#test/kit/programs/browser.ts';
import { type Opened, opened } from '#test/contract/connection.ts';
import { hurry } from '#test/kit/when.ts';
import { fileWorld, type World, world } from '#test/kit/world.ts';

/** The application of the tests that neither close it nor have settings of their own; each has an organization. */
const shared = await fileWorld();

interface Change {
  readonly topic: string;
  readonly ids: readonly string[] | null;
}

interface Stream {
  readonly changes: Change[];
  readonly ended: Promise<void>;
  /** Waits until the stream has told this. */
  until(matches: (change: Change) => boolean): Promise<void>;
}

async function listen(
  w: World,
  browser: Browser,
  orgId: string = w.orgId,
  shownForMs: number | null = null,
): Promise<Stream> {
  // A process asks for changes twice a second.
  hurry();
  const address = w.app.server.listening ? serverUrl(w) : await w.app.listen({ port: 0, host: '127.0.0.1' });
  const gone = new AbortController();
  const query = shownForMs === null ? '' : `?shownForMs=${shownForMs}`;
  onTestFinished(() => gone.abort());
  const response = await fetch(`${address}/api/console/organizations/${orgId}/events${query}`, {
    headers: { cookie: browser.cookie ?? '' },
    signal: gone.signal,
  });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  const changes: Stream['changes'] = [];
  let wake = (): void => {};
  let hasEnded = false;
  const read = async (): Promise<void> => {
    let text = '';
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      const blocks = (text + chunk).split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const data = /^event: change\ndata: (.+)$/.exec(block)?.[1];
        if (data !== undefined) changes.push(JSON.parse(data) as Stream['changes'][number]);
      }
      wake();
    }
  };
  return {
    changes,
    ended: read()
      .catch(() => {})
      .finally(() => {
        hasEnded = true;
        wake();
      }),
    async until(matches) {
      while (!changes.some(matches)) {
        if (hasEnded) throw new Error('the stream has ended');
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

function serverUrl(w: World): string {
  const address = w.app.server.address();
  return typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : '';
}

const names = (id: string) => (change: Change) => change.ids?.includes(id) === true;

test('a listener gets the changes of their organization, and of no other', async () => {
  const w = await shared.forOrganization();
  const { email } = await givenPerson(w, { role: 'viewer' });
  await w.expectOk('create_team', { name: 'Before' });
  const other = await w.given.organization('Other');
  const { email: stranger } = await givenPerson(w, { orgId: other.orgId });
  const here = await listen(w, await signedIn(w, email));
  const there = await listen(w, await signedIn(w, stranger), other.orgId);
  const { teamId } = await w.expectOk('create_team', { name: 'Platform' });
  await here.until(names(teamId));
  const { serviceId } = await w.expectOk('create_service', { name: 'checkout' }, { key: other.orgKey });
  await there.until(names(serviceId));
  expect(here.changes).toEqual([{ topic: 'teams', ids: [teamId] }]);
  expect(there.changes).toEqual([{ topic: 'services', ids: [serviceId] }]);
});

test('what changed between the reading of a page and its stream is told first, to the first and to any other', async () => {
  const w = await world({ newApp: true });
  const other = await w.given.organization('Other');
  const { email } = await givenPerson(w, { role: 'viewer' });
  const browser = await signedIn(w, email);
  const { teamId } = await w.expectOk('create_team', { name: 'Platform' });
  await w.expectOk('create_service', { name: 'checkout' }, { key: other.orgKey });
  const early = await listen(w, browser, w.orgId, 50);
  await early.until(names(teamId));
  const late = await listen(w, browser, w.orgId, 50);
  await late.until(names(teamId));
  const { teamId: next } = await w.expectOk('create_team', { name: 'Payments' });
  const told: Change[] = [
    { topic: 'teams', ids: [teamId] },
    { topic: 'teams', ids: [next] },
  ];
  for (const { until, changes } of [early, late]) {
    await until(names(next));
    expect(changes.filter(({ ids }) => ids?.some((id) => id === teamId || id === next))).toEqual(told);
    expect(changes.filter(({ topic }) => topic === 'services')).toEqual([]);
  }
});

test('a page that has shown its data for over a minute is told to read everything', async () => {
  const w = await shared.forOrganization();
  const { email } = await givenPerson(w, { role: 'viewer' });
  const stream = await listen(w, await signedIn(w, email), w.orgId, 60_001);
  await stream.until(({ topic }) => topic === LIVE_TOPICS.at(-1));
  expect(stream.changes).toEqual(LIVE_TOPICS.map((topic) => ({ topic, ids: null })));
});

test('a change to a part of a team or service carries its id, also when the part is gone', async () => {
  const w = await shared.forOrganization();
  const { email } = await givenPerson(w, { role: 'viewer' });
  const { serviceId } = await w.given.service({ capabilities: [] });
  const { teamId } = await w.expectOk('create_team', { name: 'Platform' });
  const stream = await listen(w, await signedIn(w, email));
  const member = await w.expectOk('add_team_member', { teamId, userId: w.owner.userId });
  const timing = { timezone: 'UTC', rotationType: 'weekly', startAt: '2027-01-04T09:00:00Z' };
  const { scheduleId } = await w.expectOk('create_schedule', {
    teamId,
    name: 'Primary',
    ...timing,
    rotationConfig: { userIds: [w.owner.userId] },
  });
  const override = { userId: w.owner.userId, startAt: '2027-02-01T00:00:00Z', endAt: '2027-02-02T00:00:00Z' };
  await w.expectOk('create_schedule_override', { scheduleId, ...override });
  await w.expectOk('remove_team_member', { memberId: member.memberId });
  const config = { metricName: 'latency', comparator: '>', threshold: 100 };
  const rule = await w.expectOk('create_alert_rule', { serviceId, name: 'Slow', kind: 'metric_threshold', config });
  await w.expectOk('delete_alert_rule', { ruleId: rule.ruleId });
  await stream.until(names(serviceId));
  expect(new Set(stream.changes.map(({ topic, ids }) => JSON.stringify([topic, ids])))).toEqual(
    new Set([
      JSON.stringify(['rules', [rule.ruleId]]),
      JSON.stringify(['teams', [teamId]]),
      JSON.stringify(['services', [serviceId]]),
    ]),
  );
});

test('an open form hears of whoever accepts an invitation', async () => {
  const w = await shared.forOrganization();
  await givePassword(w, w.owner.userId);
  const olga = await signedIn(w, w.owner.email);
  const invited = await olga.invoke(w.orgId, 'create_invitation', { email: 'nora@example.com', role: 'responder' });
  const stream = await listen(w, olga);
  const path = `/invitations/${invited.body.result.link.split('/').at(-1)}`;
  const answer = await openBrowser(w).post(path, { name: 'Nora', password: 'amber kettle 41 orbit' });
  expect(answer.status).toBe(200);
  await stream.until(({ topic, ids }) => topic === 'teams' && ids === null);
});

test('a stream ends with its session, and with the membership', async () => {
  const w = await shared.forOrganization();
  await givePassword(w, w.owner.userId);
  const olga = await signedIn(w, w.owner.email);
  const { email, userId } = await givenPerson(w, { role: 'viewer' });
  const [first, second] = [await signedIn(w, email), await signedIn(w, email)];
  const [ending, leaving, staying] = [await listen(w, first), await listen(w, second), await listen(w, olga)];
  expect((await first.delete('/session')).status).toBeLessThan(300);
  await ending.ended;
  expect((await olga.post(`/organizations/${w.orgId}/actions/remove_member`, { userId })).status).toBe(200);
  await leaving.ended;
  // Told together with the removal, which names no team, the new one would not be named either.
  await staying.until(({ topic }) => topic === 'teams');
  const { teamId } = await w.expectOk('create_team', { name: 'Platform' });
  await staying.until(names(teamId));
  expect([ending, leaving].flatMap(({ changes }) => changes.flatMap(({ ids }) => ids))).not.toContain(teamId);
});

test('closing the server ends every stream', async () => {
  const w = await world({ newApp: true });
  const { email } = await givenPerson(w);
  const stream = await listen(w, await signedIn(w, email));
  await w.app.close();
  await stream.ended;
  expect(w.app.server.listening).toBe(false);
});

test('the stream of somebody who is signed in takes no room of strangers, and strangers do not end it', async () => {
  const w = await world({
    newApp: true,
    settings: { connectionsMax: 4, connectionsOfAddressMax: 3, headSeconds: 300 },
  });
  const { email } = await givenPerson(w, { role: 'editor' });
  const stream = await listen(w, await signedIn(w, email));
  const port = Number(new URL(serverUrl(w)).port);
  const strangers: Opened[] = [];
  for (let count = 0; count < 4; count += 1) strangers.push(await opened(port));
  // A fourth takes the place of who waits longest.
  await strangers[0]!.gone;
  expect(strangers.map(({ isGone }) => isGone)).toEqual([true, false, false, false]);

  strangers[1]!.destroy();
  await strangers[1]!.gone;
  const { teamId } = await w.expectOk('create_team', { name: 'Platform' });
  await stream.until(names(teamId));
});

test('when all connections are in use, one of a stranger is closed and no stream of somebody who is signed in', async () => {
  const w = await world({ newApp: true, settings: { connectionsMax: 3, headSeconds: 300 } });
  const { email } = await givenPerson(w, { role: 'editor' });
  const stream = await listen(w, await signedIn(w, email));
  const port = Number(new URL(serverUrl(w)).port);
  const strangers: Opened[] = [];
  for (let count = 0; count < 4; count += 1) strangers.push(await opened(port));
  await Promise.all([strangers[0]!.gone, strangers[1]!.gone]);
  expect(strangers.map(({ isGone }) => isGone)).toEqual([true, true, false, false]);
  const { teamId } = await w.expectOk('create_team', { name: 'Platform' });
  await stream.until(names(teamId));
});
