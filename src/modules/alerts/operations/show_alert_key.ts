import { defineAction } from '#actions/action_context.ts';
import { AlertKeyInput, AlertKeyView, issueAlertKey, setLastPolicy } from '#modules/alerts/operations/alert_key.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { openAlertKey } from '#auth/alert_access.ts';
import { CREDENTIALS_SHOWN } from '#modules/audit/store/audit_store.ts';

export const showAlertKey = defineAction({
  name: 'show_alert_key',
  consoleOnly: true,
  summary: 'Show the key by which other tools send alerts of a service; it is made when there is none.',
  permission: 'services:edit',
  effect: 'write',
  input: AlertKeyInput,
  result: AlertKeyView,
  example: { serviceId: IDS.serviceId, policyId: IDS.policyId },
  async handle({ serviceId, policyId }, context) {
    const { stores, caller, cipher } = context;
    const service = await stores.services.lock(caller.orgId, serviceId);
    const secret = await stores.alertKeys.findSecret(service.id);
    const alertKey = secret === null ? await issueAlertKey(service, context) : openAlertKey(secret, cipher);
    context.record({
      target: service.id,
      before: null,
      after: secret === null ? { alertKey: 'issued' } : CREDENTIALS_SHOWN,
    });
    await setLastPolicy(service, policyId, context);
    return { serviceId: service.id, alertKey };
  },
});
