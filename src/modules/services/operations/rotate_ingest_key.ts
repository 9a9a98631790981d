import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { readServiceWithKeys, ServiceWithKeysView, SERVICE_WITH_KEYS_EXAMPLE } from '#modules/services/view.ts';
import { newIngestKeyPair, sealIngestKeyPair } from '#auth/ingest_keys.ts';

export const rotateIngestKey = defineAction({
  name: 'rotate_ingest_key',
  summary: 'Issue a fresh ingestion key and DSN for a service and revoke the previous ones.',
  guidance: 'Senders that still use the old ones are refused from then on: ask your user first.',
  permission: 'services:edit',
  effect: 'delete',
  stepUp: true,
  input: Type.Object({ serviceId: IdText }, STRICT),
  result: ServiceWithKeysView,
  example: { serviceId: IDS.serviceId },
  exampleResult: SERVICE_WITH_KEYS_EXAMPLE,
  async handle({ serviceId }, context) {
    const { stores, caller, now, cipher } = context;
    const row = await stores.services.lock(caller.orgId, serviceId);
    await stores.ingestKeys.replace(row, sealIngestKeyPair(newIngestKeyPair(), cipher), now);
    context.record({ target: row.id, before: { ingestionKey: 'revoked' }, after: { ingestionKey: 'issued' } });
    return await readServiceWithKeys(await stores.services.get(caller.orgId, serviceId), context);
  },
});
