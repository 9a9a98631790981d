import { defineAction } from '#actions/action_context.ts';
import { asId } from '#kernel/ids.ts';
import { EXAMPLE_IDS as IDS, IdText, StrictObject } from '#actions/fields.ts';
import { readServiceWithKeys, ServiceWithKeysView, SERVICE_WITH_KEYS_EXAMPLE } from '#modules/services/view.ts';

export const getService = defineAction({
  name: 'get_service',
  summary: 'Return one service with its enabled capabilities, ingestion key and DSN.',
  guidance:
    'Shows the configs of its rules. ingestionKey and dsn are secrets: show them to nobody but your user. They are masked when you may only read.',
  permission: 'services:view',
  effect: 'read',
  input: StrictObject({ serviceId: IdText }),
  result: ServiceWithKeysView,
  aliases: ['get_service_details', 'describe_service', 'get_dsn', 'get_ingest_key'],
  example: { serviceId: IDS.serviceId },
  exampleResult: SERVICE_WITH_KEYS_EXAMPLE,
  async handle({ serviceId }, context) {
    const reading = context.stores.services.get(context.caller.orgId, serviceId);
    return await readServiceWithKeys(asId('service', serviceId), reading, context);
  },
});
