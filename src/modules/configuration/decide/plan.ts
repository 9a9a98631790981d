import { isPlain } from './layers.ts';
import {
  type MatchedResource,
  type Matches,
  matchResources,
  type RecordedResource,
} from '#modules/configuration/decide/match_resources.ts';
import { inOrderOfNeed } from './policies_of_file.ts';
import type { ManagedResource, OrganizationState } from '#modules/configuration/decide/present_state.ts';
import { refOfId } from '#modules/configuration/decide/ref.ts';
import {
  type FieldsOf,
  nameOf,
  type PresentResource,
  RESOURCE_KINDS,
  type ResourceKind,
  type WantedResource,
} from '#modules/configuration/decide/resource.ts';
import type { Capability } from '#modules/capabilities/decide/capability.ts';
import type { Steps } from '#kernel/cooperative_task.ts';
import type { Fault } from '#kernel/errors.ts';
import { type Temporal, toTimestamp } from '#kernel/time.ts';

export interface ChangedField {
  readonly field: string;
  /** Undefined for a resource that is created. */
  readonly before?: unknown;
  /** Undefined for a resource that is deleted. */
  readonly after?: unknown;
}

/** One step of a change that is not a whole resource. */
export type Part =
  | { readonly part: 'capability'; readonly capability: Capability; readonly isEnabled: boolean }
  | { readonly part: 'retention'; readonly capability: Capability; readonly days: number }
  | { readonly part: 'dsn' }
  | { readonly part: 'team' }
  | { readonly part: 'layers' };

/** One change, made by one operation. */
export interface PlannedChange {
  readonly action: 'create' | 'update' | 'delete';
  readonly kind: ResourceKind;
  readonly key: string;
  readonly name: string;
  /** Null where the resource is yet to be created. */
  readonly id: string | null;
  readonly fields: readonly ChangedField[];
  /** The updatedAt on which the change rests; null where nothing can have changed. */
  readonly basis: string | null;
  readonly wanted: WantedResource | null;
  readonly present: PresentResource | null;
  readonly part: Part | null;
}

export interface Plan {
  readonly changes: readonly PlannedChange[];
  /** Keys to record for resources that are there; these change nothing else. */
  readonly records: readonly ManagedResource[];
  /** Resources with a key of this file that it does not have any more; deleted only with `--prune`. */
  readonly left: readonly { readonly kind: ResourceKind; readonly key: string; readonly name: string }[];
  /** Records of resources that are gone. */
  readonly gone: readonly ManagedResource[];
  readonly notes: readonly string[];
  readonly faults: readonly Fault[];
  readonly matches: Matches;
}

export interface PlanOptions {
  readonly fileName: string;
  readonly prune: boolean;
  readonly now: Temporal.Instant;
}

/** Fields that no operation changes: another value needs another key. */
const FIXED: Partial<Record<ResourceKind, readonly string[]>> = {
  member: ['team', 'person'],
  schedule: ['team'],
  policy: ['team'],
  rule: ['service', 'kind'],
  routes: ['service'],
  dashboard: ['service'],
};

/**
 * Decides in steps what has to change so that the organization is as the file says: pure, and in the order in which to
 * do it.
 */
