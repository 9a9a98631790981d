import { expect, test } from 'vitest';

import { Room } from '#modules/provisioning/provisioning_unit.ts';
import { readPath } from '#modules/provisioning/decide/patch_operations.ts';
import { project, readProjection } from '#modules/provisioning/decide/projection.ts';
import { roleByGroups } from '#modules/provisioning/decide/provisioned_role.ts';
import { parseFilter, requiredValue } from '#modules/provisioning/decide/scim_filter.ts';
import { readGroupPatch } from '#modules/provisioning/decide/scim_group.ts';
import { nameOf, patchUser, readUser, type UserState } from '#modules/provisioning/decide/scim_user.ts';

const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
const CORE = 'urn:ietf:params:scim:schemas:core:2.0:User';

const ANNA: UserState = {
  userName: 'anna@example.com',
  externalId: null,
  isActive: true,
  email: 'anna@example.com',
  profile: { displayName: null, formatted: 'Anna', givenName: null, familyName: null },
};

const patched = (...Operations: object[]) => patchUser(ANNA, { schemas: [PATCH], Operations });
const refused = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    return String((error as { scimType?: string }).scimType);
  }
  return 'taken';
};

test('a user is read in any letter case, with the address of a primary, work or only mail', () => {
  const read = readUser({
    USERNAME: ' anna ',
    Active: 'False',
    name: { givenName: 'Anna', FamilyName: 'Berg' },
    emails: [
      { type: 'home', value: 'home@example.com' },
      { type: 'WORK', value: 'anna@example.com' },
    ],
    password: 'never stored',
    'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { department: 'Payments' },
  });
  expect(read).toMatchObject({ userName: 'anna', isActive: false, email: 'anna@example.com' });
  expect(nameOf(read)).toBe('Anna Berg');
  expect(JSON.stringify(read)).not.toContain('never stored');
});

test.each([
  [[], 'invalidSyntax'],
  [{}, 'invalidValue'],
  [{ userName: 7 }, 'invalidValue'],
  [{ userName: 'a\u0000b' }, 'invalidValue'],
  [{ userName: 'a'.repeat(400) }, 'invalidValue'],
  [{ userName: 'a', active: 'perhaps' }, 'invalidValue'],
  [{ userName: 'a', emails: 'a@example.com' }, 'invalidValue'],
  [{ userName: 'a', emails: [{ value: 'no address' }] }, 'invalidValue'],
])('the body %j is refused as %s', (body, scimType) => {
  expect(refused(() => readUser(body))).toBe(scimType);
});

// As https://learn.microsoft.com/entra/identity/app-provisioning/use-scim-to-provision-users-and-groups shows them.
test('operations of Entra ID change a user', () => {
  expect(patched({ op: 'Replace', path: 'active', value: 'False' }).isActive).toBe(false);
  expect(patched({ op: 'Add', path: 'emails[type eq "work"].value', value: 'a@example.com' }).email).toBe(
    'a@example.com',
  );
  expect(patched({ op: 'Replace', path: 'name.familyName', value: 'Berg' }).profile.familyName).toBe('Berg');
  expect(patched({ op: 'Add', value: { 'name.givenName': 'Ann', externalId: 'e-1' } })).toMatchObject({
    externalId: 'e-1',
    profile: { givenName: 'Ann' },
  });
  expect(patched({ op: 'replace', path: `${CORE}:displayName`, value: 'Ann' }).profile.displayName).toBe('Ann');
  const extension = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department';
  expect(patched({ op: 'Add', path: extension, value: 'Payments' })).toEqual(ANNA);
});

// As https://developer.okta.com/docs/api/openapi/okta-scim/guides/scim-20/ shows them.
test('operations of Okta change a user', () => {
  expect(patched({ op: 'replace', value: { active: false } }).isActive).toBe(false);
  expect(patched({ op: 'replace', value: { [CORE]: { userName: 'ann' } } }).userName).toBe('ann');
});

test('what an operation names of addresses other than that of work is left alone, and none is ever taken away', () => {
  expect(patched({ op: 'add', path: 'emails[type eq "home"].value', value: 'home@example.com' })).toEqual(ANNA);
  expect(refused(() => patched({ op: 'remove', path: 'emails' }))).toBe('mutability');
  expect(refused(() => patched({ op: 'remove', path: 'userName' }))).toBe('invalidValue');
});

test.each([
  ['no operations', { schemas: [PATCH], Operations: [] }, 'invalidSyntax'],
  ['no schema', { Operations: [{ op: 'add', value: {} }] }, 'invalidSyntax'],
  ['another op', { schemas: [PATCH], Operations: [{ op: 'move', path: 'active' }] }, 'invalidSyntax'],
  ['remove of everything', { schemas: [PATCH], Operations: [{ op: 'remove' }] }, 'noTarget'],
  ['a broken path', { schemas: [PATCH], Operations: [{ op: 'add', path: 'emails[', value: 1 }] }, 'invalidPath'],
  ['a broken filter', { schemas: [PATCH], Operations: [{ op: 'add', path: 'emails[x]', value: 1 }] }, 'invalidFilter'],
  [
    'very many',
    { schemas: [PATCH], Operations: Array.from({ length: 1_001 }, () => ({ op: 'add', path: 'active', value: true })) },
    'tooMany',
  ],
])('a PATCH with %s is refused', (_name, body, scimType) => {
  expect(refused(() => patchUser(ANNA, body))).toBe(scimType);
});

