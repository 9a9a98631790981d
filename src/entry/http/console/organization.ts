import { Type } from 'typebox';

import { getConsoleOperation } from '#actions/registry.ts';
import { requirePermission, runAction } from '#actions/run_action.ts';
import { DeliveryHealthView, readDeliveryHealth } from '#actions/delivery/delivery_health.ts';
import { CLOSED } from '#actions/fields.ts';
import { IngestStatusView, readIngestStatus } from '#actions/services/ingest_status.ts';
import { consoleRoute } from '#entry/http/console/route.ts';
import { invalidInput } from '#kernel/errors.ts';
import { storesOf } from '#storage/postgres/stores.ts';

export const ORGANIZATION_ROUTES = [
  consoleRoute({
    name: 'invoke_action',
    method: 'POST',
    path: '/organizations/:org/actions/:action',
    tag: 'Organizations',
    summary: 'Invoke any action, or an operation of the console, as yourself and with your role in the organization.',
    access: 'member',
    takesAnyBody: true,
    result: Type.Unknown({ description: 'as the action has it' }),
    refusals: ['forbidden', 'conflict'],
    async check({ house, caller, params, origin }) {
      if (caller === null) throw new Error('an action is invoked by a member');
      await requirePermission(house.actions, getConsoleOperation(params['action'] ?? ''), caller, origin);
    },
    async handle({ house, caller, params, body, origin }) {
      if (body === undefined)
        throw invalidInput([{ path: '', message: 'the body is missing; send a JSON object, {} at least' }]);
      return await runAction(house.actions, getConsoleOperation(params['action'] ?? ''), caller, body, origin);
    },
  }),
  consoleRoute({
    name: 'get_delivery_health',
    method: 'GET',
    path: '/organizations/:org/delivery-health',
    tag: 'Organizations',
    summary: 'Tell which channels are set up, and how each fared lately.',
    access: 'member',
    result: DeliveryHealthView,
    handle({ house, caller, now }) {
      const { twilioApiBase } = house.config;
      const isSimulator = twilioApiBase !== undefined && isLoopback(twilioApiBase);
      const settings = { configured: house.actions.configuredChannels, isSimulator };
      return readDeliveryHealth(storesOf(house.db.session()), caller.orgId, settings, now);
    },
  }),
  consoleRoute({
    name: 'get_ingest_status',
    method: 'GET',
    path: '/organizations/:org/services/:serviceId/ingest-status',
    tag: 'Organizations',
    summary: 'Tell what has come in of a service lately.',
    access: 'member',
    query: Type.Object({}, CLOSED),
    result: IngestStatusView,
    handle({ house, caller, params, now }) {
      const stores = storesOf(house.db.session());
      return readIngestStatus({ ...house.actions, stores }, caller.orgId, params['serviceId'] ?? '', now);
    },
  }),
];

/** The phone simulator takes the place of Twilio on this machine. */
function isLoopback(url: string): boolean {
  return /^(localhost|127\.|\[::1\])/.test(new URL(url).hostname);
}