export function* planConfiguration(
  wanted: readonly WantedResource[],
  state: OrganizationState,
  { fileName, prune, now }: PlanOptions,
): Steps<Plan> {
  const matches = yield* matchResources(wanted, state);
  const confirmed = new Set(state.members.filter(({ phoneConfirmed }) => phoneConfirmed).map(({ id }) => id));
  // Before all else: a layer that goes takes its overrides with it.
  const changes = matches.replaced.filter(({ managed }) => isRemoved(managed)).map(deletionOf);
  const faults: Fault[] = [];
  const records: ManagedResource[] = [];
  let confirmedNumbers = 0;
  for (const match of matches.matched) {
    yield;
    const { wanted: resource, present, managed } = match;
    const isStaying = resource.kind === 'member' && present !== null && confirmed.has(present.id);
    const fields = present === null ? [] : changedFields(resource, present);
    const kept = isStaying ? fields.filter(({ field }) => field !== 'phone') : fields;
    if (kept.length < fields.length) confirmedNumbers += 1;
    const fixed = kept.find(({ field }) => FIXED[resource.kind]?.includes(field));
    if (fixed !== undefined) {
      const message = `cannot become another one for ${present === null ? '' : nameOf(present)}; give this entry another key`;
      faults.push({ path: `${resource.path}.${fixed.field}`, message });
    } else if (present === null) {
      if (!isOver(resource, now)) changes.push(...creations(match));
    } else {
      if (!isOver(resource, now)) changes.push(...updates(match, kept));
      if (!isRecorded(managed, present.id, fileName)) {
        const { kind, key } = resource;
        records.push({ kind, key, resourceId: present.id, file: fileName, isMade: managed?.isMade ?? false });
      }
    }
  }
  const ofFile = matches.left.filter(({ managed }) => managed.file === fileName);
  const removable = ofFile.flatMap(({ managed, present }) => (present === null ? [] : [{ managed, present }]));
  const deleted = prune ? deletions(removable, state) : { changes: [], notes: [] };
  changes.push(...deleted.changes);
  return {
    changes,
    records,
    left: prune ? [] : removable.map(({ managed: { kind, key }, present }) => ({ kind, key, name: nameOf(present) })),
    gone: ofFile
      .filter(({ managed, present }) => present === null || (prune && !isRemoved(managed)))
      .map(({ managed }) => managed),
    notes: [
      ...(confirmedNumbers === 0
        ? []
        : [`${confirmedNumbers} members have confirmed another phone number than the file has; theirs stays.`]),
      ...takenOver(matches, fileName),
      ...deleted.notes,
    ],
    faults,
    matches,
  };
}

/** Returns the note about resources that another file manages: the keys of all files are one set. */
function takenOver({ matched }: Matches, fileName: string): string[] {
  const others = matched.flatMap(({ managed }) => (managed === null || managed.file === fileName ? [] : [managed]));
  const [first] = others;
  if (first === undefined) return [];
  const { kind, key, file } = first;
  const [entries, more] =
    others.length === 1 ? ['1 entry stands', ''] : [`${others.length} entries stand`, ' and others'];
  return [
    `Another file manages what ${entries} for, and this one takes it over: the ${kind} ${key} of ${file}${more}.`,
  ];
}

function isRecorded(managed: ManagedResource | null, id: string, fileName: string): boolean {
  return managed !== null && managed.resourceId === id && managed.file === fileName;
}

/** Whether a resource that is not there would be over by now. */
function isOver(resource: WantedResource, now: Temporal.Instant): boolean {
  if (resource.kind !== 'override' && resource.kind !== 'maintenance') return false;
  const { endsAt } = resource.fields;
  return endsAt !== null && endsAt <= toTimestamp(now);
}

/** Returns the fields of the file that differ from what is there; a field that the file leaves out does not. */
function changedFields(wanted: WantedResource, present: PresentResource): ChangedField[] {
  const now = present.fields as Readonly<Record<string, unknown>>;
  return Object.entries(wanted.fields as Readonly<Record<string, unknown>>).flatMap(([field, after]) => {
    if (wanted.kind === 'person' && field !== 'role') return [];
    const before = now[field];
    if (field === 'retentionDays') {
      const days = before as Readonly<Record<string, unknown>>;
      return Object.entries(after as Readonly<Record<string, unknown>>).flatMap(([of, wantedDays]) =>
        days[of] === wantedDays ? [] : [{ field: `retentionDays.${of}`, before: days[of], after: wantedDays }],
      );
    }
    return isSame(before, after) ? [] : [{ field, before, after }];
  });
}

