import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { IdText, STRICT } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';
import { UPDATES_MAX } from '#modules/status_pages/decide/publication.ts';
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

export const addStatusUpdate = defineAction({
  name: 'add_status_update',
  consoleOnly: true,
  summary:
    'Tell readers of a status page how a published incident goes on. The stage resolved ends it on the page; any other opens it again while the incident itself is open.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object(
    {
      publicationId: IdText,
      stage: StageField,
      text: PublicText,
      title: Type.Optional(PublicTitle),
      impact: Type.Optional(ImpactField),
      serviceIds: Type.Optional(AffectedServices),
    },
    STRICT,
  ),
  result: PublicationView,
  conflict: `the incident is resolved, or has ${UPDATES_MAX} updates on the page`,
  example: {
    publicationId: IDS.publicationId,
    stage: 'monitoring',
    text: 'Payments are as fast as usual again. We keep watching.',
    title: 'Payments were slow',
    impact: 'degraded',
    serviceIds: [IDS.serviceId],
  },
  async handle({ publicationId, stage, text, title, impact, serviceIds }, context) {
    const { caller, stores, now, record, enqueue } = context;
    const { publications, statusPages } = stores;
    const { orgId } = caller;
    const before = await publications.lock(orgId, publicationId);
    const affected =
      serviceIds === undefined ? undefined : requireOnPage(serviceIds, await statusPages.listComponents(before.pageId));
    const isOver = before.incidentStatus === null || before.incidentStatus === 'resolved';
    if (isOver && stage !== 'resolved') {
      throw new AppError('conflict', 'this incident is resolved; reopen it if it is not over');
    }
    if ((await publications.listUpdates([before.id])).length >= UPDATES_MAX) {
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
