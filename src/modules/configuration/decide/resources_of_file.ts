import type { ConfigurationFile, MaintenanceInFile, ScheduleInFile } from '#modules/configuration/decide/file.ts';
import { type LayerFields, readLayer } from './layers.ts';
import { inOrderOfNeed, policyLoopFaults, readPolicy, readRoutes } from './policies_of_file.ts';
import type { FieldsOf, ResourceKind, WantedOf, WantedResource } from '#modules/configuration/decide/resource.ts';
import { mapIdsOfLayout } from '#modules/configuration/decide/widget_ids.ts';
import { parseRuleConfig, parseRuleSettings, settingsOf } from '#modules/rules/decide/rule_settings.ts';
import { isAtOrBefore, toTimestamp } from '#kernel/time.ts';
import { parseInstant } from '#modules/schedules/decide/parse_instant.ts';
import { faultsOf, type Parsed } from '#modules/contacts/decide/parsed.ts';
import { parseTimeZone } from '#modules/schedules/decide/schedule_times.ts';
import type { Fault } from '#kernel/errors.ts';
import type { Steps } from '#kernel/cooperative_task.ts';

/** Resources of a file, in the order in which they are created, or what is wrong with it. */
export interface ResourcesOfFile {
  readonly resources: readonly WantedResource[];
  readonly faults: readonly Fault[];
  /** Parts that the product does not keep, as sentences. */
  readonly notes: readonly string[];
}

/** Whether a key outside the file names a resource of the organization. */
export type IsKnownKey = (kind: ResourceKind, key: string) => boolean;

/** Reads the meaning of a file in steps: keys, references, times, zones and configs. */
export function resourceSteps(file: ConfigurationFile, isKnownKey: IsKnownKey): Steps<ResourcesOfFile> {
  return new FileReader(file, isKnownKey).read();
}

const SECTIONS = {
  person: 'people',
  team: 'teams',
  calendar: 'calendars',
  schedule: 'schedules',
  policy: 'policies',
  service: 'services',
  rule: 'rules',
  routes: 'routes',
  maintenance: 'maintenance',
  dashboard: 'dashboards',
} as const;

type Section = keyof typeof SECTIONS;

class FileReader {
  readonly #file: ConfigurationFile;
  readonly #isKnownKey: IsKnownKey;
  readonly #faults: Fault[] = [];
  readonly #resources: WantedResource[] = [];
  readonly #keys = new Map<Section, ReadonlySet<string>>();
  #teamsOfSchedules: ReadonlyMap<string, string> | undefined;

  constructor(file: ConfigurationFile, isKnownKey: IsKnownKey) {
    this.#file = file;
    this.#isKnownKey = isKnownKey;
  }

