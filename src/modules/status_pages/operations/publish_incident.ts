import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { IdText, STRICT } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';
import { lockIncident } from '#modules/incidents/change_status.ts';
import {
  AffectedServices,
  ImpactField,
  PublicText,
  PublicTitle,
  requireOnPage,
  StageField,
} from '#modules/status_pages/operations/page_fields.ts';
import { announceStatusUpdate } from '#storage/queue/jobs.ts';
import { PublicationView, toPublicationView } from '#modules/status_pages/view.ts';

export const publishIncident = defineAction({
  name: 'publish_incident',
  consoleOnly: true,
  summary:
    'Publish an open incident on a status page under a public title. Readers see the title, the text and the public names of the services, and nothing else of the incident.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object(
    {
      statusPageId: IdText,
      incidentId: IdText,
      title: PublicTitle,
      stage: StageField,
      impact: ImpactField,
      serviceIds: AffectedServices,
      text: PublicText,
    },
    STRICT,
  ),
  result: PublicationView,
  conflict: 'the incident is resolved, or is on this page already',
  example: {
    statusPageId: IDS.statusPageId,
    incidentId: IDS.incidentId,
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
