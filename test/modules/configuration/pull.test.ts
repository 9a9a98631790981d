import { expect, test } from 'vitest';
import { parse } from 'yaml';

import { operatorIn } from '#actions/operator.ts';
import { applyConfiguration } from '#modules/configuration/apply_plan.ts';
import { pullConfiguration } from '#modules/configuration/pull_configuration.ts';
import { readPlan } from '#modules/configuration/read_plan.ts';
import { fileWorld } from '#test/kit/world.ts';

const shared = await fileWorld();

const FILE = `
version: 1
services:
  - { key: checkout, name: checkout, capabilities: [oncall, metrics] }
rules:
  - { key: errors, service: checkout, name: Errors, kind: exception, config: {} }
maintenance:
  - { key: of-service, name: Of the service, service: checkout, timezone: UTC, startsAt: 2031-02-06T02:00, endsAt: 2031-02-06T04:00 }
  - { key: of-rule, name: Of the rule, rule: errors, timezone: UTC, startsAt: 2031-02-06T02:00, endsAt: 2031-02-06T04:00 }
`;

test('leaves out what goes with a service that was just deleted', async () => {
  const w = await shared.forOrganization();
  const { actions } = w.context;
  const caller = operatorIn(w.orgId);
  const request = { text: FILE, fileName: 'tocsin.yaml', prune: false };
  await applyConfiguration(actions, caller, { requestId: 'req_test', address: null }, request);
  const [service] = (await w.expectOk('list_services', {})).services;
  await w.expectOk('delete_service', { serviceId: service.serviceId });
  const text = await pullConfiguration(actions, caller);
  expect(parse(text)).toMatchObject({ services: [], rules: [], maintenance: [] });
  expect((await readPlan(actions, caller, { ...request, text })).plan.changes).toEqual([]);
});
