import { expect, onTestFinished, test } from 'vitest';

import { type Browser, givenPerson, givePassword, signedIn } from '#test/kit/browser.ts';
import { type World, world } from '#test/kit/world.ts';

interface Stream {
  readonly changes: { topic: string; id: string | null }[];
  readonly ended: Promise<void>;
  /** Waits until the stream has told this. */
  until(isTold: (change: { topic: string; id: string | null }) => boolean): Promise<void>;
}

async function listen(w: World, browser: Browser, orgId: string = w.orgId): Promise<Stream> {
  const address = w.app.server.listening ? serverUrl(w) : await w.app.listen({ port: 0, host: '127.0.0.1' });
  const gone = new AbortController();
  onTestFinished(() => gone.abort());
  const response = await fetch(`${address}/api/console/organizations/${orgId}/events`, {
    headers: { cookie: browser.cookie ?? '' },
    signal: gone.signal,
  });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  const changes: Stream['changes'] = [];
  let wake = (): void => {};
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
    ended: read().catch(() => {}),
    async until(isTold) {
      while (!changes.some(isTold)) {
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

test('whoever listens is told what changes in their organization, and in no other', async () => {
  const w = await world();
  const { email } = await givenPerson(w, { role: 'viewer' });
  await w.expectOk('create_team', { name: 'Before' });
  const other = await w.given.organization('Other');
  const { email: stranger } = await givenPerson(w, { orgId: other.orgId });
  const here = await listen(w, await signedIn(w, email));
  const there = await listen(w, await signedIn(w, stranger), other.orgId);
  const { teamId } = await w.expectOk('create_team', { name: 'Platform' });
  await here.until(({ id }) => id === teamId);
  const { serviceId } = await w.given.service({ key: other.orgKey });
  await there.until(({ id }) => id === serviceId);
  expect(here.changes).toEqual([{ topic: 'teams', id: teamId }]);
  expect(there.changes).toEqual([{ topic: 'services', id: serviceId }]);
});

test('a stream ends with its session, and with the membership', async () => {
  const w = await world();
  await givePassword(w, w.owner.userId);
  const olga = await signedIn(w, w.owner.email);
  const { email, userId } = await givenPerson(w, { role: 'viewer' });
  const [first, second] = [await signedIn(w, email), await signedIn(w, email)];
  const [ending, leaving, staying] = [await listen(w, first), await listen(w, second), await listen(w, olga)];
  await first.delete('/session');
  await ending.ended;
  await olga.post(`/organizations/${w.orgId}/actions/remove_member`, { userId: userId });
  await leaving.ended;
  const { teamId } = await w.expectOk('create_team', { name: 'Platform' });
  await staying.until(({ id }) => id === teamId);
  expect([ending, leaving].flatMap(({ changes }) => changes.map(({ id }) => id))).not.toContain(teamId);
});

test('closing the server ends every stream', async () => {
  const w = await world();
  const { email } = await givenPerson(w);
  const stream = await listen(w, await signedIn(w, email));
  await w.app.close();
  await stream.ended;
  expect(w.app.server.listening).toBe(false);
});
