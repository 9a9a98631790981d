import type { Fault } from '#kernel/errors.ts';
import { conditionOf } from '#modules/alerts/decide/route.ts';
import { faultsOf } from '#modules/contacts/decide/parsed.ts';
import { parseTimeZone } from '#modules/schedules/decide/schedule_times.ts';
import type { RouteInFile, StepInFile } from './file_fields.ts';
import type { PolicyInFile } from './file.ts';
import type { FieldsOf, RouteFields, StepFields } from './resource.ts';
import { spansOfHours } from './layers.ts';
import type { Ref } from './ref.ts';

interface ReadPolicy {
  readonly fields: FieldsOf['policy'];
  readonly faults: readonly Fault[];
  readonly named: readonly NamedResource[];
}

interface NamedResource {
  readonly kind: 'person' | 'schedule' | 'team' | 'policy';
  readonly key: string;
  readonly path: string;
}

/** Reads a policy of the file; `path` is where it stands. */
export function readPolicy({ team, name, steps, repeat, hours, roundRobin }: PolicyInFile, path: string): ReadPolicy {
  const faults = steps.flatMap((step, index) => stepFaults(step, `${path}.steps[${index}]`));
  const named = steps.flatMap((step, index) => namedBy(step, `${path}.steps[${index}]`));
  if (hours?.otherwise !== undefined) {
    named.push({ kind: 'policy', key: hours.otherwise, path: `${path}.hours.otherwise` });
  }
  const zone = hours && parseTimeZone(hours.timezone, `${path}.hours.timezone`);
  if (zone !== undefined) faults.push(...faultsOf(zone));
  const spans = hours === undefined ? [] : spansOfHours(hours.windows);
  if (hours !== undefined && spans.length === 0) {
    faults.push({ path: `${path}.hours.windows`, message: 'never come: give at least one window' });
  }
  return {
    faults,
    named,
    fields: {
      team,
      name,
      steps: steps.map((step, index) => toStepFields(step, index === 0 && roundRobin === true)),
      repeat: repeat ?? null,
      hours:
        hours === undefined
          ? null
          : {
              timezone: zone?.kind === 'ok' ? zone.value : hours.timezone,
              spans,
              otherwise: hours.otherwise ?? null,
              exemptFrom: hours.exemptFrom ?? null,
            },
    },
  };
}

function stepFaults(step: StepInFile, path: string): Fault[] {
  const faults: Fault[] = [];
  const refuse = (part: string, message: string) => faults.push({ path: `${path}.${part}`, message });
  const { schedules, next, teams = [], policy, onCall, everybody, people = [] } = step;
  if (next !== undefined && (schedules !== undefined || onCall === true)) {
    refuse('next', 'cannot stand beside schedules and onCall: make a step of its own');
  }
  if (schedules?.length === 0) refuse('schedules', 'names none; onCall means all of the team');
  if (teams.length > 1) refuse('teams', 'names more than one team: make a step of each');
  const others = [schedules, next, onCall, everybody].some((part) => part !== undefined && part !== false);
  if (policy !== undefined && (others || teams.length > 0 || people.length > 0)) {
    refuse('policy', 'stands for the steps of that policy: leave out whom else this step would page');
  }
  return faults;
}

function namedBy(
  { people = [], schedules = [], next = [], teams = [], policy }: StepInFile,
  path: string,
): NamedResource[] {
  const all = (kind: NamedResource['kind'], part: string, keys: readonly string[]) =>
    keys.map((key, index) => ({ kind, key, path: `${path}.${part}[${index}]` }));
  return [
    ...all('person', 'people', people),
    ...all('schedule', 'schedules', schedules),
    ...all('schedule', 'next', next),
    ...all('team', 'teams', teams),
    ...(policy === undefined ? [] : [{ kind: 'policy' as const, key: policy, path: `${path}.policy` }]),
  ];
}

function toStepFields(step: StepInFile, inTurn: boolean): StepFields {
  const { afterMinutes, channels, people = [], onCall = false, schedules, next, teams = [], policy, everybody } = step;
  const named = next ?? schedules ?? [];
  const [team] = teams;
  return {
    afterMinutes,
    channels,
    people,
    onCall: onCall || schedules !== undefined || next !== undefined,
    schedules: named.length === 0 ? null : named,
    isNext: next !== undefined,
    members: team === undefined ? null : { team, inTurn },
    policy: policy ?? null,
    everybody: everybody === true,
  };
}

/** A policy under the reference by which others name it. */
interface NamedPolicy {
  readonly key: Ref;
  readonly fields: Pick<FieldsOf['policy'], 'steps' | 'hours'>;
}

