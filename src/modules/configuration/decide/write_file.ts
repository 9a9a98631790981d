import { Document } from 'yaml';

import { KEY_LENGTH_MAX, type StepInFile } from '#modules/configuration/decide/file_fields.ts';
import { type ConfigurationFile, FILE_VERSION, type PolicyInFile } from '#modules/configuration/decide/file.ts';
import { hoursOfSpans, type LayerFields, ONLY_LAYER, toLayerInFile } from './layers.ts';
import { LEVELS } from '#modules/exceptions/decide/level.ts';
import { type OrganizationState, presentOf, type RefOf } from '#modules/configuration/decide/present_state.ts';
import {
  type HoursFields,
  nameOf,
  type PresentResource,
  RESOURCE_KINDS,
  type ResourceKind,
  type StepFields,
} from '#modules/configuration/decide/resource.ts';
import { type Ref } from '#modules/configuration/decide/ref.ts';
import { hasSetting, RULE_DEFAULTS, type RuleSettings, settingsOf } from '#modules/rules/decide/rule_settings.ts';
import { Temporal, toTimestamp } from '#kernel/time.ts';

/** Returns all of an organization as a configuration file: keys that files have recorded, new ones for the rest. */
export function fileOf(state: OrganizationState, now: Temporal.Instant): ConfigurationFile {
  const keys = chooseKeys(state);
  const refOf: RefOf = (kind, id) => keys.get(kind)?.get(id) ?? '';
  const all = <Kind extends ResourceKind>(kind: Kind) => presentOf(state, kind, refOf);
  const keyOf = ({ kind, id }: { kind: ResourceKind; id: string }) => refOf(kind, id);
  const zones = new Map(state.schedules.map(({ id, timezone }) => [id, timezone]));
  const isThere = (ref: Ref) => ref !== '';
  const members = Map.groupBy(all('member'), ({ fields }) => fields.team);
  const overrides = Map.groupBy(all('override'), ({ fields }) => fields.schedule);
  const kept = new Set(state.services.filter(({ dsn }) => dsn.isKept).map(({ id }) => id));
  return {
    version: FILE_VERSION,
    people: all('person').map((person) => ({ key: keyOf(person), ...person.fields })),
    teams: all('team').map((team) => ({
      key: keyOf(team),
      name: team.fields.name,
      members: (members.get(keyOf(team)) ?? []).map(({ fields: { team: _, ...member } }) => member),
    })),
    calendars: all('calendar').map((calendar) => {
      const { name, url, dates } = calendar.fields;
      return { key: keyOf(calendar), name, ...(url === null ? { dates: [...dates] } : { url }) };
    }),
    schedules: all('schedule').map((schedule) => {
      const { team, name, timezone, layers } = schedule.fields;
      const lasting = (overrides.get(keyOf(schedule)) ?? []).filter(({ fields }) => isThere(fields.person));
      return {
        key: keyOf(schedule),
        team,
        name,
        timezone,
        layers: layers.map((layer) => layerInFile(layer, timezone, isThere)),
        ...(lasting.length > 0 && {
          overrides: lasting.map(({ fields: { person, startsAt, endsAt, layer } }) => {
            const zone = zones.get(schedule.id) ?? 'UTC';
            const times = { startsAt: momentText(startsAt, zone), endsAt: momentText(endsAt, zone) };
            return { person, ...times, ...(layer !== null && { layer: layer || ONLY_LAYER }) };
          }),
        }),
      };
    }),
    policies: all('policy').map((policy) => ({
      key: keyOf(policy),
      team: policy.fields.team,
      name: policy.fields.name,
      steps: policy.fields.steps.map((step) => stepInFile(step, isThere)),
      ...(policy.fields.repeat !== null && { repeat: { ...policy.fields.repeat } }),
      ...(policy.fields.hours !== null && { hours: hoursInFile(policy.fields.hours) }),
      ...(policy.fields.steps[0]?.members?.inTurn === true && { roundRobin: true }),
    })),
    services: all('service').map((service) => {
      const { name, environment, repository, team, capabilities, retentionDays, sentry } = service.fields;
      return {
        key: keyOf(service),
        name,
        ...(environment !== null && { environment }),
        ...(repository !== null && { repository }),
        ...(team !== null && { team }),
        capabilities: [...capabilities],
        retentionDays,
        ...(kept.has(service.id) && { sentry: { ...sentry, furtherKeys: [...sentry.furtherKeys] } }),
      };
    }),
    rules: all('rule').map((rule) => {
      const { service, name, kind, config, policy, enabled } = rule.fields;
      const settings = Object.entries(settingsOf(rule.fields.settings)).filter(
        ([setting, value]) =>
          hasSetting(kind, setting as keyof RuleSettings) && value !== RULE_DEFAULTS[setting as keyof RuleSettings],
      );
      return {
        key: keyOf(rule),
        service,
        name,
        kind,
        config: { ...config },
        policy: policy === '' ? null : policy,
        enabled,
        settings: Object.fromEntries(settings),
      };
    }),
    routes: all('routes').map((routes) => ({
      key: keyOf(routes),
      service: routes.fields.service,
      routes: routes.fields.routes.map(({ conditions, outcome, policy, pagesOnRise }) => ({
        ...(conditions.length > 0 && { conditions: [...conditions] as never }),
        // A route whose policy was deleted pages nobody.
        outcome: outcome === 'page' && policy === null ? ('open' as const) : outcome,
        ...(policy !== null && { policy }),
        pagesOnRise,
      })),
    })),
    maintenance: all('maintenance')
      .filter(({ fields: { endsAt } }) => endsAt === null || endsAt > toTimestamp(now))
      .map((maintenance) => {
        const { service, rule, label, timezone, startsAt, endsAt, recurrence, name } = maintenance.fields;
        return {
          key: keyOf(maintenance),
          name,
          ...(service !== null && { service }),
          ...(rule !== null && { rule }),
          ...(label !== null && { label }),
          timezone,
          startsAt: momentText(startsAt, timezone),
          ...(endsAt !== null && { endsAt: momentText(endsAt, timezone) }),
          ...(recurrence !== null && { recurrence: { ...recurrence, weekdays: [...recurrence.weekdays] } }),
        };
      }),
    dashboards: all('dashboard').map((dashboard) => {
      const { name, service, layout } = dashboard.fields;
      return { key: keyOf(dashboard), name, ...(service !== null && { service }), layout: [...layout] };
    }),
  };
}

