import { defineAction } from '#actions/action_context.ts';
import { AlertKeyInput, AlertKeyView, issueAlertKey, setLastPolicy } from '#modules/alerts/operations/alert_key.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';

export const rotateAlertKey = defineAction({
  name: 'rotate_alert_key',
  consoleOnly: true,
  summary: 'Issue a new alert key for a service and revoke the one before, which is refused within a second.',
  permission: 'services:edit',
  effect: 'delete',
  stepUp: true,
  input: AlertKeyInput,
  result: AlertKeyView,
  example: { serviceId: IDS.serviceId, policyId: IDS.policyId },
  async handle({ serviceId, policyId }, context) {
    const { stores, caller, now } = context;
    const service = await stores.services.lock(caller.orgId, serviceId);
    const wasThere = await stores.alertKeys.revoke(service.id, now);
    const alertKey = await issueAlertKey(service, context);
    context.record({
      target: service.id,
      before: { alertKey: wasThere ? 'revoked' : 'none' },
      after: { alertKey: 'issued' },
    });
    await setLastPolicy(service, policyId, context);
    return { serviceId: service.id, alertKey };
  },
});
