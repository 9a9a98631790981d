import {
  type ManagedResource,
  type OrganizationState,
  presentOf,
} from '#modules/configuration/decide/present_state.ts';
import {
  type PresentResource,
  RESOURCE_KINDS,
  type ResourceKind,
  type WantedResource,
} from '#modules/configuration/decide/resource.ts';
import type { Steps } from '#kernel/cooperative_task.ts';
import { type Ref, refOfId } from '#modules/configuration/decide/ref.ts';

/** A resource of the file beside the one that it stands for. */
export interface MatchedResource {
  readonly wanted: WantedResource;
  /** Null where the organization has none yet. */
  readonly present: PresentResource | null;
  /** Record of the key; null where there is none, or it is of another resource. */
  readonly managed: ManagedResource | null;
}

/** A resource that is there with its record. */
export interface RecordedResource {
  readonly managed: ManagedResource;
  readonly present: PresentResource;
}

export interface Matches {
  readonly matched: readonly MatchedResource[];
  /** Overrides of a key of the file that are others by now; no operation changes an override. */
  readonly replaced: readonly RecordedResource[];
  /** Resources with a key that the file does not have. */
  readonly left: readonly { readonly managed: ManagedResource; readonly present: PresentResource | null }[];
  /** Returns the id of a resource by its key; null for one that is to be created. */
  readonly findId: (kind: ResourceKind, ref: Ref) => string | null;
  /** Ids of resources that were recorded with a key of the file and are gone, by kind and key. */
  readonly goneIds: ReadonlyMap<string, string>;
}

/**
 * Finds in steps what each resource of the file stands for: the resource that was recorded with its key, else one of the same
 * name in the same place that no other key of the file names. People are found by their mail address alone.
 */
export function* matchResources(wanted: readonly WantedResource[], state: OrganizationState): Steps<Matches> {
  const ids = new Map<ResourceKind, Map<Ref, string>>(RESOURCE_KINDS.map((kind) => [kind, new Map()]));
  const refs = new Map<ResourceKind, Map<string, Ref>>(RESOURCE_KINDS.map((kind) => [kind, new Map()]));
  const wantedByKind = Map.groupBy(wanted, ({ kind }) => kind);
  const managedByKind = Map.groupBy(state.managed, ({ kind }) => kind);
  const matched: MatchedResource[] = [];
  const left: { managed: ManagedResource; present: PresentResource | null }[] = [];
  const replaced: RecordedResource[] = [];
  const refOf = (kind: ResourceKind, id: string): Ref => refs.get(kind)?.get(id) ?? refOfId(id);
  for (const kind of RESOURCE_KINDS) {
    yield;
    const ofFile = wantedByKind.get(kind) ?? [];
    const managed = managedByKind.get(kind) ?? [];
    const present = presentOf(state, kind, refOf) as PresentResource[];
    const ofKind = matchKind(ofFile, present, managed);
    matched.push(...ofKind);
    const keys = new Set(ofFile.map(({ key }) => key));
    const byId = new Map(present.map((resource) => [resource.id, resource]));
    const taken = new Set(ofKind.map(({ present: resource }) => resource?.id));
    for (const record of managed) {
      if (taken.has(record.resourceId)) continue;
      const resource = byId.get(record.resourceId) ?? null;
      if (keys.has(record.key)) {
        if (kind === 'override' && resource !== null) replaced.push({ managed: record, present: resource });
        continue;
      }
      left.push({ managed: record, present: resource });
      if (resource === null) continue;
      ids.get(kind)?.set(record.key, record.resourceId);
      refs.get(kind)?.set(record.resourceId, record.key);
    }
    for (const { wanted: resource, present: existing } of ofKind) {
      if (existing === null) continue;
      ids.get(kind)?.set(resource.key, existing.id);
      refs.get(kind)?.set(existing.id, resource.key);
    }
    // Policies name each other: their fields are known once all their keys are.
    if (kind === 'policy') matched.splice(-ofKind.length, ofKind.length, ...reread(ofKind));
  }
  function reread(policies: readonly MatchedResource[]): MatchedResource[] {
    const again = new Map<string, PresentResource>(
      presentOf(state, 'policy', refOf).map((policy) => [policy.id, policy]),
    );
    return policies.map((match) => ({ ...match, present: match.present && (again.get(match.present.id) ?? null) }));
  }

  const missing = matched
    .filter(({ present }) => present === null)
    .map(({ wanted: { kind, key } }) => `${kind} ${key}`);
  const records = new Map(state.managed.map(({ kind, key, resourceId }) => [`${kind} ${key}`, resourceId]));
  return {
    matched,
    replaced,
    left,
    goneIds: new Map(missing.flatMap((name) => (records.has(name) ? [[name, records.get(name) ?? '']] : []))),
    findId: (kind, ref) => (ref.startsWith('@') ? ref.slice(1) : (ids.get(kind)?.get(ref) ?? null)),
  };
}

