import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { searchInput } from '#actions/list_page.ts';
import { IdText } from '#actions/fields.ts';
import { LEVELS } from '#modules/exceptions/decide/level.ts';
import { OWNED_BY, readOwningTeams } from '#modules/teams/read_teams.ts';
import type { IncidentFilter } from '#modules/incidents/store/incident_search.ts';

/** Filters of the console's lists and counts of incidents. */
export const IncidentFilterFields = {
  serviceId: Type.Optional(IdText),
  ruleId: Type.Optional(Type.String({ description: 'that this rule has opened, or that stand for it among others' })),
  severity: Type.Optional(Type.Enum([...LEVELS])),
  ownedBy: OWNED_BY,
  text: searchInput('part of the title, of #number or of the name of the service'),
};

/** Throws `not_found` for a team that is not there. */
export async function toIncidentFilter(
  { serviceId, ruleId, severity, ownedBy, text }: Static<ReturnType<typeof Type.Object<typeof IncidentFilterFields>>>,
  context: ActionContext,
): Promise<IncidentFilter> {
  const ownedByTeams = await readOwningTeams(ownedBy, context);
  return { serviceId, ruleId, severity, ownedByTeams, text: text?.trim() === '' ? undefined : text?.trim() };
}
