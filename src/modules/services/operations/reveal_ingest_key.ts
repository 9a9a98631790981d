import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { readCredentials } from '#modules/services/view.ts';

/** Returns the credentials that get_service masks for the console. Each call leaves a row in the audit log. */
export const revealIngestKey = defineAction({
  name: 'reveal_ingest_key',
  consoleOnly: true,
  summary: 'Show the ingestion key and the DSN of a service. Each call is recorded in the audit log.',
  permission: 'services:view',
  effect: 'read',
  input: Type.Object({ serviceId: IdText }, STRICT),
  result: Type.Object({ serviceId: IdText, ingestionKey: Type.String(), dsn: Type.String() }),
  example: { serviceId: EXAMPLE_IDS.serviceId },
  async handle({ serviceId }, context) {
    const service = await context.stores.services.get(context.caller.orgId, serviceId);
    return { serviceId: service.id, ...(await readCredentials(service, context)) };
  },
});