function creations({ wanted }: MatchedResource): PlannedChange[] {
  const base = {
    kind: wanted.kind,
    key: wanted.key,
    name: nameOf(wanted),
    id: null,
    basis: null,
    wanted,
    present: null,
  } as const;
  const all = Object.entries(wanted.fields as Readonly<Record<string, unknown>>);
  const fields = all
    .filter(([field]) => wanted.kind !== 'service' || !PARTS_OF_SERVICE.has(field))
    .map(([field, after]) => ({ field, after }));
  const whole: PlannedChange = { ...base, action: 'create', fields, part: null };
  const layers = wanted.kind === 'schedule' ? wanted.fields.layers : undefined;
  if (layers !== undefined && !isPlain(layers)) {
    const after = layers;
    return [whole, { ...base, action: 'update', part: { part: 'layers' }, fields: [{ field: 'layers', after }] }];
  }
  if (wanted.kind !== 'service') return [whole];
  const { capabilities = [], retentionDays = {}, sentry, team = null } = wanted.fields;
  const owned: PlannedChange = {
    ...base,
    action: 'update',
    part: { part: 'team' },
    fields: [{ field: 'team', after: team }],
  };
  return [
    whole,
    ...(team === null ? [] : [owned]),
    ...capabilities.map((capability): PlannedChange => {
      const part: Part = { part: 'capability', capability, isEnabled: true };
      return { ...base, action: 'update', part, fields: [{ field: 'capabilities', after: capability }] };
    }),
    ...Object.entries(retentionDays).map(([capability, days]): PlannedChange => {
      const part: Part = { part: 'retention', capability: capability as Capability, days };
      return { ...base, action: 'update', part, fields: [{ field: `retentionDays.${capability}`, after: days }] };
    }),
    ...(sentry === undefined
      ? []
      : [
          {
            ...base,
            action: 'update' as const,
            part: { part: 'dsn' as const },
            fields: [{ field: 'sentry', after: sentry }],
          },
        ]),
  ];
}

const PARTS_OF_SERVICE: ReadonlySet<string> = new Set(['capabilities', 'retentionDays', 'sentry', 'team']);

function updates({ wanted, present }: MatchedResource, fields: readonly ChangedField[]): PlannedChange[] {
  if (present === null || fields.length === 0) return [];
  const base = { action: 'update', kind: wanted.kind, key: wanted.key, id: present.id, wanted, present } as const;
  const name = nameOf(present);
  const [parts, whole] = [fields.filter(isPart), fields.filter((field) => !isPart(field))];
  const changes: Omit<PlannedChange, 'basis'>[] = [];
  if (whole.length > 0) changes.push({ ...base, name, fields: whole, part: null });
  for (const field of wanted.kind === 'service' ? parts : []) {
    for (const part of partsOf(field)) changes.push({ ...base, name, ...part });
  }
  // The first one alone rests on what was read: the others follow it.
  return changes.map((change, index) => ({ ...change, basis: index === 0 ? present.updatedAt : null }));

  function isPart({ field }: ChangedField): boolean {
    return wanted.kind === 'service' && PARTS_OF_SERVICE.has(field.split('.')[0] ?? '');
  }
}

function partsOf({ field, before, after }: ChangedField): Pick<PlannedChange, 'part' | 'fields'>[] {
  if (field === 'sentry') return [{ part: { part: 'dsn' }, fields: [{ field, before, after }] }];
  if (field === 'team') return [{ part: { part: 'team' }, fields: [{ field, before, after }] }];
  if (field !== 'capabilities') {
    const capability = field.slice(field.indexOf('.') + 1) as Capability;
    return [{ part: { part: 'retention', capability, days: after as number }, fields: [{ field, before, after }] }];
  }
  const [was, is] = [before as readonly Capability[], after as FieldsOf['service']['capabilities']];
  const enabled = (is ?? []).filter((capability) => !was.includes(capability));
  const disabled = was.filter((capability) => is?.includes(capability) !== true);
  return [
    ...enabled.map((capability) => ({
      part: { part: 'capability', capability, isEnabled: true } as const,
      fields: [{ field, after: capability }],
    })),
    ...disabled.map((capability) => ({
      part: { part: 'capability', capability, isEnabled: false } as const,
      fields: [{ field, before: capability }],
    })),
  ];
}

