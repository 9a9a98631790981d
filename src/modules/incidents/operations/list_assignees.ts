import { Type } from 'typebox';

import { searchInput } from '#actions/list_page.ts';
import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { CHANNELS } from '#modules/contacts/decide/channel.ts';
import { decideRecipients } from '#modules/policies/decide/recipients.ts';
import { mayAnswer } from '#kernel/permissions.ts';
import { readContacts } from '#modules/incidents/paging/read_contacts.ts';

/** Limit on the results; others are found by a part of their name. */
const SHOWN_MAX = 50;

/** Lists the policies and people that an incident can be given to. */
export const listAssignees = defineAction({
  name: 'list_assignees',
  consoleOnly: true,
  summary:
    'Find the escalation policies and the people that an incident can be given to, by name, with the channels by ' +
    'which each person would be paged now; who may not answer is left out.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object(
    {
      incidentId: IdText,
      text: searchInput('part of the name of a policy, or of a name or mail address'),
    },
    STRICT,
  ),
  result: Type.Object({
    policies: Type.Array(
      Type.Object({ policyId: IdText, name: Type.String(), teamName: Type.String(), stepCount: Type.Integer() }),
      { description: `at most ${SHOWN_MAX}` },
    ),
    people: Type.Array(
      Type.Object({ userId: IdText, name: Type.String(), channels: Type.Array(Type.Enum([...CHANNELS])) }),
      { description: `at most ${SHOWN_MAX}` },
    ),
  }),
  example: { incidentId: EXAMPLE_IDS.incidentId, text: 'ann' },
  async handle({ incidentId, text }, { caller, stores, now, configuredChannels }) {
    const incident = await stores.incidents.get(caller.orgId, incidentId, now);
    const wanted = { text: text?.trim(), teamId: undefined };
    const first = { after: null, limit: SHOWN_MAX };
    const policies = await stores.policies.search(caller.orgId, wanted, first);
    const rows = await stores.teams.findAll(caller.orgId, [...new Set(policies.map(({ teamId }) => teamId))]);
    const teams = new Map(rows.map((team) => [team.id, team.name]));
    const matching = await stores.people.search(caller.orgId, { text: wanted.text }, first);
    const members = matching.filter(({ role }) => mayAnswer(role));
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