function matchKind(
  wanted: readonly WantedResource[],
  present: readonly PresentResource[],
  managed: readonly ManagedResource[],
): MatchedResource[] {
  const byId = new Map(present.map((resource) => [resource.id, resource]));
  const records = new Map(managed.map((record) => [record.key, record]));
  const recordOf = new Map(managed.map((record) => [record.resourceId, record]));
  const keys = new Set(wanted.map(({ key }) => key));
  const byPlace = Map.groupBy(present, placeOf);
  const taken = new Set<string>();
  const recorded = wanted.map((resource) => {
    const record = records.get(resource.key) ?? null;
    const existing = record === null || resource.kind === 'person' ? undefined : byId.get(record.resourceId);
    if (existing === undefined || isAnother(resource, existing)) return null;
    taken.add(existing.id);
    return existing;
  });
  return wanted.map((resource, index) => {
    const record = records.get(resource.key) ?? null;
    const existing = recorded[index] ?? findByPlace(resource);
    if (existing !== null) taken.add(existing.id);
    return { wanted: resource, present: existing, managed: record?.resourceId === existing?.id ? record : null };
  });

  function findByPlace(resource: WantedResource): PresentResource | null {
    const candidates = (byPlace.get(placeOf(resource)) ?? []).filter(
      (candidate) => !taken.has(candidate.id) && isFree(candidate.id) && hasSameEnvironment(resource, candidate),
    );
    return candidates.length === 1 ? (candidates[0] ?? null) : null;
  }

  /** Whether no other key of the file is recorded for it. */
  function isFree(id: string): boolean {
    const record = recordOf.get(id);
    return record === undefined || record.kind === 'person' || !keys.has(record.key);
  }
}

/** Whether the override of a key has become another one: of somebody else, at another time, or of another layer. */
function isAnother(wanted: WantedResource, present: PresentResource): boolean {
  return wanted.kind === 'override' && placeOf(wanted) !== placeOf(present);
}

function hasSameEnvironment(wanted: WantedResource, present: PresentResource): boolean {
  if (wanted.kind !== 'service' || present.kind !== 'service') return true;
  return wanted.fields.environment === undefined || wanted.fields.environment === present.fields.environment;
}

function placeOf(resource: Pick<WantedResource, 'kind' | 'fields'>): string {
  const { kind, fields } = resource as WantedResource;
  switch (kind) {
    case 'person':
      return fields.email.toLowerCase();
    case 'team':
    case 'service':
    case 'calendar':
      return fields.name;
    case 'member':
      return JSON.stringify([fields.team, fields.person]);
    case 'schedule':
    case 'policy':
      return JSON.stringify([fields.team, fields.name]);
    case 'override':
      return JSON.stringify([fields.schedule, fields.person, fields.startsAt, fields.endsAt, fields.layer]);
    case 'rule':
      return JSON.stringify([fields.service, fields.kind, fields.name]);
    case 'routes':
      return fields.service;
    case 'maintenance':
      return JSON.stringify([
        fields.name,
        fields.service,
        fields.rule,
        fields.label?.name,
        fields.label?.value,
        fields.startsAt,
      ]);
    case 'dashboard':
      return JSON.stringify([fields.service, fields.name]);
  }
}
