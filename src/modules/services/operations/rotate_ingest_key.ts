import { Type } from 'typebox';

import { defineAction, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText, StrictObject } from '#actions/fields.ts';
import { newIngestKeyPair, sealIngestKeyPair } from '#auth/ingest_access.ts';
import {
  readCredentials,
  readServiceWithKeys,
  SERVICE_WITH_KEYS_EXAMPLE,
  ServiceWithKeysView,
} from '#modules/services/view.ts';

export const rotateIngestKey = defineAction({
  name: 'rotate_ingest_key',
  summary: 'Issue a fresh ingestion key and DSN for a service and revoke the previous ones.',
  guidance: 'Senders that still use the old ones are refused from then on: ask your user first.',
  permission: 'services:edit',
  effect: 'delete',
  stepUp: true,
  input: StrictObject({ serviceId: IdText }),
  result: ServiceWithKeysView,
  example: { serviceId: IDS.serviceId },
  exampleResult: SERVICE_WITH_KEYS_EXAMPLE,
  async handle({ serviceId }, context) {
    const { stores, caller, now, cipher } = context;
    const row = await stores.services.lock(caller.orgId, serviceId);
    await stores.ingestKeys.replace(row, sealIngestKeyPair(newIngestKeyPair(), cipher), now);
    context.record({ target: row.id, before: { ingestionKey: 'revoked' }, after: { ingestionKey: 'issued' } });
    return await readServiceWithKeys(row.id, stores.services.get(caller.orgId, serviceId), context);
  },
});

/** Returns the credentials that get_service masks for the console. Each call leaves a row in the audit log. */
export const revealIngestKey = defineOperation({
  name: 'reveal_ingest_key',
  summary: 'Show the ingestion key and the DSN of a service. Each call is recorded in the audit log.',
  permission: 'services:view',
  effect: 'read',
  input: StrictObject({ serviceId: IdText }),
  result: Type.Object({ serviceId: IdText, ingestionKey: Type.String(), dsn: Type.String() }),
  async handle({ serviceId }, context) {
    const service = await context.stores.services.get(context.caller.orgId, serviceId);
    return { serviceId: service.id, ...(await readCredentials(service, context)) };
  },
});