/** Returns the policies with those that others name before these. */
export function inOrderOfNeed<Policy extends NamedPolicy>(policies: readonly Policy[]): Policy[] {
  const byKey = new Map(policies.map((policy) => [policy.key, policy]));
  const ordered = new Set<Policy>();
  for (const policy of policies) {
    const open = [policy];
    for (let at = open.at(-1); at !== undefined; at = open.at(-1)) {
      const { steps, hours } = at.fields;
      const needed = [...steps.map((step) => step.policy), hours?.otherwise ?? null];
      const next = needed
        .map((key) => (key === null ? undefined : byKey.get(key)))
        .find((other) => other !== undefined && !ordered.has(other) && !open.includes(other));
      if (next !== undefined) {
        open.push(next);
        continue;
      }
      ordered.add(at);
      open.pop();
    }
  }
  return [...ordered];
}

/** Returns the fault of the first policy that comes back to itself through others; none when there is no such policy. */
export function policyLoopFaults(policies: readonly PolicyInFile[]): Fault[] {
  const ways = new Map(policies.map((policy) => [policy.key, nextOf(policy)]));
  const looping = loopingKeys(ways);
  const index = policies.findIndex(({ key }) => looping.has(key));
  if (index === -1) return [];
  const way: string[] = [];
  const places = new Map<string, number>();
  // Each of these leads to another of them, so that the way comes back to itself.
  for (let key = policies[index]?.key ?? ''; !places.has(key); key = nextIn(looping, ways, key)) {
    places.set(key, way.length);
    way.push(key);
  }
  const loop = way.slice(places.get(nextIn(looping, ways, way.at(-1) ?? '')));
  const shown = loop.length > LOOP_SHOWN ? [...loop.slice(0, LOOP_SHOWN), '…'] : loop;
  const at = policies.findIndex(({ key }) => key === loop[0]);
  return [{ path: `policies[${at}]`, message: `leads back to itself: ${[...shown, loop[0]].join(' → ')}` }];
}

const LOOP_SHOWN = 10;

function nextIn(looping: ReadonlySet<string>, ways: ReadonlyMap<string, readonly string[]>, key: string): string {
  return ways.get(key)?.find((next) => looping.has(next)) ?? key;
}

/** Returns the keys from which some way never ends: those that are left once every key without a way on is removed. */
function loopingKeys(ways: ReadonlyMap<string, readonly string[]>): Set<string> {
  const left = new Map([...ways].map(([key, next]) => [key, next.filter((named) => ways.has(named)).length]));
  const namers = new Map<string, string[]>();
  for (const [key, next] of ways) {
    for (const named of next) {
      const keys = namers.get(named);
      if (keys === undefined) namers.set(named, [key]);
      else keys.push(key);
    }
  }
  const ended = [...left].filter(([, count]) => count === 0).map(([key]) => key);
  for (let key = ended.pop(); key !== undefined; key = ended.pop()) {
    left.delete(key);
    for (const before of namers.get(key) ?? []) {
      const count = (left.get(before) ?? 0) - 1;
      left.set(before, count);
      if (count === 0) ended.push(before);
    }
  }
  return new Set(left.keys());
}

function nextOf({ steps, hours }: PolicyInFile): string[] {
  const named = [...steps.map(({ policy }) => policy), hours?.otherwise];
  return named.filter((key) => key !== undefined);
}

interface ReadRoutes {
  readonly routes: readonly RouteFields[];
  readonly faults: readonly Fault[];
  readonly policies: readonly { readonly policy: string; readonly path: string }[];
}

/** Reads the routes of a service; `path` is where they stand. */
export function readRoutes(routes: readonly RouteInFile[], path: string): ReadRoutes {
  const faults: Fault[] = [];
  const policies: { policy: string; path: string }[] = [];
  const read = routes.map(({ conditions = [], outcome, policy, pagesOnRise = false }, index): RouteFields => {
    const place = `${path}[${index}]`;
    const isLast = index === routes.length - 1;
    if (isLast && conditions.length > 0) {
      faults.push({ path: `${place}.conditions`, message: 'the last route takes the rest: it has no conditions' });
    }
    if (!isLast && conditions.length === 0) {
      faults.push({ path: `${place}.conditions`, message: 'only the last route has no conditions' });
    }
    if (outcome === 'page' && policy === undefined) {
      faults.push({ path: `${place}.policy`, message: 'is required: a route that pages names a policy' });
    }
    if (outcome !== 'page' && policy !== undefined) {
      faults.push({ path: `${place}.policy`, message: 'a route that pages nobody has no policy' });
    }
    if (policy !== undefined) policies.push({ policy, path: `${place}.policy` });
    return {
      conditions: conditions.flatMap((condition, at) => {
        const whole = conditionOf(condition);
        if (whole !== null) return [whole];
        const message = 'severity asks for atLeast, source for protocol, detail for path and equals or matches';
        faults.push({ path: `${place}.conditions[${at}]`, message });
        return [];
      }),
      outcome,
      policy: policy ?? null,
      pagesOnRise,
    };
  });
  return { routes: read, faults, policies };
}