export function fileText(file: ConfigurationFile): string {
  const document = new Document(file, { aliasDuplicateObjects: false });
  document.commentBefore = ' Configuration of Tocsin. "tocsin config plan FILE" shows what applying it would change.';
  return document.toString({ lineWidth: 0 });
}

function stepInFile(step: StepFields, isThere: (ref: Ref) => boolean): StepInFile {
  const { afterMinutes, channels, onCall, isNext, members, policy, everybody } = step;
  const people = step.people.filter(isThere);
  const schedules = step.schedules?.filter(isThere) ?? [];
  return {
    afterMinutes,
    channels: [...channels],
    ...(people.length > 0 && { people }),
    ...(isNext ? { next: schedules } : schedules.length > 0 ? { schedules } : onCall && { onCall }),
    ...(members !== null && isThere(members.team) && { teams: [members.team] }),
    ...(policy !== null && isThere(policy) && { policy }),
    ...(everybody && { everybody }),
  };
}

function hoursInFile({ timezone, spans, otherwise, exemptFrom }: HoursFields): NonNullable<PolicyInFile['hours']> {
  const level = LEVELS.find((severity) => severity === exemptFrom);
  return {
    timezone,
    windows: hoursOfSpans(spans),
    ...(otherwise !== null && otherwise !== '' && { otherwise }),
    ...(level !== undefined && { exemptFrom: level }),
  };
}

function layerInFile(layer: LayerFields, timezone: string, isThere: (ref: Ref) => boolean) {
  const turns = layer.turns
    .map((people) => ({ people: people.filter(isThere), isEmpty: people.length === 0 }))
    // A turn of nobody stays, one of people who have all left does not.
    .filter(({ people, isEmpty }) => isEmpty || people.length > 0)
    .map(({ people }) => people);
  return toLayerInFile({ ...layer, turns }, (at) => momentText(at, timezone));
}

/** Returns a time as the local one where that is unambiguous, else with its offset. */
function momentText(at: string, timezone: string): string {
  const instant = Temporal.Instant.from(at);
  const local = instant.toZonedDateTimeISO(timezone);
  const wall = local.toPlainDateTime();
  const isFirst = wall.toZonedDateTime(timezone).toInstant().equals(instant);
  if (!isFirst) return instant.toString({ timeZone: timezone });
  const { second, millisecond } = wall;
  return wall.toString({ smallestUnit: second === 0 && millisecond === 0 ? 'minute' : 'millisecond' });
}

/** Chooses a key for each resource: the recorded one, else its name in letters that keys have. */
function chooseKeys(state: OrganizationState): Map<ResourceKind, Map<string, string>> {
  const chosen = new Map<ResourceKind, Map<string, string>>();
  const recorded = Map.groupBy(state.managed, ({ kind }) => kind);
  const refOf: RefOf = (kind, id) => chosen.get(kind)?.get(id) ?? '';
  for (const kind of RESOURCE_KINDS) {
    const recordedKeys = new Map((recorded.get(kind) ?? []).map(({ resourceId, key }) => [resourceId, key]));
    const taken = new Set(recordedKeys.values());
    const keys = new Map<string, string>();
    for (const resource of presentOf(state, kind, refOf) as PresentResource[]) {
      const key = recordedKeys.get(resource.id) ?? freeKey(baseOf(resource, refOf), taken);
      taken.add(key);
      keys.set(resource.id, key);
    }
    chosen.set(kind, keys);
  }
  return chosen;
}

function baseOf(resource: PresentResource, refOf: RefOf): string {
  switch (resource.kind) {
    case 'person':
      return slug(resource.fields.email.split('@')[0] ?? '') || 'person';
    case 'schedule':
    case 'policy':
      return joined(resource.fields.team, resource.fields.name, resource.kind);
    case 'rule':
      return joined(resource.fields.service, resource.fields.name, 'rule');
    case 'dashboard':
      return joined(resource.fields.service ?? '', resource.fields.name, 'dashboard');
    case 'routes':
      return refOf('service', resource.id);
    case 'team':
    case 'service':
    case 'calendar':
    case 'maintenance':
      return slug(resource.fields.name) || resource.kind;
    case 'member':
    case 'override':
      return nameOf(resource);
  }
}

function joined(holder: string, name: string, kind: string): string {
  return [holder, slug(name) || kind].filter((part) => part !== '').join('-');
}

/** Returns the letters, digits and hyphens of a name; empty for a name in another script. */
function slug(name: string): string {
  return name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, KEY_LENGTH_MAX - 20);
}

function freeKey(base: string, taken: ReadonlySet<string>): string {
  const short = base.slice(0, KEY_LENGTH_MAX - 8);
  if (!taken.has(short)) return short;
  for (let number = 2; ; number += 1) if (!taken.has(`${short}-${number}`)) return `${short}-${number}`;
}