  *read(): Steps<ResourcesOfFile> {
    for (const kind of Object.keys(SECTIONS) as Section[]) this.#readKeys(kind);
    yield;
    this.#readPeople();
    yield;
    this.#readTeams();
    this.#readCalendars();
    for (const [index, schedule] of (this.#file.schedules ?? []).entries()) {
      yield;
      this.#resources.push(this.#readSchedule(schedule, index));
    }
    for (const [index, schedule] of (this.#file.schedules ?? []).entries()) {
      yield;
      this.#readOverrides(schedule, index);
    }
    yield* this.#readPolicies();
    this.#readServices();
    yield* this.#readRules();
    this.#readRoutes();
    for (const [index, maintenance] of (this.#file.maintenance ?? []).entries()) {
      this.#readMaintenance(maintenance, `maintenance[${index}]`);
    }
    this.#readDashboards();
    return { resources: this.#resources, faults: this.#faults, notes: this.#notes() };
  }

  #readKeys(kind: Section): void {
    const keys = new Set<string>();
    for (const [index, { key }] of (this.#file[SECTIONS[kind]] ?? []).entries()) {
      if (keys.has(key)) this.#refuse(`${SECTIONS[kind]}[${index}].key`, `${JSON.stringify(key)} is used twice`);
      keys.add(key);
    }
    this.#keys.set(kind, keys);
  }

  #readPeople(): void {
    const addresses = new Map<string, string>();
    for (const [index, { key, name, email, role }] of (this.#file.people ?? []).entries()) {
      const path = `people[${index}]`;
      const other = addresses.get(email.toLowerCase());
      if (other !== undefined) {
        this.#refuse(
          `${path}.email`,
          `${email} is the address of ${JSON.stringify(other)}, too; one address is one person`,
        );
      }
      addresses.set(email.toLowerCase(), key);
      this.#add('person', key, path, { email, name, ...(role !== undefined && { role }) });
    }
  }

  #readTeams(): void {
    const phones = new Map((this.#file.people ?? []).map((person) => [person.key, person.phones]));
    const teams = this.#file.teams ?? [];
    for (const [index, { key, name }] of teams.entries()) this.#add('team', key, `teams[${index}]`, { name });
    for (const [index, { key, members = [] }] of teams.entries()) {
      const people = new Set<string>();
      for (const [place, { person, phone, ...switches }] of members.entries()) {
        const path = `teams[${index}].members[${place}]`;
        this.#refer('person', person, `${path}.person`);
        if (people.has(person))
          this.#refuse(`${path}.person`, `${JSON.stringify(person)} is a member of this team twice`);
        people.add(person);
        const number = phone === undefined ? phones.get(person)?.[0] : phone;
        const { sms = true, call = true, push = true, email = true } = switches;
        this.#add('member', `${key}/${person}`, path, {
          team: key,
          person,
          ...(number !== undefined && { phone: number }),
          sms,
          call,
          push,
          email,
        });
      }
    }
  }

  #readCalendars(): void {
    for (const [index, { key, name, url, dates }] of (this.#file.calendars ?? []).entries()) {
      const path = `calendars[${index}]`;
      if ((url === undefined) === (dates === undefined)) this.#refuse(path, 'must have one of url and dates');
      const fields = { name, url: url ?? null, ...(dates !== undefined && { dates: [...new Set(dates)].sort() }) };
      this.#add('calendar', key, path, fields);
    }
  }

  #readSchedule({ key, team, name, timezone, layers }: ScheduleInFile, index: number): WantedOf<'schedule'> {
    const path = `schedules[${index}]`;
    this.#refer('team', team, `${path}.team`);
    const zone = this.#parsed(parseTimeZone(timezone, `${path}.timezone`)) ?? 'UTC';
    if (layers === undefined) return { kind: 'schedule', key, path, fields: { team, name, timezone: zone } };
    if (layers.length === 0) this.#refuse(`${path}.layers`, 'must have at least one layer');
    const names = new Set(layers.map((layer) => layer.name));
    if (names.size < layers.length) this.#refuse(`${path}.layers`, 'have a name twice');
    const read = layers.map((layer, place): LayerFields => {
      const isOnly = layers.length === 1;
      const at = `${path}.layers[${place}]`;
      const { layer: fields, faults } = readLayer(layer, { path: at, zone, isOnly });
      if (layer.holidays !== undefined) this.#refer('calendar', layer.holidays.calendar, `${at}.holidays.calendar`);
      this.#faults.push(...faults);
      for (const [turn, { people }] of layer.turns.entries()) {
        for (const [day, person] of people.entries()) {
          this.#refer('person', person, `${path}.layers[${place}].turns[${turn}].people[${day}]`);
        }
      }
      return fields;
    });
    return { kind: 'schedule', key, path, fields: { team, name, timezone: zone, layers: read } };
  }

  #readOverrides({ key, timezone, layers, overrides = [] }: ScheduleInFile, index: number): void {
    const zone = parseTimeZone(timezone, 'timezone');
    const keys = new Set<string>();
    for (const [place, override] of overrides.entries()) {
      const path = `schedules[${index}].overrides[${place}]`;
      this.#refer('person', override.person, `${path}.person`);
      const { layer = null } = override;
      if (layer !== null && layers?.some(({ name }) => name === layer) !== true)
        this.#refuse(`${path}.layer`, `the schedule has no layer "${layer}"`);
      const window = this.#window(override, path, zone.kind === 'ok' ? zone.value : 'UTC');
      if (window === null) continue;
      const ownKey = `${key}/${window.startsAt}/${window.endsAt}/${override.person}${layer === null ? '' : `/${layer}`}`;
      if (keys.has(ownKey)) this.#refuse(path, 'stands twice');
      keys.add(ownKey);
      const layerName = layer !== null && layers?.length === 1 ? '' : layer;
      this.#add('override', ownKey, path, { schedule: key, person: override.person, ...window, layer: layerName });
    }
  }

