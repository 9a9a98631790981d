import { beforeAll, expect, test } from 'vitest';

import { listChartMarks } from '#modules/metrics/operations/list_chart_marks.ts';
import { compareReleases, listReleases, recordDeploy } from '#modules/releases/operations/releases.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import type { Id } from '#kernel/ids.ts';
import { runGroupExceptions } from '#test/kit/ingest_jobs.ts';
import { exceptionEvent } from '#test/kit/exception_event.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { fileWorld } from '#test/kit/world.ts';
import { workerRuntime } from '#workers/worker_role.ts';

let owner: Caller;
let serviceId: Id<'service'>;
const w = await fileWorld();
beforeAll(async () => {
  owner = memberCaller(w.orgId, w.owner.userId, 'owner');
  ({ serviceId } = await w.given.service());
  const now = w.clock.now();
  const runtime = workerRuntime(w.context);
  const failure = (release: string, message: string, user: string, hoursAgo: number) =>
    exceptionEvent(now.subtract({ hours: hoursAgo }), {
      release,
      message,
      exceptions: [],
      user: { id: user, email: null, username: null, ip: null },
    });
  await runGroupExceptions(runtime, { orgId: w.orgId, serviceId }, [
    failure('1.0.0', 'disk full', 'a', 5),
    failure('1.0.0', 'disk full', 'b', 4),
    failure('1.0.0', 'no route', 'a', 4),
    failure('1.1.0', 'disk full', 'a', 2),
    failure('1.1.0', 'bad token', 'a', 1),
  ]);
});

test('releases are listed with true counts, the last seen first', async () => {
  const { releases, total } = await runOperation(w, listReleases, owner, { serviceId });
  expect(total).toBe(2);
  expect(releases).toMatchObject([
    { release: '1.1.0', events: 2, users: 1, groups: 2, newGroups: 1, resolvedGroups: 0, deploy: null },
    { release: '1.0.0', events: 3, users: 2, groups: 2, newGroups: 2, resolvedGroups: 0 },
  ]);
  const found = await runOperation(w, listReleases, owner, { serviceId, search: '1.0.0', limit: 1 });
  expect([found.total, found.releases[0].release]).toEqual([1, '1.0.0']);
  const next = await runOperation(w, listReleases, owner, { serviceId, offset: 1, limit: 1 });
  expect([next.total, next.releases[0].release]).toEqual([2, '1.0.0']);
});

test('two releases are compared by the events of each group', async () => {
  const compared = await runOperation(w, compareReleases, owner, { serviceId, before: '1.0.0', after: '1.1.0' });
  const byTitle = compared.groups.map(({ title, before, after }: Record<string, unknown>) => [title, before, after]);
  expect(byTitle.toSorted()).toEqual([
    ['bad token', 0, 1],
    ['disk full', 2, 1],
    ['no route', 1, 0],
  ]);
  expect(compared.groupsTotal).toBe(3);
});

test('a deploy is recorded once with its row in the audit log, and shows in charts and in the list', async () => {
  const [from, to] = [w.clock.now().subtract({ hours: 1 }), w.clock.now().add({ hours: 1 })];
  const deploy = { serviceId, release: '1.2.0', environment: 'production' };
  const { deployId, at } = await runOperation(w, recordDeploy, owner, deploy);
  const period = { serviceIds: [serviceId], from: from.toString(), to: to.toString() };
  const marks = await runOperation(w, listChartMarks, owner, period);
  expect(marks.deploys).toEqual([{ release: '1.2.0', environment: 'production', serviceId, at }]);
  const { releases } = await runOperation(w, listReleases, owner, { serviceId });
  expect(releases[0]).toMatchObject({ release: '1.2.0', events: 0, deploy: { environment: 'production', at } });
  const rows = await w.context.db.sql.rows<{ action: string; target: string }>(
    `select action, target from audit_log where target in ($1, $2) order by action, target`,
    [deployId, `${serviceId} 1.2.0`],
  );
  expect(rows.map(({ target }) => target)).toEqual(expect.arrayContaining([deployId, `${serviceId} 1.2.0`]));
  const viewer = memberCaller(w.orgId, w.owner.userId, 'viewer');
  await expect(runOperation(w, recordDeploy, viewer, deploy)).rejects.toMatchObject({ code: 'forbidden' });
});
