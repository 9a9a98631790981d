import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { CLOSED, IdText } from '#actions/fields.ts';
import { CHANNELS } from '#core/oncall/channel.ts';
import { decideRecipients } from '#core/oncall/recipients.ts';
import { readContacts } from '#incidents/read_contacts.ts';

const TEAMS_MAX = 1_000;
const PEOPLE_MAX = 1_000;

/** Whom an incident can be given to. */
export const listAssignees = defineAction({
  name: 'list_assignees',
  consoleOnly: true,
  summary:
    'List the escalation policies and the people that an incident can be given to, with the channels by which each ' +
    'person would be paged now.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object({ incidentId: IdText }, CLOSED),
  result: Type.Object({
    policies: Type.Array(
      Type.Object({ policyId: IdText, name: Type.String(), teamName: Type.String(), stepCount: Type.Integer() }),
    ),
    people: Type.Array(
      Type.Object({ userId: IdText, name: Type.String(), channels: Type.Array(Type.Enum([...CHANNELS])) }),
    ),
  }),
  example: { incidentId: EXAMPLE_IDS.incidentId },
  async handle({ incidentId }, { caller, stores, now, configuredChannels }) {
    const incident = await stores.incidents.get(caller.orgId, incidentId, now);
    const teams = new Map((await stores.teams.list(caller.orgId, TEAMS_MAX)).map((team) => [team.id, team.name]));
    const policies = await stores.policies.listOfTeams(caller.orgId, [...teams.keys()]);
    const members = await stores.people.listMembers(caller.orgId, PEOPLE_MAX);
    const contacts = await readContacts(
      stores,
      incident,
      members.map(({ userId }) => userId),
    );
    return {
      policies: policies
        .filter(({ steps }) => steps.length > 0)
        .map(({ id, name, teamId, steps }) => ({
          policyId: id,
          name,
          teamName: teams.get(teamId) ?? '',
          stepCount: steps.length,
        })),
      people: members.map(({ userId, name }) => {
        const step = { afterMinutes: 0, channels: CHANNELS, targetUserIds: [userId], useSchedule: false };
        const { pages } = decideRecipients(step, [], contacts, configuredChannels);
        return { userId, name, channels: pages.filter(({ kind }) => kind === 'notify').map(({ channel }) => channel) };
      }),
    };
  },
});
