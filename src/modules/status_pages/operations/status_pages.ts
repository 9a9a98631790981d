import { Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText, StrictObject } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';
import { STATUS_PAGES_MAX } from '#modules/status_pages/decide/publication.ts';
import { About, Groups, PageTitle, readGroups, Slug } from '#modules/status_pages/operations/page_fields.ts';
import {
  addStatusUpdate,
  listPublications,
  publishIncident,
  retractPublication,
} from '#modules/status_pages/operations/publications.ts';
import { auditedPage, StatusPageView, toStatusPageView } from '#modules/status_pages/view.ts';

export const createStatusPage = defineOperation({
  name: 'create_status_page',
  summary: 'Add a status page, which shows of incidents only what people publish on it.',
  permission: 'organization:manage',
  effect: 'write',
  input: StrictObject({ slug: Slug, title: PageTitle, about: About, isPublic: Type.Boolean(), groups: Groups }),
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

export const updateStatusPage = defineOperation({
  name: 'update_status_page',
  summary: 'Change a status page. What is left out stays as it is; the services are given whole.',
  permission: 'organization:manage',
  effect: 'write',
  input: StrictObject({
    statusPageId: IdText,
    version: Type.Integer({ description: 'version that the change is based on' }),
    slug: Type.Optional(Slug),
    title: Type.Optional(PageTitle),
    about: Type.Optional(About),
    isPublic: Type.Optional(Type.Boolean()),
    groups: Type.Optional(Groups),
  }),
  result: StatusPageView,
  conflict: 'another page has this address, or somebody has changed the page since it was read',
  example: {
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
    record({ target: before.id, before: auditedPage(before, componentsBefore), after: auditedPage(after, components) });
    const subscribers = (await stores.subscribers.countConfirmed(caller.orgId)).get(before.id) ?? 0;
    return toStatusPageView(after, components, { baseUrl, subscribers });
  },
});

export const deleteStatusPage = defineOperation({
  name: 'delete_status_page',
  stepUp: true,
  summary: 'Delete a status page with all that was published on it and its subscribers.',
  permission: 'organization:manage',
  effect: 'delete',
  input: StrictObject({ statusPageId: IdText }),
  result: Type.Object({ statusPageId: IdText, deleted: Type.Boolean() }),
  async handle({ statusPageId }, { caller, stores, record }) {
    const page = await stores.statusPages.lock(caller.orgId, statusPageId);
    const components = await stores.statusPages.listComponents(page.id);
    await stores.statusPages.delete(page.id);
    record({ target: page.id, before: auditedPage(page, components), after: null });
    return { statusPageId: page.id, deleted: true };
  },
});

export const listStatusPages = defineOperation({
  name: 'list_status_pages',
  summary: 'List the status pages of the organization with the services on each.',
  permission: 'organization:view',
  effect: 'read',
  result: Type.Object({ statusPages: Type.Array(StatusPageView) }),
  async handle(_input, { caller, stores, baseUrl }) {
    const pages = await stores.statusPages.list(caller.orgId);
    const components = Map.groupBy(await stores.statusPages.listAllComponents(caller.orgId), ({ pageId }) => pageId);
    const subscribers = await stores.subscribers.countConfirmed(caller.orgId);
    return {
      statusPages: pages.map((page) =>
        toStatusPageView(page, components.get(page.id) ?? [], { baseUrl, subscribers: subscribers.get(page.id) ?? 0 }),
      ),
    };
  },
});

export const STATUS_PAGE_OPERATIONS = [
  listStatusPages,
  createStatusPage,
  updateStatusPage,
  deleteStatusPage,
  listPublications,
  publishIncident,
  addStatusUpdate,
  retractPublication,
] as const;
