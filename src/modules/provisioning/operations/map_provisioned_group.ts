import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { STRICT, IdText, nullable } from '#actions/fields.ts';
import { notFound } from '#kernel/errors.ts';
import { PROVISIONED_ROLES } from '#modules/provisioning/decide/provisioned_role.ts';
import { applyMapping } from '#modules/provisioning/group_effects.ts';
import { ProvisionedGroupView } from '#modules/provisioning/operations/get_provisioning.ts';
import { requireOwner } from '#modules/provisioning/require_owner.ts';

export const mapProvisionedGroup = defineAction({
  name: 'map_provisioned_group',
  consoleOnly: true,
  stepUp: true,
  summary:
    'Map a group of the identity provider to a team, to a role, to both or to nothing. Its people join the team and get the role at once; of several groups the highest role counts. Owners keep their role, and schedules stay as they are.',
  permission: 'organization:manage',
  effect: 'write',
  input: Type.Object(
    {
      groupId: IdText,
      teamId: nullable(IdText),
      role: nullable(Type.Enum([...PROVISIONED_ROLES])),
    },
    STRICT,
  ),
  result: ProvisionedGroupView,
  example: { groupId: IDS.provisionedGroupId, teamId: IDS.teamId, role: 'responder' },
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
