import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT, IdText, nullable, Timestamp } from '#actions/fields.ts';
import { API_PATHS } from '#kernel/api_paths.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import { PROVISIONED_ROLES } from '#modules/provisioning/decide/provisioned_role.ts';

const GROUPS_MAX = 1_000;

export const ProvisionedGroupView = Type.Object({
  groupId: IdText,
  displayName: Type.String(),
  members: Type.Integer({ minimum: 0 }),
  teamId: nullable(IdText),
  role: nullable(Type.Enum([...PROVISIONED_ROLES])),
});

export const getProvisioning = defineAction({
  name: 'get_provisioning',
  consoleOnly: true,
  summary:
    'Get how the identity provider of the organization brings people in: its address, its token, its groups and what they are mapped to.',
  permission: 'organization:manage',
  effect: 'read',
  input: Type.Object({}, STRICT),
  result: Type.Object({
    baseUrl: Type.String({ description: 'address to give to the identity provider' }),
    token: nullable(
      Type.Object({
        hint: Type.String({ description: 'how the token begins' }),
        createdAt: Timestamp,
        createdBy: nullable(Type.String()),
        lastUsedAt: nullable(Timestamp),
      }),
    ),
    defaultRole: Type.Enum([...PROVISIONED_ROLES]),
    groups: Type.Array(ProvisionedGroupView),
    stillNamed: Type.Array(
      Type.Object({ userId: IdText, name: Type.String(), scheduleId: IdText, scheduleName: Type.String() }),
      { description: 'people who were deactivated and whom schedules still name; at most 200' },
    ),
  }),
  example: {},
  async handle(_input, { caller: { orgId }, stores, baseUrl, now }) {
    const token = await stores.provisioning.findToken(orgId);
    const groups = await stores.scimGroups.list(orgId, null, { sorting: null, offset: 0, limit: GROUPS_MAX });
    return {
      baseUrl: `${baseUrl}${API_PATHS.scim}`,
      token: token && {
        hint: token.hint,
        createdAt: toTimestamp(token.createdAt),
        createdBy: token.createdBy,
        lastUsedAt: toTimestampOrNull(token.lastUsedAt),
      },
      defaultRole: await stores.provisioning.findProvisionedRole(orgId),
      groups: groups.map(({ id, displayName, memberCount, teamId, role }) => {
        return { groupId: id, displayName, members: memberCount, teamId, role };
      }),
      stillNamed: await stores.provisioning.listStillNamed(orgId, now),
    };
  },
});
