import { expect, test } from 'vitest';

import { operatorIn } from '#actions/operator.ts';
import { applyConfiguration } from '#modules/configuration/apply_plan.ts';
import { readPlan } from '#modules/configuration/read_plan.ts';
import { fileWorld } from '#test/kit/world.ts';

const shared = await fileWorld();

const fileWith = (name: string) => `version: 1\nservices: [{ key: api, name: ${name} }]\n`;

test('tells that a key of another file stands for what that file manages', async () => {
  const w = await shared.forOrganization();
  const { actions } = w.context;
  const caller = operatorIn(w.orgId);
  const origin = { requestId: 'req_test', address: null };
  const ours = { text: fileWith('payments-api'), fileName: 'payments.yaml', prune: false };
  await applyConfiguration(actions, caller, origin, ours);
  expect((await readPlan(actions, caller, ours)).notes).toEqual([]);
  const theirs = { text: fileWith('search-api'), fileName: 'search.yaml', prune: false };
  expect((await readPlan(actions, caller, theirs)).notes).toEqual([
    'Another file manages what 1 entry stands for, and this one takes it over: the service api of payments.yaml.',
  ]);
});
