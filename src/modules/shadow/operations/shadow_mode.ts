import { Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { IdText, nullable, StrictObject, Timestamp } from '#actions/fields.ts';
import { type Temporal, toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import { compareWithTool } from '#modules/shadow/operations/compare_with_tool.ts';

/** Result of a change of shadow mode. */
const SHADOW_FIELDS = {
  shadowSince: nullable(Timestamp),
  openIncidents: Type.Integer({
    description:
      'open incidents that were opened in shadow mode: when it ends they are resolved within seconds, and what still goes on opens anew',
  }),
};

/** Returns since when shadow mode is on after a change; null where it is off. */
function sinceAfter(enabled: boolean, before: Temporal.Instant | null, now: Temporal.Instant): Temporal.Instant | null {
  return enabled ? (before ?? now) : null;
}

const SERVICES_MAX = 1_000;

export const getShadowMode = defineOperation({
  name: 'get_shadow_mode',
  summary: 'Show since when the organization and its services are in shadow mode.',
  permission: 'oncall:view',
  effect: 'read',
  result: Type.Object({
    organizationSince: nullable(Timestamp),
    services: Type.Array(Type.Object({ serviceId: IdText, name: Type.String(), since: Timestamp }), {
      description: `those in shadow mode by themselves, by name; at most ${SERVICES_MAX}`,
    }),
    openIncidents: SHADOW_FIELDS.openIncidents,
  }),
  async handle(_input, { caller, stores }) {
    const services = await stores.shadow.listServices(caller.orgId, SERVICES_MAX);
    return {
      organizationSince: toTimestampOrNull(await stores.shadow.findOrganization(caller.orgId)),
      services: services.map(({ serviceId, name, since }) => ({ serviceId, name, since: toTimestamp(since) })),
      openIncidents: await stores.shadow.countOpen(caller.orgId, null),
    };
  },
});

export const setOrganizationShadow = defineOperation({
  name: 'set_organization_shadow',
  summary:
    'Put the whole organization into shadow mode, in which incidents open and say who would be paged while nobody is, or end it.',
  permission: 'organization:manage',
  effect: 'write',
  stepUp: true,
  input: StrictObject({ enabled: Type.Boolean() }),
  result: Type.Object(SHADOW_FIELDS),
  example: { enabled: false },
  async handle({ enabled }, { caller, stores, now, record }) {
    const current = await stores.shadow.findOrganization(caller.orgId);
    const since = sinceAfter(enabled, current, now);
    const before = await stores.shadow.setOrganization(caller.orgId, since);
    record({
      target: caller.orgId,
      before: { shadowSince: toTimestampOrNull(before) },
      after: { shadowSince: toTimestampOrNull(since) },
    });
    const openIncidents = await stores.shadow.countOpen(caller.orgId, null);
    return { shadowSince: toTimestampOrNull(since), openIncidents };
  },
});

export const setServiceShadow = defineOperation({
  name: 'set_service_shadow',
  summary:
    'Put a service into shadow mode, in which incidents open and say who would be paged while nobody is, or end it.',
  permission: 'oncall:edit',
  effect: 'write',
  stepUp: true,
  input: StrictObject({ serviceId: IdText, enabled: Type.Boolean() }),
  result: Type.Object({ serviceId: IdText, ...SHADOW_FIELDS }),
  example: { enabled: true },
  async handle({ serviceId, enabled }, { caller, stores, now, record }) {
    const service = await stores.services.lock(caller.orgId, serviceId);
    const before = service.shadowSince;
    const since = sinceAfter(enabled, before, now);
    await stores.shadow.setService(service.id, since, now);
    record({
      target: service.id,
      before: { shadowSince: toTimestampOrNull(before) },
      after: { shadowSince: toTimestampOrNull(since) },
    });
    const openIncidents = await stores.shadow.countOpen(caller.orgId, service.id);
    return { serviceId: service.id, shadowSince: toTimestampOrNull(since), openIncidents };
  },
});

export const SHADOW_OPERATIONS = [getShadowMode, setServiceShadow, setOrganizationShadow, compareWithTool] as const;
