import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { FreeText, Name, StrictObject } from '#actions/fields.ts';
import {
  readServiceWithKeys,
  ServiceWithKeysView,
  toServiceView,
  SERVICE_WITH_KEYS_EXAMPLE,
} from '#modules/services/view.ts';
import { newIngestKeyPair, sealIngestKeyPair } from '#auth/ingest_access.ts';
import { DEFAULT_RETENTION_DAYS } from '#modules/capabilities/decide/capability.ts';

export const createService = defineAction({
  name: 'create_service',
  summary: 'Register a monitored service, optionally tied to a repository. It starts with no capability enabled.',
  guidance: 'Then enable_capability.',
  permission: 'services:edit',
  effect: 'write',
  input: StrictObject({
    name: Name,
    environment: Type.Optional(FreeText),
    scmOwner: Type.Optional(FreeText),
    scmRepo: Type.Optional(FreeText),
  }),
  result: ServiceWithKeysView,
  example: { name: 'checkout', environment: 'production', scmOwner: 'northwind', scmRepo: 'checkout' },
  exampleResult: { ...SERVICE_WITH_KEYS_EXAMPLE, capabilities: [], billing: [], alertRules: [] },
  async handle(input, context) {
    const { stores, caller, now, cipher } = context;
    const service = await stores.services.insert(
      caller.orgId,
      {
        name: input.name,
        environment: input.environment ?? null,
        scmOwner: input.scmOwner ?? null,
        scmRepo: input.scmRepo ?? null,
        retentionDays: DEFAULT_RETENTION_DAYS,
      },
      now,
    );
    await stores.ingestKeys.replace(service, sealIngestKeyPair(newIngestKeyPair(), cipher), now);
    context.record({ target: service.id, before: null, after: toServiceView(service) });
    return await readServiceWithKeys(service.id, service, context);
  },
});
