import { defaultStackParser, makeNodeTransport, NodeClient } from '@sentry/node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { resolveInRelease } from '#modules/exceptions/operations/statuses.ts';
import { compareReleases, listReleases } from '#modules/releases/operations/releases.ts';
import { type LiveWorld, liveWorld } from '#test/live/live_world.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';

let w: LiveWorld;
beforeAll(async () => {
  w = await liveWorld({ keepOpen: true });
});
afterAll(() => w.close());

function refundOrder(): never {
  throw new RangeError('cannot refund an order twice');
}

function countItems(): never {
  throw new TypeError('beans cannot be counted');
}

/** Three releases, one after the other, as teams name them. */
const RELEASES = [
  ['v9', 'v10', 'v12'],
  ['20231231', '20240102', '20240102.2'],
  ['1.2.3.4.5', '1.2.3.4.10', '1.2.3.5.0'],
] as const;

describe('releases of a real client', () => {
  test.each(RELEASES)('%s, %s and %s are ordered, compared and bring exceptions back', async (...releases) => {
    const { serviceId, dsn } = await w.given.service();
    const caller = memberCaller(w.orgId, w.owner.userId, 'editor');
    const report = async (release: string, ...works: readonly (() => never)[]): Promise<void> => {
      const client = new NodeClient({
        dsn: w.reachable(dsn),
        release,
        integrations: [],
        transport: makeNodeTransport,
        stackParser: defaultStackParser,
      });
      for (const work of works) {
        try {
          work();
        } catch (error) {
          client.captureException(error);
        }
      }
      await client.close(5_000);
      await w.settle();
    };
    const groups = async (): Promise<Map<string, { groupId: string; status: string }>> => {
      const listed = await w.expectOk('list_exception_groups', { serviceId });
      return new Map(listed.groups.map((group: { title: string }) => [group.title.replace(/:.*/, ''), group]));
    };
    const statusOf = async (title: string) => (await groups()).get(title)?.status;
    const [first, second, third] = releases;

    await report(first, refundOrder, refundOrder, countItems);
    const refund = (await groups()).get('RangeError')!.groupId;
    // A single event could name any release; two make it known.
    await report(second, refundOrder, refundOrder);
    // In the last release that it was seen in: an older one does not bring it back.
    await w.expectOk('set_exception_status', { groupId: refund, status: 'resolved' });
    await report(first, refundOrder);
    expect(await statusOf('RangeError')).toBe('resolved');
    // In the one after all that are known.
    await runOperation(w, resolveInRelease, caller, { groupIds: [refund] });
    await report(second, refundOrder);
    expect(await statusOf('RangeError')).toBe('resolved');
    await report(third, refundOrder, countItems);
    expect(await statusOf('RangeError')).toBe('unresolved');

    const group = await w.expectOk('get_exception_group', { groupId: refund });
    expect(group.triage).toMatchObject({ isRegression: true, releases: { first, last: third } });
    expect(group.firstBadRelease).toBe(third);
    const counts = group.byRelease.map(({ release, eventCount }: Record<string, unknown>) => [release, eventCount]);
    expect(new Map(counts)).toEqual(
      new Map([
        [first, 3],
        [second, 3],
        [third, 1],
      ]),
    );
    const compared = await runOperation(w, compareReleases, caller, { serviceId, before: first, after: third });
    expect(compared).toMatchObject({
      before: { newGroups: 2 },
      after: { newGroups: 0, regressedGroups: 1 },
      groupsTotal: 2,
    });
    const byTitle = compared.groups.map(({ title, before, after, news }: Record<string, unknown>) => [
      title,
      before,
      after,
      news,
    ]);
    expect(byTitle.toSorted()).toEqual([
      ['RangeError: cannot refund an order twice', 3, 1, 'regressed'],
      ['TypeError: beans cannot be counted', 1, 1, null],
    ]);
    const listed = await runOperation(w, listReleases, caller, { serviceId });
    const listedCounts = listed.releases.map(({ release, events, newGroups }: Record<string, unknown>) => [
      release,
      events,
      newGroups,
    ]);
    expect(new Map(listedCounts.map(([release, ...rest]: unknown[]) => [release, rest]))).toEqual(
      new Map([
        [first, [4, 2]],
        [second, [3, 0]],
        [third, [2, 0]],
      ]),
    );
  });
});
