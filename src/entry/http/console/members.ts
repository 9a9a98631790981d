import { Type } from 'typebox';

import { RoleName } from '#actions/account/view.ts';
import { CLOSED, IdText } from '#actions/fields.ts';
import { changeRole, listMembers, OrganizationMemberView } from '#actions/people/members.ts';
import { inUnitOfWork } from '#storage/postgres/unit_of_work.ts';
import { consoleRoute } from '#entry/http/console/route.ts';
import { storesOf } from '#storage/postgres/stores.ts';

export const MEMBER_ROUTES = [
  consoleRoute({
    name: 'list_members',
    method: 'GET',
    path: '/organizations/:org/members',
    tag: 'Organizations',
    summary: 'List the members of the organization by name, with their teams and what may keep pages from them.',
    access: 'member',
    result: Type.Object({ members: Type.Array(OrganizationMemberView) }),
    handle: ({ house, caller }) =>
      listMembers(storesOf(house.db.session()), caller.orgId, house.actions.configuredChannels),
  }),
  consoleRoute({
    name: 'change_role',
    stepUp: true,
    method: 'PATCH',
    path: '/organizations/:org/members/:userId',
    tag: 'Organizations',
    summary: 'Give a member another role. Only an owner makes or unmakes owners, and there is always one.',
    access: 'manager',
    body: Type.Object({ role: RoleName }, CLOSED),
    result: Type.Object({ userId: IdText, role: RoleName }),
    refusals: ['conflict'],
    handle: ({ house, caller, params, body, origin }) =>
      inUnitOfWork(house.actions, (unit) => changeRole(unit, caller, params['userId'] ?? '', body.role, origin)),
  }),
];