/** Whether `--prune` deletes it: a file made it, and an operation deletes its kind. */
function isRemoved({ kind, isMade }: ManagedResource): boolean {
  return isMade && kind !== 'person' && kind !== 'routes';
}

/** Deletes what names others before what they name. What holds something that no file made stays, and is said. */
function deletions(
  removable: readonly RecordedResource[],
  state: OrganizationState,
): { readonly changes: readonly PlannedChange[]; readonly notes: readonly string[] } {
  const going = new Set(removable.filter(({ managed }) => isRemoved(managed)).map(({ present }) => present.id));
  const heldBy = contentsOf(state);
  const notes: string[] = [];
  const order = (kind: ResourceKind) => -RESOURCE_KINDS.indexOf(kind);
  const needs = orderOfNeed(removable);
  const removed = removable
    .filter(({ managed }) => isRemoved(managed))
    .filter(({ managed: { kind, key }, present }) => {
      const kept = (heldBy.get(present.id) ?? []).filter(({ id }) => !going.has(id));
      if (kept.length === 0) return true;
      const [first] = kept;
      notes.push(`The ${kind} ${key} stays: ${first?.name ?? 'something'} in it was not made by this file.`);
      return false;
    })
    .toSorted(
      (a, b) =>
        order(a.managed.kind) - order(b.managed.kind) ||
        (needs.get(b.present.id) ?? 0) - (needs.get(a.present.id) ?? 0),
    );
  return { changes: removed.map(deletionOf), notes };
}

function deletionOf({ managed: { kind, key }, present }: RecordedResource): PlannedChange {
  const base = { kind, key, name: nameOf(present), id: present.id, basis: present.updatedAt };
  return { ...base, action: 'delete', fields: [], wanted: null, present, part: null };
}

/** Returns the place of each policy among those to be deleted, where a policy stands behind all that it names. */
function orderOfNeed(removable: readonly RecordedResource[]): ReadonlyMap<string, number> {
  const policies = removable.flatMap(({ present }) =>
    present.kind === 'policy' ? [{ key: refOfId(present.id), id: present.id, fields: present.fields }] : [],
  );
  return new Map(inOrderOfNeed(policies).map(({ id }, place) => [id, place]));
}

/** Returns what would go with each team and service. */
function contentsOf(state: OrganizationState): Map<string, { id: string; name: string }[]> {
  const contents = new Map<string, { id: string; name: string }[]>();
  const put = (holder: string | null, id: string, name: string) => {
    if (holder === null) return;
    const held = contents.get(holder);
    if (held === undefined) contents.set(holder, [{ id, name }]);
    else held.push({ id, name });
  };
  for (const { id, teamId } of state.members) put(teamId, id, 'a member');
  for (const { id, teamId, name } of state.schedules) put(teamId, id, `the schedule ${name}`);
  for (const { id, teamId, name } of state.policies) put(teamId, id, `the policy ${name}`);
  for (const { id, serviceId, name } of state.rules) put(serviceId, id, `the rule ${name}`);
  for (const { id, serviceId, name } of state.dashboards) put(serviceId, id, `the dashboard ${name}`);
  return contents;
}

/** Returns the JSON text of a value with sorted properties, so that equal values have equal texts. */
export function canonicalText(value: unknown): string {
  return JSON.stringify(sorted(value)) ?? 'undefined';
}

export function isSame(a: unknown, b: unknown): boolean {
  return a === b || canonicalText(a) === canonicalText(b);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value as Readonly<Record<string, unknown>>).filter(([, inner]) => inner !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, inner]) => [name, sorted(inner)]));
}
