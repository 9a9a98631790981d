import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';
import { StatusPageView, toStatusPageView } from '#modules/status_pages/view.ts';

export const listStatusPages = defineAction({
  name: 'list_status_pages',
  consoleOnly: true,
  summary: 'List the status pages of the organization with the services on each.',
  permission: 'organization:view',
  effect: 'read',
  input: Type.Object({}, STRICT),
  result: Type.Object({ statusPages: Type.Array(StatusPageView) }),
  example: {},
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
