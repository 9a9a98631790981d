import type { Id } from '#kernel/ids.ts';
import { withoutLinks } from '#notify/texts/without_links.ts';
import type { Stores } from '#modules/stores.ts';

/** Answered incidents of one organization. */
interface AnsweredIncidents {
  readonly orgId: Id<'org'>;
  readonly incidentIds: readonly Id<'incident'>[];
}

const NAME_LENGTH_MAX = 40;
const NAMED_MAX = 3;

/** Names what was answered: "(checkout, Acme)" for one incident; for several, their organizations if they differ. */
export async function answeredAbout(
  { people, incidents }: Pick<Stores, 'people' | 'incidents'>,
  answered: readonly AnsweredIncidents[],
): Promise<string> {
  const orgIds = [...new Set(answered.map(({ orgId }) => orgId))].slice(0, NAMED_MAX);
  const organizations = await Promise.all(orgIds.map((orgId) => people.findOrganization(orgId)));
  const names = organizations.flatMap((organization) => (organization === null ? [] : [organization.name]));
  const [first] = answered;
  const ids = new Set(answered.flatMap(({ incidentIds }) => incidentIds));
  if (first !== undefined && ids.size === 1) {
    const [incident] = (await incidents.findAll(first.orgId, [...ids])).values();
    if (incident !== undefined) names.unshift(incident.serviceName);
  }
  return names.length < 2 ? '' : ` (${names.map(shown).join(', ')})`;
}

function shown(name: string): string {
  return withoutLinks(name.slice(0, NAME_LENGTH_MAX).toWellFormed());
}
