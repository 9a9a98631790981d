import { layerFieldsOf, spansOfDailyWindows } from './layers.ts';
import {
  type HoursFields,
  type PresentOf,
  type StepFields,
  type ResourceKind,
} from '#modules/configuration/decide/resource.ts';
import { type Ref } from '#modules/configuration/decide/ref.ts';
import { mapIdsOfLayout } from '#modules/configuration/decide/widget_ids.ts';
import type { AlertRoute } from '#modules/alerts/decide/route.ts';
import type { Capability } from '#modules/capabilities/decide/capability.ts';
import type { Recurrence } from '#modules/maintenance/decide/maintenance.ts';
import type { RuleConfig, RuleKind } from '#modules/rules/decide/rule_kinds.ts';
import { settingsOf, type StoredSettings } from '#modules/rules/decide/rule_settings.ts';
import type { PolicyDetails } from '#modules/policies/decide/policy_details.ts';
import type { PolicyHours } from '#modules/policies/decide/hours.ts';
import type { EscalationStep } from '#modules/policies/decide/escalation.ts';
import type { Layer } from '#modules/schedules/decide/layer.ts';
import type { Role } from '#kernel/permissions.ts';
import { type Temporal, toTimestamp, toTimestampOrNull } from '#kernel/time.ts';

type Instant = Temporal.Instant;

/** All that a file can say about an organization, as it is now. Lists are in the order of creation. */
export interface OrganizationState {
  readonly people: readonly {
    readonly userId: string;
    readonly name: string;
    readonly email: string;
    readonly role: Role;
  }[];
  readonly teams: readonly { readonly id: string; readonly name: string; readonly updatedAt: Instant }[];
  /** Members of all teams, each team's in its own order. */
  readonly members: readonly {
    readonly id: string;
    readonly teamId: string;
    readonly userId: string;
    readonly phone: string | null;
    readonly phoneConfirmed: boolean;
    readonly smsEnabled: boolean;
    readonly callEnabled: boolean;
    readonly pushEnabled: boolean;
    readonly emailEnabled: boolean;
    readonly updatedAt: Instant;
  }[];
  readonly schedules: readonly {
    readonly id: string;
    readonly teamId: string;
    readonly name: string;
    readonly timezone: string;
    /** The lowest first. */
    readonly layers: readonly Layer[];
    readonly updatedAt: Instant;
  }[];
  readonly calendars: readonly {
    readonly id: string;
    readonly name: string;
    readonly url: string | null;
    readonly dates: readonly string[];
    readonly updatedAt: Instant;
  }[];
  /** Overrides that have not ended, of whole schedules and of one layer. */
  readonly overrides: readonly {
    readonly id: string;
    readonly scheduleId: string;
    readonly userId: string;
    readonly startAt: Instant;
    readonly endAt: Instant;
    readonly layerId: string | null;
  }[];
  readonly policies: readonly {
    readonly id: string;
    readonly teamId: string;
    readonly name: string;
    readonly steps: readonly EscalationStep[];
    readonly details: PolicyDetails | null;
    readonly updatedAt: Instant;
  }[];
  readonly services: readonly {
    readonly id: string;
    readonly name: string;
    readonly environment: string | null;
    readonly scmOwner: string | null;
    readonly scmRepo: string | null;
    readonly teamId: string | null;
    readonly capabilities: readonly Capability[];
    readonly retentionMetrics: number;
    readonly retentionExceptions: number;
    readonly retentionOncall: number;
    /** Public key and project number of the DSN, as its senders have them. */
    readonly dsn: {
      readonly publicKey: string;
      readonly projectNumber: number;
      /** Public keys beside it, sorted. */
      readonly furtherKeys: readonly string[];
      readonly isKept: boolean;
    };
    readonly updatedAt: Instant;
  }[];
  readonly rules: readonly {
    readonly id: string;
    readonly serviceId: string;
    readonly name: string;
    readonly kind: RuleKind;
    readonly config: RuleConfig;
    readonly settings: StoredSettings | null;
    readonly escalationPolicyId: string | null;
    readonly enabled: boolean;
    readonly updatedAt: Instant;
  }[];
  /** Routes of the services for which somebody has set them. */
  readonly routes: readonly { readonly serviceId: string; readonly routes: readonly AlertRoute[] }[];
  readonly maintenance: readonly {
    readonly id: string;
    readonly name: string;
    readonly serviceId: string | null;
    readonly ruleId: string | null;
    readonly labelName: string | null;
    readonly labelValue: string | null;
    readonly startsAt: Instant;
    readonly endsAt: Instant | null;
    readonly recurrence: Recurrence | null;
    readonly timezone: string;
    readonly createdAt: Instant;
    readonly updatedAt: Instant | null;
  }[];
  readonly dashboards: readonly {
    readonly id: string;
    readonly name: string;
    readonly serviceId: string | null;
    readonly layout: readonly object[];
    readonly updatedAt: Instant;
  }[];
  readonly managed: readonly ManagedResource[];
}

