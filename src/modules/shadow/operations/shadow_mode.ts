import { type Static, Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText, nullable, Timestamp } from '#actions/fields.ts';
import { StrictObject } from '#kernel/action.ts';
import { invalidInput } from '#kernel/errors.ts';
import { Temporal, toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import { CHANNELS, isChannel } from '#modules/contacts/decide/channel.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';
import { parseInstant } from '#modules/schedules/decide/parse_instant.ts';
import { compareIncidents } from '#modules/shadow/decide/compare_incidents.ts';
import { OTHER_INCIDENTS_MAX, parseOtherIncidents } from '#modules/shadow/decide/other_incidents.ts';
import type { FiredStep, OpenedIncident } from '#modules/shadow/store.ts';

const EXPORT_LENGTH_MAX = 900_000;
const DAYS_MAX = 92;
const HERE_MAX = 2_000;
const STEPS_SHOWN = 5;
const PEOPLE_SHOWN = 20;

const StepView = Type.Object({
  at: Timestamp,
  step: Type.Integer({ description: 'index of the step, from 0' }),
  isShadow: Type.Boolean({ description: 'whether nobody was paged, as the incident was opened in shadow mode' }),
  people: Type.Array(
    Type.Object({ userId: IdText, name: Type.String(), channels: Type.Array(Type.Enum([...CHANNELS])) }),
  ),
});

const HereView = Type.Object({
  incidentId: IdText,
  number: Type.Integer(),
  title: Type.String(),
  serviceId: IdText,
  serviceName: Type.String(),
  severity: Type.String(),
  at: Timestamp,
  steps: Type.Array(StepView, { description: `the first ${STEPS_SHOWN}` }),
});

export const compareWithTool = defineOperation({
  name: 'compare_with_tool',
  summary:
    'Compare the incidents that another tool exports of a period with those here, and with whom they paged or would have paged.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({
    serviceId: Type.Optional(Type.String({ description: 'every service when left out' })),
    from: Type.Optional(Type.String({ maxLength: 40, description: 'RFC 3339; the first of the export when left out' })),
    to: Type.Optional(Type.String({ maxLength: 40, description: 'RFC 3339; the last of the export when left out' })),
    export: Type.String({
      minLength: 1,
      maxLength: EXPORT_LENGTH_MAX,
      description: `incidents of the other tool, each with a time and a title, as CSV or JSON; at most ${OTHER_INCIDENTS_MAX}`,
    }),
  }),
  result: Type.Object({
    from: Timestamp,
    to: Timestamp,
    counts: Type.Object({
      both: Type.Integer(),
      onlyOther: Type.Integer({ description: 'incidents of the other tool for which none opened here' }),
      onlyHere: Type.Integer(),
      paged: Type.Integer({ description: 'incidents here that paged somebody, or would have' }),
    }),
    isCut: Type.Boolean({ description: `whether more than ${HERE_MAX} opened here; the rest is not compared` }),
    rows: Type.Array(
      Type.Object({ other: nullable(Type.Object({ at: Timestamp, title: Type.String() })), here: nullable(HereView) }),
      { description: 'in order of time' },
    ),
  }),
  example: {
    serviceId: IDS.serviceId,
    from: '2027-02-01T00:00:00Z',
    to: '2027-02-08T00:00:00Z',
    export: 'created_at,title\n2027-02-06T02:00:00Z,Disk of db-1 is full\n',
  },
  async handle({ serviceId, from, to, export: text }, { caller, stores, now }) {
    const others = unwrap(parseOtherIncidents(text));
    const service = serviceId === undefined ? null : await stores.services.get(caller.orgId, serviceId);
    const start = from === undefined ? (others[0]?.at ?? now) : unwrap(parseInstant(from, 'UTC', 'from'));
    const end = to === undefined ? (others.at(-1)?.at ?? now) : unwrap(parseInstant(to, 'UTC', 'to'));
    const minutes = (end.epochMilliseconds - start.epochMilliseconds) / 60_000;
    if (minutes < 0 || minutes > DAYS_MAX * 24 * 60) {
      throw invalidInput([{ path: 'to', message: `is after from, and within ${DAYS_MAX} days of it` }]);
    }
    const period = { serviceId: service?.id ?? null, from: start, to: end };
    const opened = await stores.shadow.listOpened(caller.orgId, padded(period), HERE_MAX + 1);
    const compared = opened.slice(0, HERE_MAX).map((incident) => ({ ...incident, at: incident.triggeredAt }));
    const inPeriod = ({ at }: { readonly at: Temporal.Instant }): boolean =>
      Temporal.Instant.compare(start, at) <= 0 && Temporal.Instant.compare(at, end) <= 0;
    const pairs = compareIncidents(others.filter(inPeriod), compared).filter(
      ({ other, here }) => other !== null || (here !== null && inPeriod(here)),
    );
    const fired = Map.groupBy(
      await stores.shadow.listFired(
        pairs.flatMap(({ here }) => (here === null ? [] : [here.id])),
        STEPS_SHOWN,
      ),
      ({ incidentId }) => incidentId,
    );
    const people = await stores.people.listPeople(
      caller.orgId,
      [...fired.values()].flat().flatMap((step) => pagesOf(step).map(({ userId }) => userId)),
    );
    const nameOf = (userId: string): string => people.get(userId)?.name ?? 'somebody who has left';
    const rows = pairs.map(({ other, here }) => ({
      other: other === null ? null : { at: toTimestamp(other.at), title: other.title },
      here: here === null ? null : toHereView(here, fired.get(here.id) ?? [], nameOf),
    }));
    return {
      from: toTimestamp(start),
      to: toTimestamp(end),
      counts: {
        both: rows.filter(({ other, here }) => other !== null && here !== null).length,
        onlyOther: rows.filter(({ here }) => here === null).length,
        onlyHere: rows.filter(({ other }) => other === null).length,
        paged: rows.filter(({ here }) => (here?.steps.length ?? 0) > 0).length,
      },
      isCut: opened.length > HERE_MAX,
      rows,
    };
  },
});

