import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText, StrictObject } from '#actions/fields.ts';
import { changeService } from '#modules/services/change_service.ts';
import { renewCapability } from '#modules/capabilities/renew_capability.ts';
import { CapabilityName, ServiceView, SERVICE_EXAMPLE } from '#modules/services/view.ts';

export const disableCapability = defineAction({
  name: 'disable_capability',
  summary:
    'Disable a capability of a service. Stored data stays until its retention; billing stops at the next renewal.',
  guidance: 'What depends on it stops working: ask your user first.',
  permission: 'services:edit',
  effect: 'write',
  input: StrictObject({ serviceId: IdText, capability: CapabilityName }),
  result: ServiceView,
  example: { serviceId: IDS.serviceId, capability: 'metrics' },
  exampleResult: { ...SERVICE_EXAMPLE, capabilities: ['exceptions', 'oncall'], updatedAt: '2027-02-01T13:20:11.046Z' },
  async handle({ serviceId, capability }, context) {
    const { stores, now } = context;
    return await changeService(serviceId, context, async (service) => {
      const state = await renewCapability(stores.capabilities, service, capability, now);
      if (state?.isEnabled !== true) return;
      await stores.capabilities.save(service.id, capability, { ...state, isEnabled: false }, now);
      service.updatedAt = now;
    });
  },
});
