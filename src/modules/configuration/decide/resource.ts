import type { LayerFields, WeekSpan } from './layers.ts';
import type { Ref } from '#modules/configuration/decide/ref.ts';
import type { RouteCondition, RouteOutcome } from '#modules/alerts/decide/route.ts';
import type { Capability } from '#modules/capabilities/decide/capability.ts';
import type { Recurrence } from '#modules/maintenance/decide/maintenance.ts';
import type { RuleConfig, RuleKind } from '#modules/rules/decide/rule_kinds.ts';
import type { StoredSettings } from '#modules/rules/decide/rule_settings.ts';
import type { Channel } from '#modules/contacts/decide/channel.ts';
import type { Repetition } from '#modules/policies/decide/policy_details.ts';
import type { Role } from '#kernel/permissions.ts';

/** Kinds of resources, in the order in which they are created: what others name comes first. */
export const RESOURCE_KINDS = [
  'person',
  'team',
  'member',
  'calendar',
  'schedule',
  'override',
  'policy',
  'service',
  'rule',
  'routes',
  'maintenance',
  'dashboard',
] as const;

export type ResourceKind = (typeof RESOURCE_KINDS)[number];

/** Facts of each kind that the file decides. What is absent stays as it is. Times are RFC 3339 in UTC. */
export interface FieldsOf {
  readonly person: { readonly email: string; readonly name: string; readonly role?: Role };
  readonly team: { readonly name: string };
  readonly member: {
    readonly team: Ref;
    readonly person: Ref;
    readonly phone?: string | null;
    readonly sms: boolean;
    readonly call: boolean;
    readonly push: boolean;
    readonly email: boolean;
  };
  readonly schedule: {
    readonly team: Ref;
    readonly name: string;
    readonly timezone: string;
    readonly layers?: readonly LayerFields[];
    /** Ids of the layers that are there, by name; never in a file. */
    readonly layerIds?: Readonly<Record<string, string>>;
  };
  /** The dates of an address change by themselves: they are left out. */
  readonly calendar: { readonly name: string; readonly url: string | null; readonly dates?: readonly string[] };
  readonly override: {
    readonly schedule: Ref;
    readonly person: Ref;
    readonly startsAt: string;
    readonly endsAt: string;
    /** Name of the one layer that it replaces, empty for the only layer of a schedule; null: the whole schedule. */
    readonly layer: string | null;
  };
  readonly policy: {
    readonly team: Ref;
    readonly name: string;
    readonly steps: readonly StepFields[];
    readonly repeat: Repetition | null;
    readonly hours: HoursFields | null;
  };
  readonly service: {
    readonly name: string;
    readonly environment?: string | null;
    readonly repository?: { readonly owner: string; readonly name: string } | null;
    /** Team that owns it. */
    readonly team?: Ref | null;
    readonly capabilities?: readonly Capability[];
    readonly retentionDays?: { readonly [Of in Capability]?: number };
    readonly sentry?: {
      readonly publicKey: string;
      readonly projectNumber: number;
      readonly furtherKeys: readonly string[];
    };
  };
  readonly rule: {
    readonly service: Ref;
    readonly name: string;
    readonly kind: RuleKind;
    readonly config: RuleConfig;
    readonly policy?: Ref | null;
    readonly enabled?: boolean;
    readonly settings?: StoredSettings;
  };
  readonly routes: { readonly service: Ref; readonly routes: readonly RouteFields[] };
  readonly maintenance: {
    readonly name: string;
    readonly service: Ref | null;
    readonly rule: Ref | null;
    readonly label: { readonly name: string; readonly value: string } | null;
    readonly timezone: string;
    readonly startsAt: string;
    readonly endsAt: string | null;
    readonly recurrence: Recurrence | null;
  };
  readonly dashboard: {
    readonly name: string;
    readonly service: Ref | null;
    readonly layout: readonly Readonly<Record<string, unknown>>[];
  };
}

export interface StepFields {
  readonly afterMinutes: number;
  readonly channels: readonly Channel[];
  readonly people: readonly Ref[];
  /** Whether schedules are asked: those of the list, all of the team without one. */
  readonly onCall: boolean;
  readonly schedules: readonly Ref[] | null;
  /** Whether those whose turn follows are paged, in place of those on call. */
  readonly isNext: boolean;
  /** Team whose members are paged, all of them or one with each incident. */
  readonly members: { readonly team: Ref; readonly inTurn: boolean } | null;
  /** Policy whose steps follow in place of this one. */
  readonly policy: Ref | null;
  readonly everybody: boolean;
}

/** Hours of a policy; the parts of the week are in minutes from Monday 00:00. */
export interface HoursFields {
  readonly timezone: string;
  readonly spans: readonly WeekSpan[];
  /** Policy outside the hours; null: the incident waits. */
  readonly otherwise: Ref | null;
  readonly exemptFrom: string | null;
}

export interface RouteFields {
  readonly conditions: readonly RouteCondition[];
  readonly outcome: RouteOutcome;
  readonly policy: Ref | null;
  readonly pagesOnRise: boolean;
}

export type WantedResource = { [Kind in ResourceKind]: WantedOf<Kind> }[ResourceKind];

export interface WantedOf<Kind extends ResourceKind> {
  readonly kind: Kind;
  readonly key: string;
  /** Path in the file. */
  readonly path: string;
  readonly fields: FieldsOf[Kind];
}

export interface PresentOf<Kind extends ResourceKind> {
  readonly kind: Kind;
  readonly id: string;
  readonly fields: Required<FieldsOf[Kind]>;
  /** The updatedAt that views show of it; null for one that has none. */
  readonly updatedAt: string | null;
}

export type PresentResource = { [Kind in ResourceKind]: PresentOf<Kind> }[ResourceKind];

/** Returns the name of a resource for people. */
export function nameOf({ kind, fields }: Pick<WantedResource, 'kind' | 'fields'>): string {
  const { name, person, service, startsAt } = fields as {
    readonly [field in 'name' | 'person' | 'service' | 'startsAt']?: string;
  };
  if (kind === 'override') return `${person} from ${startsAt}`;
  return name ?? person ?? service ?? '';
}
