import { type Static, Type } from 'typebox';

import { searchInput } from '#actions/list_page.ts';
import { IdText } from '#actions/fields.ts';
import { LEVELS } from '#modules/exceptions/decide/level.ts';
import type { IncidentFilter } from '#modules/incidents/store/incident_search.ts';

/** Filters of the console's lists and counts of incidents. */
export const IncidentFilterFields = {
  serviceId: Type.Optional(IdText),
  ruleId: Type.Optional(Type.String({ description: 'that this rule has opened, or that stand for it among others' })),
  severity: Type.Optional(Type.Enum([...LEVELS])),
  text: searchInput('part of the title, of #number or of the name of the service'),
};

export function toIncidentFilter({
  serviceId,
  ruleId,
  severity,
  text,
}: Static<ReturnType<typeof Type.Object<typeof IncidentFilterFields>>>): IncidentFilter {
  return { serviceId, ruleId, severity, text: text?.trim() === '' ? undefined : text?.trim() };
}
