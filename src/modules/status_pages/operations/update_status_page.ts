import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { IdText, STRICT } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';
import { About, Groups, PageTitle, readGroups, Slug } from '#modules/status_pages/operations/page_fields.ts';
import { auditedPage, StatusPageView, toStatusPageView } from '#modules/status_pages/view.ts';

export const updateStatusPage = defineAction({
  name: 'update_status_page',
  consoleOnly: true,
  summary: 'Change a status page. What is left out stays as it is; the services are given whole.',
  permission: 'organization:manage',
  effect: 'write',
  input: Type.Object(
    {
      statusPageId: IdText,
      version: Type.Integer({ description: 'version that the change is based on' }),
      slug: Type.Optional(Slug),
      title: Type.Optional(PageTitle),
      about: Type.Optional(About),
      isPublic: Type.Optional(Type.Boolean()),
      groups: Type.Optional(Groups),
    },
    STRICT,
  ),
  result: StatusPageView,
  conflict: 'another page has this address, or somebody has changed the page since it was read',
  example: {
    statusPageId: IDS.statusPageId,
    version: 1,
    slug: 'acme-shop',
    title: 'Acme shop status',
    about: null,
    isPublic: true,
    groups: [{ name: '', services: [{ serviceId: IDS.serviceId, name: 'Payments' }] }],
  },
  async handle({ statusPageId, version, groups, ...changed }, context) {
    const { caller, stores, now, record, baseUrl } = context;
    const { statusPages } = stores;
    const before = await statusPages.lock(caller.orgId, statusPageId);
    if (before.version !== version) {
      throw new AppError('conflict', 'somebody has changed this page since it was read; read it again');
    }
    const componentsBefore = await statusPages.listComponents(before.id);
    const components = groups === undefined ? componentsBefore : await readGroups(groups, context);
    await statusPages.save(before.id, changed, now);
    if (groups !== undefined) await statusPages.replaceComponents(before, components);
    const after = await statusPages.get(caller.orgId, before.id);
    record({
      target: before.id,
      before: auditedPage(before, componentsBefore),
      after: auditedPage(after, components),
    });
    const subscribers = (await stores.subscribers.countConfirmed(caller.orgId)).get(before.id) ?? 0;
    return toStatusPageView(after, components, { baseUrl, subscribers });
  },
});