  *#readPolicies(): Steps<void> {
    const policies = this.#file.policies ?? [];
    this.#faults.push(...policyLoopFaults(policies));
    const read: WantedOf<'policy'>[] = [];
    for (const [index, policy] of policies.entries()) {
      yield;
      const path = `policies[${index}]`;
      this.#refer('team', policy.team, `${path}.team`);
      const { fields, faults, named } = readPolicy(policy, path);
      for (const { kind, key, path: place } of named) {
        this.#refer(kind, key, place);
        if (kind === 'schedule') this.#refuseOfAnotherTeam(policy.team, key, place);
      }
      this.#faults.push(...faults);
      read.push({ kind: 'policy', key: policy.key, path, fields });
    }
    for (const policy of inOrderOfNeed(read)) this.#resources.push(policy);
  }

  /** Refuses a step that names a schedule of another team, before anything is written. */
  #refuseOfAnotherTeam(team: string, key: string, path: string): void {
    this.#teamsOfSchedules ??= new Map(this.#file.schedules?.map((schedule) => [schedule.key, schedule.team]));
    const other = this.#teamsOfSchedules.get(key) ?? team;
    if (other === team) return;
    this.#refuse(path, `is a schedule of another team; let the step go to a policy of ${JSON.stringify(other)}`);
  }

  #readServices(): void {
    for (const [index, service] of (this.#file.services ?? []).entries()) {
      const { key, name, environment, repository, team, capabilities, retentionDays, sentry, policy } = service;
      const path = `services[${index}]`;
      if (policy !== undefined) this.#refer('policy', policy, `${path}.policy`);
      if (team !== undefined) this.#refer('team', team, `${path}.team`);
      const fields: FieldsOf['service'] = {
        name,
        ...(environment !== undefined && { environment }),
        ...(repository !== undefined && { repository }),
        ...(team !== undefined && { team }),
        ...(capabilities !== undefined && { capabilities: [...new Set(capabilities)].sort() }),
        ...(retentionDays !== undefined && { retentionDays }),
        ...(sentry !== undefined && {
          sentry: {
            ...sentry,
            furtherKeys: [...new Set(sentry.furtherKeys)].filter((other) => other !== sentry.publicKey).sort(),
          },
        }),
      };
      this.#add('service', key, path, fields);
    }
    this.#refuseSameDsn();
  }

  /** Refuses two services that keep the same public key: a sender has one service. */
  #refuseSameDsn(): void {
    const keys = new Map<string, string>();
    for (const [index, { key, sentry }] of (this.#file.services ?? []).entries()) {
      if (sentry === undefined) continue;
      for (const publicKey of new Set([sentry.publicKey, ...(sentry.furtherKeys ?? [])])) {
        const other = keys.get(publicKey);
        if (other !== undefined)
          this.#refuse(`services[${index}].sentry`, `has a public key of ${JSON.stringify(other)}: ${publicKey}`);
        keys.set(publicKey, key);
      }
    }
  }

  *#readRules(): Steps<void> {
    for (const [index, rule] of (this.#file.rules ?? []).entries()) {
      yield;
      const path = `rules[${index}]`;
      const { key, service, name, kind, policy, enabled } = rule;
      this.#refer('service', service, `${path}.service`);
      if (policy !== undefined && policy !== null) this.#refer('policy', policy, `${path}.policy`);
      const config = this.#parsed(below(path, parseRuleConfig(kind, rule.config, 'config')));
      if (config === null) continue;
      const settings = this.#parsed(below(path, parseRuleSettings({ kind, config }, rule.settings ?? {}, 'settings')));
      const fields: FieldsOf['rule'] = {
        service,
        name,
        kind,
        config,
        ...(policy !== undefined && { policy }),
        ...(enabled !== undefined && { enabled }),
        ...(rule.settings !== undefined && settings !== null && { settings: settingsOf(settings) }),
      };
      this.#add('rule', key, path, fields);
    }
  }

  #readRoutes(): void {
    const withPolicy = new Map<string, number>();
    for (const [index, { key, policy }] of (this.#file.services ?? []).entries()) {
      if (policy === undefined) continue;
      withPolicy.set(key, index);
      const route = { conditions: [], outcome: 'page', policy, pagesOnRise: true } as const;
      this.#add('routes', key, `services[${index}].policy`, { service: key, routes: [route] });
    }
    const services = new Set<string>();
    for (const [index, { key, service, routes }] of (this.#file.routes ?? []).entries()) {
      const path = `routes[${index}]`;
      this.#refer('service', service, `${path}.service`);
      if (withPolicy.has(service))
        this.#refuse(path, `the service ${JSON.stringify(service)} has a policy; give it one of both`);
      if (services.has(service)) this.#refuse(`${path}.service`, `${JSON.stringify(service)} has routes already`);
      if (key !== service && withPolicy.has(key)) this.#refuse(`${path}.key`, `is the key of a service with a policy`);
      services.add(service);
      const { routes: read, faults, policies } = readRoutes(routes, `${path}.routes`);
      this.#faults.push(...faults);
      for (const named of policies) this.#refer('policy', named.policy, named.path);
      this.#add('routes', key, path, { service, routes: read });
    }
  }

  #readMaintenance(
    { key, name, service, rule, label, timezone, recurrence, ...times }: MaintenanceInFile,
    path: string,
  ): void {
    if ([service, rule, label].filter((target) => target !== undefined).length !== 1) {
      this.#refuse(path, 'must have one of service, rule and label');
    }
    if (service !== undefined) this.#refer('service', service, `${path}.service`);
    if (rule !== undefined) this.#refer('rule', rule, `${path}.rule`);
    const zone = this.#parsed(parseTimeZone(timezone, `${path}.timezone`)) ?? 'UTC';
    if (times.endsAt === undefined && recurrence === undefined) {
      this.#refuse(`${path}.endsAt`, 'is required, unless the window recurs');
    }
    const startsAt = this.#parsed(parseInstant(times.startsAt, zone, `${path}.startsAt`));
    const endsAt = times.endsAt === undefined ? null : this.#parsed(parseInstant(times.endsAt, zone, `${path}.endsAt`));
    if (startsAt === null) return;
    if (endsAt !== null && isAtOrBefore(endsAt, startsAt)) this.#refuse(`${path}.endsAt`, 'must be after startsAt');
    this.#add('maintenance', key, path, {
      name,
      service: service ?? null,
      rule: rule ?? null,
      label: label ?? null,
      timezone: zone,
      startsAt: toTimestamp(startsAt),
      endsAt: endsAt && toTimestamp(endsAt),
      recurrence: recurrence ?? null,
    });
  }

  #readDashboards(): void {
    for (const [index, { key, name, service, layout }] of (this.#file.dashboards ?? []).entries()) {
      const path = `dashboards[${index}]`;
      if (service !== undefined) this.#refer('service', service, `${path}.service`);
      mapIdsOfLayout(layout, (kind, text, place) => {
        this.#refer(kind, text, `${path}.layout${place}`);
        return text;
      });
      this.#add('dashboard', key, path, { name, service: service ?? null, layout });
    }
  }

  #notes(): string[] {
    const zones = (this.#file.people ?? []).filter(({ timezone }) => timezone !== undefined).length;
    const further = (this.#file.people ?? []).filter(({ phones = [] }) => phones.length > 1).length;
    const round = (this.#file.policies ?? []).filter(
      ({ roundRobin, steps: [first] }) => roundRobin === true && first?.teams === undefined,
    ).length;
    return [
      ...(round > 0
        ? [
            `The first steps of ${round} policies with roundRobin page everybody they name: only members of a team take turns.`,
          ]
        : []),
      ...(zones > 0
        ? [`The time zones of ${zones} people stay in the file: browsers show each person their own.`]
        : []),
      ...(further > 0 ? [`The further phone numbers of ${further} people stay in the file: a team uses one.`] : []),
    ];
  }

  #window(
    times: { readonly startsAt: string; readonly endsAt: string },
    path: string,
    zone: string,
  ): { startsAt: string; endsAt: string } | null {
    const startsAt = this.#parsed(parseInstant(times.startsAt, zone, `${path}.startsAt`));
    const endsAt = this.#parsed(parseInstant(times.endsAt, zone, `${path}.endsAt`));
    if (startsAt === null || endsAt === null) return null;
    if (isAtOrBefore(endsAt, startsAt)) this.#refuse(`${path}.endsAt`, 'must be after startsAt');
    return { startsAt: toTimestamp(startsAt), endsAt: toTimestamp(endsAt) };
  }

  #add<Kind extends ResourceKind>(kind: Kind, key: string, path: string, fields: FieldsOf[Kind]): void {
    this.#resources.push({ kind, key, path, fields } as WantedResource);
  }

  #refer(kind: Section, key: string, path: string): void {
    if (this.#keys.get(kind)?.has(key) === true || this.#isKnownKey(kind, key)) return;
    this.#refuse(path, `no entry of ${SECTIONS[kind]} has the key ${JSON.stringify(key.slice(0, 100))}`);
  }

  #parsed<T>(parsed: Parsed<T>): T | null {
    if (parsed.kind === 'ok') return parsed.value;
    this.#faults.push(...faultsOf(parsed));
    return null;
  }

  #refuse(path: string, message: string): void {
    this.#faults.push({ path, message });
  }
}

function below<T>(path: string, parsed: Parsed<T>): Parsed<T> {
  if (parsed.kind === 'ok') return parsed;
  return { kind: 'faults', faults: parsed.faults.map((fault) => ({ ...fault, path: `${path}.${fault.path}` })) };
}
