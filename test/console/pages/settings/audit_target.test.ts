import { expect, test } from 'vitest';

import { fieldText, ownerOf, targetText, withNames } from '#console/pages/settings/audit_target.ts';

const NAMES = new Map([
  ['user_1', 'Bram'],
  ['service_1', 'checkout'],
]);
const nameOf = (id: string) => NAMES.get(id);
const textOf = (target: string | null, before: object | null, after: object | null) =>
  targetText({ target, before, after }, nameOf);

test('what an entry is about is called by its name, also when it was deleted', () => {
  expect(textOf('team_1', null, { name: 'Platform' })).toBe('Platform');
  expect(textOf('team_1', { name: 'Platform' }, null)).toBe('Platform');
  expect(textOf('service_1', { ingestionKey: 'revoked' }, { ingestionKey: 'issued' })).toBe('checkout');
  expect(textOf('subscription_1', null, { label: 'Chrome on Linux' })).toBe('Chrome on Linux');
  expect(textOf(null, null, null)).toBe('');
});

test('what has no name is called by its kind and by whose it is, not by its id', () => {
  expect(textOf('member_1', null, { memberId: 'member_1', userId: 'user_1' })).toBe('team membership of Bram');
  expect(textOf('override_1', { overrideId: 'override_1', userId: 'user_1' }, null)).toBe('override of Bram');
  expect(textOf('member_1', null, { userId: 'user_2' })).toBe('team membership');
  expect(textOf('session_1', null, { live: true })).toBe('session');
  expect(textOf('unheard_of_1', null, null)).toBe('unheard_of_1');
  expect(ownerOf({ target: 'member_1', before: null, after: { userId: 'user_1' } })).toBe('user_1');
  expect(ownerOf({ target: 'member_1', before: null, after: null })).toBeNull();
});

test('fields and ids in details are said in words', () => {
  expect(fieldText('serviceId')).toBe('Service');
  expect(fieldText('createdBy')).toBe('Created by');
  expect(fieldText('group_ids')).toBe('Group');
  expect(fieldText('id')).toBe('Id');
  const id = 'user_01k9z7c9d0e1f2g3h4j5k6m7np';
  expect(withNames(`["${id}","team_1"]`, (asked) => (asked === id ? 'Bram' : undefined))).toBe('["Bram","team_1"]');
});
