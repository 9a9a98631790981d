import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { STRICT } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';
import { STATUS_PAGES_MAX } from '#modules/status_pages/decide/publication.ts';
import { About, Groups, PageTitle, readGroups, Slug } from '#modules/status_pages/operations/page_fields.ts';
import { auditedPage, StatusPageView, toStatusPageView } from '#modules/status_pages/view.ts';

export const createStatusPage = defineAction({
  name: 'create_status_page',
  consoleOnly: true,
  summary: 'Add a status page, which shows of incidents only what people publish on it.',
  permission: 'organization:manage',
  effect: 'write',
  input: Type.Object({ slug: Slug, title: PageTitle, about: About, isPublic: Type.Boolean(), groups: Groups }, STRICT),
  result: StatusPageView,
  conflict: 'another page has this address, or the organization has as many pages as it may have',
  example: {
    slug: 'acme',
    title: 'Acme status',
    about: 'Support answers at support@example.com.',
    isPublic: true,
    groups: [{ name: 'Shop', services: [{ serviceId: IDS.serviceId, name: 'Payments' }] }],
  },
  async handle({ slug, title, about, isPublic, groups }, context) {
    const { caller, stores, now, record, baseUrl } = context;
    const components = await readGroups(groups, context);
    if ((await stores.statusPages.list(caller.orgId)).length >= STATUS_PAGES_MAX) {
      throw new AppError('conflict', `an organization has at most ${STATUS_PAGES_MAX} status pages; delete one first`);
    }
    const page = await stores.statusPages.insert({ orgId: caller.orgId, slug, title, about, isPublic }, now);
    await stores.statusPages.replaceComponents(page, components);
    record({ target: page.id, before: null, after: auditedPage(page, components) });
    return toStatusPageView(page, components, { baseUrl, subscribers: 0 });
  },
});