/** A resource that a file has a key for. */
export interface ManagedResource {
  readonly kind: ResourceKind;
  readonly key: string;
  readonly resourceId: string;
  readonly file: string;
  /** Whether a file made it; one that was there before is never deleted by a file. */
  readonly isMade: boolean;
}

/** Returns the reference to a resource, by its id. */
export type RefOf = (kind: ResourceKind, id: string) => Ref;

/** Returns the resources of one kind, with references by `refOf`. */
export function presentOf<Kind extends ResourceKind>(
  state: OrganizationState,
  kind: Kind,
  refOf: RefOf,
): PresentOf<Kind>[] {
  return READERS[kind](state, refOf);
}

type Reader<Kind extends ResourceKind> = (state: OrganizationState, refOf: RefOf) => PresentOf<Kind>[];

const READERS: { readonly [Kind in ResourceKind]: Reader<Kind> } = {
  person: ({ people }) =>
    people.map(({ userId, name, email, role }) => {
      return { kind: 'person', id: userId, updatedAt: null, fields: { name, email, role } };
    }),
  team: ({ teams }) =>
    teams.map(({ id, name, updatedAt }) => {
      return { kind: 'team', id, updatedAt: toTimestamp(updatedAt), fields: { name } };
    }),
  member: ({ members }, refOf) =>
    members.map(({ id, teamId, userId, phone, updatedAt, ...switches }) => {
      const fields = {
        team: refOf('team', teamId),
        person: refOf('person', userId),
        phone,
        sms: switches.smsEnabled,
        call: switches.callEnabled,
        push: switches.pushEnabled,
        email: switches.emailEnabled,
      };
      return { kind: 'member', id, updatedAt: toTimestamp(updatedAt), fields };
    }),
  schedule: ({ schedules }, refOf) =>
    schedules.map(({ id, teamId, name, timezone, updatedAt, layers: stored }) => {
      const layers = stored.map((layer) =>
        layerFieldsOf(layer, stored.length === 1, {
          person: (userId) => refOf('person', userId),
          calendar: (calendarId) => refOf('calendar', calendarId),
        }),
      );
      const layerIds = Object.fromEntries(stored.map((layer) => [layer.name, layer.id]));
      const fields = { team: refOf('team', teamId), name, timezone, layers, layerIds };
      return { kind: 'schedule', id, updatedAt: toTimestamp(updatedAt), fields };
    }),
  calendar: ({ calendars }) =>
    calendars.map(({ id, name, url, dates, updatedAt }) => {
      return {
        kind: 'calendar',
        id,
        updatedAt: toTimestamp(updatedAt),
        fields: { name, url, dates: [...dates].sort() },
      };
    }),
  override: ({ overrides, schedules }, refOf) =>
    overrides.flatMap(({ id, scheduleId, userId, startAt, endAt, layerId }) => {
      const layers = schedules.find((schedule) => schedule.id === scheduleId)?.layers ?? [];
      const stored = layers.find(({ id: of }) => of === layerId);
      const layer = stored === undefined ? null : layers.length === 1 ? '' : stored.name;
      if (layerId !== null && layer === null) return [];
      const fields = {
        schedule: refOf('schedule', scheduleId),
        person: refOf('person', userId),
        startsAt: toTimestamp(startAt),
        endsAt: toTimestamp(endAt),
        layer,
      };
      return [{ kind: 'override', id, updatedAt: null, fields }];
    }),
  policy: ({ policies }, refOf) =>
    policies.map(({ id, teamId, name, steps, details, updatedAt }) => {
      const fields = {
        team: refOf('team', teamId),
        name,
        steps: steps.map((step) => stepFieldsOf(step, refOf)),
        repeat: details?.repeat ?? null,
        hours: details?.hours === undefined ? null : hoursFieldsOf(details.hours, refOf),
      };
      return { kind: 'policy', id, updatedAt: toTimestamp(updatedAt), fields };
    }),
  service: ({ services }, refOf) =>
    services.map(({ id, name, environment, scmOwner, scmRepo, teamId, capabilities, dsn, updatedAt, ...retention }) => {
      const fields = {
        name,
        environment,
        repository: scmOwner === null && scmRepo === null ? null : { owner: scmOwner ?? '', name: scmRepo ?? '' },
        team: teamId === null ? null : refOf('team', teamId),
        capabilities: [...capabilities].sort(),
        retentionDays: {
          metrics: retention.retentionMetrics,
          exceptions: retention.retentionExceptions,
          oncall: retention.retentionOncall,
        },
        sentry: { publicKey: dsn.publicKey, projectNumber: dsn.projectNumber, furtherKeys: dsn.furtherKeys },
      };
      return { kind: 'service', id, updatedAt: toTimestamp(updatedAt), fields };
    }),
  rule: ({ rules }, refOf) =>
    rules.map(({ id, serviceId, name, kind, config, settings, escalationPolicyId, enabled, updatedAt }) => {
      const fields = {
        service: refOf('service', serviceId),
        name,
        kind,
        config,
        policy: escalationPolicyId === null ? null : refOf('policy', escalationPolicyId),
        enabled,
        settings: settingsOf(settings),
      };
      return { kind: 'rule', id, updatedAt: toTimestamp(updatedAt), fields };
    }),
  routes: ({ routes: all }, refOf) =>
    all.map(({ serviceId, routes }) => {
      const fields = {
        service: refOf('service', serviceId),
        routes: routes.map(({ conditions, outcome, policyId, pagesOnRise }) => {
          return { conditions, outcome, policy: policyId === null ? null : refOf('policy', policyId), pagesOnRise };
        }),
      };
      return { kind: 'routes', id: serviceId, updatedAt: null, fields };
    }),
  maintenance: ({ maintenance }, refOf) =>
    maintenance.map(({ id, name, serviceId, ruleId, labelName, labelValue, ...times }) => {
      const fields = {
        name,
        service: serviceId === null ? null : refOf('service', serviceId),
        rule: ruleId === null ? null : refOf('rule', ruleId),
        label: labelName === null ? null : { name: labelName, value: labelValue ?? '' },
        timezone: times.timezone,
        startsAt: toTimestamp(times.startsAt),
        endsAt: toTimestampOrNull(times.endsAt),
        recurrence: times.recurrence,
      };
      return { kind: 'maintenance', id, updatedAt: toTimestamp(times.updatedAt ?? times.createdAt), fields };
    }),
  dashboard: ({ dashboards, services, teams }, refOf) => {
    const ids = { service: new Set(services.map(({ id }) => id)), team: new Set(teams.map(({ id }) => id)) };
    return dashboards.map(({ id, name, serviceId, layout, updatedAt }) => {
      const fields = {
        name,
        service: serviceId === null ? null : refOf('service', serviceId),
        layout: mapIdsOfLayout(layout as readonly Record<string, unknown>[], (kind, text) =>
          ids[kind].has(text) ? refOf(kind, text) : null,
        ),
      };
      return { kind: 'dashboard', id, updatedAt: toTimestamp(updatedAt), fields };
    });
  },
};

function stepFieldsOf(step: EscalationStep, refOf: RefOf): StepFields {
  const { afterMinutes, channels, targetUserIds, useSchedule, scheduleIds, turn, members, policyId } = step;
  return {
    afterMinutes,
    channels: [...channels],
    people: targetUserIds.map((userId) => refOf('person', userId)),
    onCall: useSchedule,
    schedules: scheduleIds === undefined ? null : scheduleIds.map((id) => refOf('schedule', id)),
    isNext: turn === 'next',
    members: members === undefined ? null : { team: refOf('team', members.teamId), inTurn: members.inTurn === true },
    policy: policyId === undefined ? null : refOf('policy', policyId),
    everybody: step.needsEverybody === true,
  };
}

function hoursFieldsOf({ timezone, windows, outside, exemptFrom }: PolicyHours, refOf: RefOf): HoursFields {
  const otherwise = outside === 'hold' ? null : refOf('policy', outside.policyId);
  return { timezone, spans: spansOfDailyWindows(windows), otherwise, exemptFrom };
}
