import { Type } from 'typebox';

import { type ActionContext, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText, nullable, StrictObject, Timestamp } from '#actions/fields.ts';
import { issueProvisioningToken } from '#auth/api_keys.ts';
import { API_PATHS } from '#kernel/api_paths.ts';
import { AppError, notFound } from '#kernel/errors.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import { callerUser } from '#modules/accounts/view.ts';
import { findCallerRole } from '#modules/organizations/roles.ts';
import { PROVISIONED_ROLES } from '#modules/provisioning/decide/provisioned_role.ts';
import { applyMapping } from '#modules/provisioning/groups.ts';

const GROUPS_MAX = 1_000;

const ProvisionedGroupView = Type.Object({
  groupId: IdText,
  displayName: Type.String(),
  members: Type.Integer({ minimum: 0 }),
  teamId: nullable(IdText),
  role: nullable(Type.Enum([...PROVISIONED_ROLES])),
});

export const getProvisioning = defineOperation({
  name: 'get_provisioning',
  summary:
    'Get how the identity provider of the organization brings people in: its address, its token, its groups and what they are mapped to.',
  permission: 'organization:manage',
  effect: 'read',
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

const createProvisioningToken = defineOperation({
  name: 'create_provisioning_token',
  stepUp: true,
  summary:
    'Create the token with which the identity provider of the organization brings people in. It is shown this once. The token before it ends at once.',
  permission: 'organization:manage',
  effect: 'write',
  result: Type.Object({ token: Type.String({ description: 'the secret, shown this once' }) }),
  async handle(_input, context) {
    const { caller, stores, now, record } = context;
    await requireOwner(context);
    const before = await stores.provisioning.findToken(caller.orgId);
    const { tokenId, token } = await issueProvisioningToken(stores, caller.orgId, callerUser(caller), now);
    record({ target: tokenId, before: before && { tokenId: before.apiKeyId }, after: { tokenId } });
    return { token };
  },
});

const revokeProvisioningToken = defineOperation({
  name: 'revoke_provisioning_token',
  summary: 'Revoke the token of the identity provider. Its next request is refused. Members, teams and roles stay.',
  permission: 'organization:manage',
  effect: 'delete',
  result: Type.Object({ deleted: Type.Literal(true) }),
  refusals: ['not_found'],
  async handle(_input, context) {
    const { caller, stores, now, record } = context;
    await requireOwner(context);
    const token = await stores.provisioning.findToken(caller.orgId);
    if (token === null) throw new AppError('not_found', 'the organization has no provisioning token');
    await stores.provisioning.revokeToken(caller.orgId, now);
    record({ target: token.apiKeyId, before: { tokenId: token.apiKeyId }, after: null });
    return { deleted: true as const };
  },
});

const RoleField = Type.Enum([...PROVISIONED_ROLES]);

const setProvisionedRole = defineOperation({
  name: 'set_provisioned_role',
  stepUp: true,
  summary: 'Set the role of people whom the identity provider brings in and whom no mapped group gives another.',
  permission: 'organization:manage',
  effect: 'write',
  input: StrictObject({ role: RoleField }),
  result: Type.Object({ role: RoleField }),
  example: { role: 'responder' },
  async handle({ role }, context) {
    const { caller, stores, record } = context;
    await requireOwner(context);
    const before = await stores.provisioning.findProvisionedRole(caller.orgId);
    await stores.provisioning.setProvisionedRole(caller.orgId, role);
    record({ target: caller.orgId, before: { provisionedRole: before }, after: { provisionedRole: role } });
    return { role };
  },
});

const mapProvisionedGroup = defineOperation({
  name: 'map_provisioned_group',
  stepUp: true,
  summary:
    'Map a group of the identity provider to a team, to a role, to both or to nothing. Its people join the team and get the role at once; of several groups the highest role counts. Owners keep their role, and schedules stay as they are.',
  permission: 'organization:manage',
  effect: 'write',
  input: StrictObject({ groupId: IdText, teamId: nullable(IdText), role: nullable(Type.Enum([...PROVISIONED_ROLES])) }),
  result: ProvisionedGroupView,
  example: { groupId: IDS.provisionedGroupId, role: 'responder' },
  async handle({ groupId, teamId, role }, context) {
    const { caller, stores, record } = context;
    await requireOwner(context);
    const group = await stores.scimGroups.lock(caller.orgId, groupId);
    if (group === null) throw notFound('groupId', 'provisioned group');
    const team = teamId === null ? null : await stores.teams.get(caller.orgId, teamId);
    const mapping = { teamId: team === null ? null : team.id, role };
    await stores.scimGroups.save({ ...group, ...mapping, version: group.version, updatedAt: group.updatedAt });
    const effects = await applyMapping(context, caller.orgId, group, mapping);
    record({
      target: group.id,
      before: { displayName: group.displayName, teamId: group.teamId, role: group.role },
      after: {
        displayName: group.displayName,
        ...mapping,
        ...(effects.joinedTeam.length > 0 && { joinedTeam: effects.joinedTeam.length }),
        ...(effects.leftTeam.length > 0 && { leftTeam: effects.leftTeam.length }),
      },
    });
    for (const { target, before, after } of effects.roles) record({ target, before, after });
    const members = await stores.scimGroups.countMembers(group.id);
    return { groupId: group.id, displayName: group.displayName, members, ...mapping };
  },
});

/** Operations of the console on the identity provider of an organization. */
export const PROVISIONING_OPERATIONS = [
  getProvisioning,
  createProvisioningToken,
  revokeProvisioningToken,
  setProvisionedRole,
  mapProvisionedGroup,
] as const;

/** Throws `forbidden` unless the caller is an owner, once everybody who was changing roles has finished. */
async function requireOwner({ stores, caller }: Pick<ActionContext, 'stores' | 'caller'>): Promise<void> {
  await stores.people.lockMemberships(caller.orgId);
  if ((await findCallerRole(stores, caller)) === 'owner') return;
  throw new AppError('forbidden', 'only an owner decides how the identity provider of the organization acts');
}
