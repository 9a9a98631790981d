import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText, StrictObject } from '#actions/fields.ts';
import { changeService } from '#modules/services/change_service.ts';
import { CapabilityName, ServiceView, SERVICE_EXAMPLE } from '#modules/services/view.ts';
import { decideEnable } from '#modules/capabilities/decide/billing.ts';

export const enableCapability = defineAction({
  name: 'enable_capability',
  summary:
    'Enable a paid capability of a service: EUR 1 a month, from now on. Enabling an enabled one changes nothing.',
  guidance: 'It costs money: ask your user first.',
  permission: 'services:edit',
  effect: 'write',
  input: StrictObject({ serviceId: IdText, capability: CapabilityName }),
  result: ServiceView,
  example: { serviceId: IDS.serviceId, capability: 'metrics' },
  exampleResult: SERVICE_EXAMPLE,
  async handle({ serviceId, capability }, context) {
    const { stores, now } = context;
    return await changeService(serviceId, context, async (service) => {
      const state = await stores.capabilities.find(service.id, capability);
      if (state?.isEnabled === true) return;
      const decision = decideEnable(capability, state, now);
      await stores.capabilities.save(service.id, capability, decision.state, now);
      if (decision.period !== null) await stores.capabilities.charge(service, decision.period, now);
      service.updatedAt = now;
    });
  },
});