const MARGIN_MINUTES = 30;

/** The period with a margin, in which an incident here may stand for one at the edge of the period. */
function padded<Period extends { readonly from: Temporal.Instant; readonly to: Temporal.Instant }>(
  period: Period,
): Period {
  return {
    ...period,
    from: period.from.subtract({ minutes: MARGIN_MINUTES }),
    to: period.to.add({ minutes: MARGIN_MINUTES }),
  };
}

function toHereView(
  incident: OpenedIncident,
  steps: readonly FiredStep[],
  nameOf: (userId: string) => string,
): Static<typeof HereView> {
  const { id: incidentId, number, title, serviceId, serviceName, severity } = incident;
  return {
    incidentId,
    number,
    title,
    serviceId,
    serviceName,
    severity,
    at: toTimestamp(incident.triggeredAt),
    steps: steps.map((step) => ({
      at: toTimestamp(step.at),
      step: Number(step.data['stepIndex'] ?? 0),
      isShadow: step.event === 'step_in_shadow',
      people: pagesOf(step).map(({ userId, channels }) => ({ userId, name: nameOf(userId), channels })),
    })),
  };
}

/** Reads whom a step paged from the timeline, where another version may have written it. */
function pagesOf({ data }: FiredStep) {
  const pages: unknown = data['pages'];
  return (Array.isArray(pages) ? pages : []).slice(0, PEOPLE_SHOWN).flatMap((page: unknown) => {
    if (typeof page !== 'object' || page === null) return [];
    const { userId, channels } = page as Readonly<Record<string, unknown>>;
    if (typeof userId !== 'string' || !Array.isArray(channels)) return [];
    return [{ userId, channels: channels.filter((name) => typeof name === 'string').filter(isChannel) }];
  });
}

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