test('no path reaches beyond the attributes of a user', () => {
  for (const path of ['__proto__.isAdmin', 'name.__proto__']) {
    expect(refused(() => patched({ op: 'add', path, value: 'x' }))).toBe('invalidPath');
  }
  expect(patched({ op: 'add', path: 'constructor.prototype', value: { isAdmin: true } })).toEqual(ANNA);
  expect(({} as { isAdmin?: unknown }).isAdmin).toBeUndefined();
});

test('the members of a group are added, removed and replaced in the order of the operations', () => {
  const patch = (...Operations: object[]) => readGroupPatch({ schemas: [PATCH], Operations });
  const sets = ({ added, removed, replaced }: ReturnType<typeof patch>) => [
    [...added],
    [...removed],
    replaced === null ? null : [...replaced],
  ];
  expect(sets(patch({ op: 'Add', path: 'members', value: [{ value: 'a' }, { value: 'b' }] }))).toEqual([
    ['a', 'b'],
    [],
    null,
  ]);
  expect(sets(patch({ op: 'Remove', path: 'members', value: [{ $ref: null, value: 'a' }] }))).toEqual([
    [],
    ['a'],
    null,
  ]);
  expect(sets(patch({ op: 'remove', path: 'members[value eq "a" or value eq "b"]' }))).toEqual([[], ['a', 'b'], null]);
  expect(sets(patch({ op: 'remove', path: 'members' }))).toEqual([[], [], []]);
  expect(
    sets(
      patch(
        { op: 'replace', path: 'members', value: [{ value: 'a' }, { value: 'b' }] },
        { op: 'remove', path: 'members[value eq "a"]' },
        { op: 'add', path: 'members', value: { value: 'c' } },
      ),
    ),
  ).toEqual([[], [], ['b', 'c']]);
  const last = patch(
    { op: 'add', path: 'members', value: [{ value: 'a' }] },
    { op: 'remove', path: 'members[value eq "a"]' },
  );
  expect(sets(last)).toEqual([[], ['a'], null]);
  expect(patch({ op: 'replace', value: { id: 'x', displayName: 'SRE' } }).displayName).toBe('SRE');
  expect(refused(() => patch({ op: 'remove', path: 'members[display eq "a"]' }))).toBe('invalidFilter');
});

test('a filter is bounded, and what it requires is found', () => {
  const both = parseFilter('externalId eq "7" and (active eq true or userName sw "a")');
  expect(requiredValue(both, ['externalid'])).toBe('7');
  expect(requiredValue(both, ['username'])).toBeNull();
  expect(requiredValue(parseFilter('not (userName eq "a")'), ['username'])).toBeNull();
  for (const text of [
    '',
    'userName',
    'userName eq',
    `userName eq "${'a'.repeat(2_000)}"`,
    `a eq "${'\n'.repeat(40)}`,
  ]) {
    expect(refused(() => parseFilter(text))).toBe('invalidFilter');
  }
  expect(refused(() => parseFilter(Array(21).fill('id pr').join(' or ')))).toBe('invalidFilter');
  expect(readPath('emails[type eq "work"].value')).toMatchObject({ attribute: 'emails', part: 'value' });
});

test('attributes are returned as asked for', () => {
  const user = { schemas: [CORE], id: 'u', userName: 'a', name: { formatted: 'A', givenName: 'B' }, meta: {} };
  expect(project(user, readProjection('userName,name.givenName', undefined))).toEqual({
    schemas: [CORE],
    id: 'u',
    userName: 'a',
    name: { givenName: 'B' },
    meta: {},
  });
  expect(project(user, readProjection(undefined, 'name.formatted,id'))).toEqual({ ...user, name: { givenName: 'B' } });
  expect(refused(() => readProjection('a', 'b'))).toBe('invalidValue');
});

test('the highest role of mapped groups counts, an owner stays one, and without a group the default does', () => {
  const facts = { role: 'editor', mapped: [], wasMapped: false, fallback: 'viewer' } as const;
  expect(roleByGroups(facts)).toBe('editor');
  expect(roleByGroups({ ...facts, wasMapped: true })).toBe('viewer');
  expect(roleByGroups({ ...facts, mapped: ['viewer', 'responder'] })).toBe('responder');
  expect(roleByGroups({ ...facts, role: 'owner', mapped: ['viewer'], wasMapped: true })).toBe('owner');
});

test.each([1, 7])('%i processes that count the room below a limit now and then never exceed it', async (processes) => {
  const rooms = Array.from({ length: processes }, () => new Room(500));
  let [used, counts] = [0, 0];
  const count = async (): Promise<number> => {
    counts += 1;
    return used;
  };
  for (let round = 0; round < 2_000; round += 1) {
    if (await rooms[round % processes]!.take('org', 1, count)) used += 1;
  }
  expect(used).toBe(500);
  const refused = 2_000 - used;
  expect(counts - refused).toBeLessThan(used);
  expect(await rooms[0]!.take('other', 501, async () => 0)).toBe(false);
});
