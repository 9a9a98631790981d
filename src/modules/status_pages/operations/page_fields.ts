import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { IdText, nullable, StrictObject } from '#actions/fields.ts';
import { type Fault, invalidInput, notFound } from '#kernel/errors.ts';
import { COMPONENTS_MAX, GROUPS_MAX, IMPACTS, SLUG_PATTERN, STAGES } from '#modules/status_pages/decide/publication.ts';
import type { NewComponent } from '#modules/status_pages/store/status_page_store.ts';

/** A text on one line, as readers of a page see it. */
const PublicLine = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, pattern: String.raw`^\S(?:[^\u0000-\u001f\u007f]*\S)?$`, description });

export const Slug = Type.String({
  pattern: SLUG_PATTERN,
  description: 'last part of the address of the page: 3 to 50 lower-case letters, digits and hyphens',
});

export const PageTitle = PublicLine(100, 'heading of the page');

export const About = nullable(Type.String({ maxLength: 1_000, description: 'text below the heading; null for none' }));

export const Groups = Type.Array(
  StrictObject({
    name: Type.String({ maxLength: 100, description: 'heading above the services; empty for none' }),
    services: Type.Array(StrictObject({ serviceId: IdText, name: PublicLine(100, 'name that readers see') }), {
      maxItems: COMPONENTS_MAX,
    }),
  }),
  { maxItems: GROUPS_MAX, description: 'services in the order of the page, each with its public name' },
);

export const PublicTitle = PublicLine(200, 'what readers of the page are told; nothing is taken from the incident');

export const PublicText = Type.String({ minLength: 1, maxLength: 4_000, pattern: String.raw`\S` });

export const ImpactField = Type.Enum([...IMPACTS]);

export const StageField = Type.Enum([...STAGES]);

export const AffectedServices = Type.Array(IdText, {
  maxItems: COMPONENTS_MAX,
  description: 'services of the page that are affected',
});

/** Checks the services of a page. Throws `invalid_input` for one that is named twice, `not_found` for an unknown one. */
export async function readGroups(
  groups: Static<typeof Groups>,
  { stores, caller }: Pick<ActionContext, 'stores' | 'caller'>,
): Promise<NewComponent[]> {
  const components: NewComponent[] = [];
  const faults: Fault[] = [];
  const groupNames = new Set<string>();
  const serviceIds = new Set<string>();
  for (const [index, { name, services }] of groups.entries()) {
    const groupName = name.trim();
    if (groupNames.has(groupName)) faults.push({ path: `groups[${index}].name`, message: 'is the name of two groups' });
    groupNames.add(groupName);
    for (const [position, { serviceId, name: publicName }] of services.entries()) {
      const path = `groups[${index}].services[${position}].serviceId`;
      if (serviceIds.has(serviceId)) faults.push({ path, message: 'is on the page already' });
      serviceIds.add(serviceId);
      if (serviceIds.size > COMPONENTS_MAX) {
        throw invalidInput([{ path: 'groups', message: `a page has at most ${COMPONENTS_MAX} services` }]);
      }
      const service = await stores.services.get(caller.orgId, serviceId, path);
      components.push({ serviceId: service.id, groupName, name: publicName });
    }
  }
  if (faults.length > 0) throw invalidInput(faults);
  return components;
}

/** Checks that services are on a page, and returns each once. Throws `not_found`. */
export function requireOnPage(serviceIds: readonly string[], components: readonly NewComponent[]): string[] {
  const onPage = new Set<string>(components.map(({ serviceId }) => serviceId));
  const missing = serviceIds.findIndex((serviceId) => !onPage.has(serviceId));
  if (missing >= 0) throw notFound(`serviceIds[${missing}]`, 'service on this page');
  return [...new Set(serviceIds)];
}
