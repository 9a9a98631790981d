import type { Plan, PlannedChange } from '#modules/configuration/decide/plan.ts';
import type { FieldsOf, RouteFields, StepFields } from '#modules/configuration/decide/resource.ts';
import { worseSeverity } from '#modules/incidents/decide/incident_limit.ts';

/** Tells what pages fewer people, later, by fewer channels or not at all. */
export function changedPaging({ changes }: Plan): string[] {
  return changes.flatMap(lessOf);
}

function lessOf(change: PlannedChange): string[] {
  const { action, kind, name, part } = change;
  if (part?.part === 'capability' && !part.isEnabled) {
    return [`${name}: ${part.capability} is disabled, and what rests on it pages nobody.`];
  }
  if (action === 'delete') return deletedText(change);
  switch (kind) {
    case 'policy':
      return action === 'update' ? lessOfPolicy(change) : [];
    case 'rule':
      return action === 'update' ? lessOfRule(change) : [];
    case 'routes':
      return action === 'update' ? lessOfRoutes(change) : [];
    case 'member':
      return action === 'update' ? lessOfMember(change) : [];
    case 'maintenance':
      return action === 'create' ? maintenanceText(change) : [];
    default:
      return [];
  }
}

const DELETED: Partial<Record<PlannedChange['kind'], string>> = {
  policy: 'is deleted: rules and routes by it page nobody',
  rule: 'is deleted and opens no incident any more',
  schedule: 'is deleted: steps that rest on it reach nobody by it',
  service: 'is deleted with all its data',
  team: 'is deleted',
  member: 'is no member of the team any more',
};

function deletedText({ kind, name }: PlannedChange): string[] {
  const text = DELETED[kind];
  return text === undefined ? [] : [`${name} ${text}.`];
}

function lessOfPolicy({ name, wanted, present }: PlannedChange): string[] {
  if (wanted?.kind !== 'policy' || present?.kind !== 'policy') return [];
  const [before, after] = [reachOf(present.fields.steps), reachOf(wanted.fields.steps)];
  const sentences: string[] = [];
  for (const [recipient, was] of before) {
    const is = after.get(recipient);
    const whom = recipient === ON_CALL ? 'whoever is on call' : recipient;
    if (is === undefined) {
      sentences.push(`${name}: ${whom} is not paged any more.`);
      continue;
    }
    if (is.minutes > was.minutes) {
      sentences.push(`${name}: ${whom} is paged after ${is.minutes} minutes instead of ${was.minutes}.`);
    }
    const lost = [...was.channels].filter((channel) => !is.channels.has(channel));
    if (lost.length > 0) sentences.push(`${name}: ${whom} is not paged by ${lost.join(', ')} any more.`);
  }
  return sentences;
}

const ON_CALL = '@on call';

function recipientsOf({ people, onCall, schedules, isNext, members, policy }: StepFields): string[] {
  const asked = schedules?.map((schedule) => `whoever is on call in ${schedule}`) ?? (onCall ? [ON_CALL] : []);
  return [
    ...people,
    ...(isNext ? asked.map((current) => `who follows ${current}`) : asked),
    ...(members === null ? [] : [`the team ${members.team}`]),
    ...(policy === null ? [] : [`the policy ${policy}`]),
  ];
}

/** Returns when, at the earliest, and by which channels the steps reach each recipient. */
function reachOf(steps: readonly StepFields[]): Map<string, { minutes: number; channels: Set<string> }> {
  const reach = new Map<string, { minutes: number; channels: Set<string> }>();
  for (const step of steps) {
    const { afterMinutes, channels } = step;
    for (const recipient of recipientsOf(step)) {
      const so = reach.get(recipient);
      if (so === undefined) reach.set(recipient, { minutes: afterMinutes, channels: new Set(channels) });
      else {
        so.minutes = Math.min(so.minutes, afterMinutes);
        for (const channel of channels) so.channels.add(channel);
      }
    }
  }
  return reach;
}

function lessOfRule({ name, wanted, present }: PlannedChange): string[] {
  if (wanted?.kind !== 'rule' || present?.kind !== 'rule') return [];
  const sentences: string[] = [];
  const [before, after] = [present.fields, wanted.fields];
  if (before.enabled && after.enabled === false) sentences.push(`${name} is disabled and opens no incident any more.`);
  if (before.policy !== null && after.policy === null) sentences.push(`${name} opens incidents that page nobody.`);
  if (firesLess(before, after)) sentences.push(`${name} opens incidents for less than before.`);
  return sentences;
}

/** Whether the condition is true in fewer cases, as far as threshold and severity tell. */
function firesLess(before: Required<FieldsOf['rule']>, after: FieldsOf['rule']): boolean {
  const [was, is] = [before.config, after.config];
  if ('threshold' in was && 'threshold' in is) {
    if (was.comparator !== is.comparator) return false;
    const isAbove = is.comparator === '>' || is.comparator === '>=';
    return isAbove ? is.threshold > was.threshold : is.threshold < was.threshold;
  }
  if ('minSeverity' in was && 'minSeverity' in is) {
    return is.minSeverity !== was.minSeverity && worseSeverity(is.minSeverity, was.minSeverity) === is.minSeverity;
  }
  return false;
}

function lessOfRoutes({ name, wanted, present }: PlannedChange): string[] {
  if (wanted?.kind !== 'routes' || present?.kind !== 'routes') return [];
  const silent = (routes: readonly RouteFields[]) => routes.filter(({ outcome }) => outcome !== 'page').length;
  const [was, is] = [silent(present.fields.routes), silent(wanted.fields.routes)];
  const last = wanted.fields.routes.at(-1);
  const wasLast = present.fields.routes.at(-1);
  if (wasLast?.outcome === 'page' && last?.outcome !== 'page') {
    return [`Alerts of ${name} that no other route takes page nobody any more.`];
  }
  return is > was ? [`Alerts of ${name} page nobody by ${is} routes instead of ${was}.`] : [];
}

function lessOfMember({ name, fields }: PlannedChange): string[] {
  const off = fields.filter(({ before, after }) => before === true && after === false).map(({ field }) => field);
  const lost = fields.some(({ field, before, after }) => field === 'phone' && before !== null && after === null);
  return [
    ...(off.length > 0 ? [`${name} is not paged by ${off.join(', ')} any more.`] : []),
    ...(lost ? [`${name} has no phone number any more.`] : []),
  ];
}

function maintenanceText({ name, wanted }: PlannedChange): string[] {
  if (wanted?.kind !== 'maintenance') return [];
  const { service, rule, label, startsAt, endsAt, recurrence } = wanted.fields;
  const what = service ?? rule ?? (label === null ? '' : `${label.name}=${label.value}`);
  const when =
    recurrence === null ? `from ${startsAt} to ${endsAt ?? ''}` : `on ${recurrence.weekdays.length} days a week`;
  return [`${name}: incidents of ${what} page nobody ${when}.`];
}
