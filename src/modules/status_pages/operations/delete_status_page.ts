import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { IdText, STRICT } from '#actions/fields.ts';
import { auditedPage } from '#modules/status_pages/view.ts';

export const deleteStatusPage = defineAction({
  name: 'delete_status_page',
  consoleOnly: true,
  stepUp: true,
  summary: 'Delete a status page with all that was published on it and its subscribers.',
  permission: 'organization:manage',
  effect: 'delete',
  input: Type.Object({ statusPageId: IdText }, STRICT),
  result: Type.Object({ statusPageId: IdText, deleted: Type.Boolean() }),
  example: { statusPageId: IDS.statusPageId },
  async handle({ statusPageId }, { caller, stores, record }) {
    const page = await stores.statusPages.lock(caller.orgId, statusPageId);
    const components = await stores.statusPages.listComponents(page.id);
    await stores.statusPages.delete(page.id);
    record({ target: page.id, before: auditedPage(page, components), after: null });
    return { statusPageId: page.id, deleted: true };
  },
});
