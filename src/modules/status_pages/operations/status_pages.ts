import { Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText } from '#actions/fields.ts';
import { StrictObject } from '#kernel/action.ts';
import { AppError } from '#kernel/errors.ts';
import { lockIncident } from '#modules/incidents/change_status.ts';
import { STATUS_PAGES_MAX, UPDATES_MAX } from '#modules/status_pages/decide/publication.ts';
import {
  auditedPage,
  PublicationView,
  StatusPageView,
  toPublicationView,
  toStatusPageView,
} from '#modules/status_pages/view.ts';
import { announceStatusUpdate } from '#storage/queue/jobs.ts';
import {
  About,
  AffectedServices,
  Groups,
  ImpactField,
  PageTitle,
  PublicText,
  PublicTitle,
  readGroups,
  requireOnPage,
  Slug,
  StageField,
} from './page_fields.ts';

export const publishIncident = defineOperation({
  name: 'publish_incident',
  summary:
    'Publish an open incident on a status page under a public title. Readers see the title, the text and the public names of the services, and nothing else of the incident.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({
    statusPageId: IdText,
    incidentId: IdText,
    title: PublicTitle,
    stage: StageField,
    impact: ImpactField,
    serviceIds: AffectedServices,
    text: PublicText,
  }),
  result: PublicationView,
  conflict: 'the incident is resolved, or is on this page already',
  example: {
    title: 'Payments are slow',
    stage: 'investigating',
    impact: 'degraded',
    serviceIds: [IDS.serviceId],
    text: 'Some payments take longer than a minute. We are looking into it.',
  },
  async handle({ statusPageId, incidentId, title, stage, impact, serviceIds, text }, context) {
    const { caller, stores, now, record, enqueue } = context;
    const { orgId } = caller;
    const page = await stores.statusPages.lock(orgId, statusPageId);
    const incident = await lockIncident(incidentId, context);
    if (incident.status === 'resolved') {
      throw new AppError('conflict', 'this incident is resolved; reopen it if it is not over');
    }
    const others = await stores.publications.listOfIncident(orgId, incident.id);
    if (others.some(({ pageId }) => pageId === page.id)) {
      throw new AppError('conflict', 'this incident is on this page already; add an update');
    }
    const affected = requireOnPage(serviceIds, await stores.statusPages.listComponents(page.id));
    const what = { orgId, pageId: page.id, incidentId: incident.id, title, impact, serviceIds: affected };
    const id = await stores.publications.insert({ ...what, beganAt: incident.triggeredAt }, now);
    const updateId = await stores.publications.addUpdate({ orgId, publicationId: id, stage, body: text.trim() }, now);
    enqueue(announceStatusUpdate, { updateId });
    if (stage === 'resolved') await stores.publications.save(id, { endedAt: now }, now);
    record({
      target: incident.id,
      before: null,
      after: {
        publicationId: id,
        statusPageId: page.id,
        title,
        stage,
        impact,
        serviceIds: affected,
        text: text.trim(),
      },
    });
    return toPublicationView(await stores.publications.lock(orgId, id), await stores.publications.listUpdates([id]));
  },
});

export const addStatusUpdate = defineOperation({
  name: 'add_status_update',
  summary:
    'Tell readers of a status page how a published incident goes on. The stage resolved ends it on the page; any other opens it again while the incident itself is open.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({
    publicationId: IdText,
    stage: StageField,
    text: PublicText,
    title: Type.Optional(PublicTitle),
    impact: Type.Optional(ImpactField),
    serviceIds: Type.Optional(AffectedServices),
    basedOn: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: UPDATES_MAX,
        description:
          'number of updates that were read: others since then are a conflict, and the same update is added once',
      }),
    ),
  }),
  result: PublicationView,
  conflict: `the incident is resolved, or has ${UPDATES_MAX} updates on the page, or somebody has added an update`,
  example: {
    stage: 'monitoring',
    text: 'Payments are as fast as usual again. We keep watching.',
    title: 'Payments were slow',
    impact: 'degraded',
    serviceIds: [IDS.serviceId],
    basedOn: 1,
  },
  async handle({ publicationId, stage, text, title, impact, serviceIds, basedOn }, context) {
    const { caller, stores, now, record, enqueue } = context;
    const { publications, statusPages } = stores;
    const { orgId } = caller;
    const before = await publications.lock(orgId, publicationId);
    const affected =
      serviceIds === undefined ? undefined : requireOnPage(serviceIds, await statusPages.listComponents(before.pageId));
    const updates = await publications.listUpdates([before.id]);
    if (basedOn !== undefined && basedOn !== updates.length) {
      const next = updates.at(-1 - basedOn);
      // The same request again, whose answer was lost.
      if (next?.stage === stage && next.body === text.trim()) return toPublicationView(before, updates);
      throw new AppError('conflict', 'somebody has added an update since it was read; read it again');
    }
    const isOver = before.incidentStatus === null || before.incidentStatus === 'resolved';
    if (isOver && stage !== 'resolved') {
      throw new AppError('conflict', 'this incident is resolved; reopen it if it is not over');
    }
    if (updates.length >= UPDATES_MAX) {
      throw new AppError('conflict', `a published incident has at most ${UPDATES_MAX} updates`);
    }
    const endedAt = stage === 'resolved' ? (before.endedAt ?? now) : null;
    await publications.save(
      before.id,
      {
        endedAt,
        ...(title !== undefined && { title }),
        ...(impact !== undefined && { impact }),
        ...(affected !== undefined && { serviceIds: affected }),
      },
      now,
    );
    const updateId = await publications.addUpdate({ orgId, publicationId: before.id, stage, body: text.trim() }, now);
    enqueue(announceStatusUpdate, { updateId });
    const after = await publications.lock(orgId, before.id);
    const audited = (row: typeof after) => ({ title: row.title, impact: row.impact, serviceIds: row.serviceIds });
    record({
      target: before.incidentId ?? before.id,
      before: { publicationId: before.id, ...audited(before) },
      after: { publicationId: before.id, ...audited(after), stage, text: text.trim() },
    });
    return toPublicationView(after, await publications.listUpdates([before.id]));
  },
});

export const retractPublication = defineOperation({
  name: 'retract_publication',
  summary:
    'Take a published incident off its status page with all its updates. What was mailed or fetched before stays where it is.',
  permission: 'oncall:edit',
  effect: 'delete',
  input: StrictObject({ publicationId: IdText }),
  result: Type.Object({ publicationId: IdText, retracted: Type.Boolean() }),
  async handle({ publicationId }, { caller, stores, record }) {
    const { id, pageId, incidentId, title } = await stores.publications.lock(caller.orgId, publicationId);
    await stores.publications.delete(id);
    record({ target: incidentId ?? id, before: { publicationId: id, statusPageId: pageId, title }, after: null });
    return { publicationId: id, retracted: true };
  },
});

export const listPublications = defineOperation({
  name: 'list_publications',
  summary: 'List where an incident was published, with the updates that readers see.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({ incidentId: IdText }),
  result: Type.Object({ publications: Type.Array(PublicationView) }),
  async handle({ incidentId }, { caller, stores, now }) {
    const incident = await stores.incidents.get(caller.orgId, incidentId, now);
    const rows = await stores.publications.listOfIncident(caller.orgId, incident.id);
    const updates = await stores.publications.listUpdates(rows.map(({ id }) => id));
    return { publications: rows.map((row) => toPublicationView(row, updates)) };
  },
});

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
