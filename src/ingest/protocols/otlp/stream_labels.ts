import { emptyLabels, type Label, UNREAD_LABEL } from '#ingest/admission/labels.ts';
import type { PointAdmission } from '#ingest/admission/point_admission.ts';
import { LABEL_BYTES, type LabelCache } from '#ingest/protocols/body/json_cursor.ts';
import type { RequestScopes } from '#ingest/series/series_starts.ts';

/** Resource attributes that always become labels: semantic conventions and users name senders by them. */
const IDENTITY: ReadonlySet<string> = new Set([
  'service.namespace',
  'service.name',
  'service.instance.id',
  'deployment.environment.name',
  'deployment.environment',
  'host.name',
  'k8s.namespace.name',
  'k8s.pod.name',
  'container.id',
]);

/**
 * Attributes that describe a sender and do not distinguish it, by the semantic conventions. They would start new series
 * at each deployment, or hold long texts.
 */
const DESCRIPTIVE_PREFIXES = [
  'telemetry.',
  'process.',
  'os.',
  'host.arch',
  'host.type',
  'host.image.',
  'host.cpu.',
  'host.ip',
  'host.mac',
  'container.image.',
  'container.command',
  'container.label',
  'oci.',
  'aws.log.',
  'vcs.change.',
  'vcs.ref.',
  'vcs.repository.url.',
  'cicd.pipeline.run.',
  'cicd.pipeline.task.run.',
  'webengine.',
  'browser.',
  'user_agent.',
  'device.manufacturer',
  'device.model.',
  'android.',
] as const;
const DESCRIPTIVE_SUFFIXES = ['.version', '.description', '.start_time', '.restart_count', '.uptime'] as const;
const DESCRIPTIVE_KUBERNETES = /^k8s\.[^.]+\.(?:labels?|annotations?|ip|status)(?:\.|$)/;

const INSTANCE = 'service.instance.id';
/**
 * Attributes that distinguish the instances of a service without `service.instance.id`. The first one present is used.
 */
const FALLBACKS = ['process.pid', 'service.version'] as const;
/** Attributes whose instances need no version to be told apart. */
const INSTANCE_NAMES: ReadonlySet<string> = new Set(['k8s.pod.name', 'container.id', 'host.name']);

/** Limit on the labels of one resource. Those that always become labels come first, the rest by name. */
const LABELS_MAX = 24;

/**
 * Returns the resource attributes that become labels, so that streams of different resources are different series: all
 * but those that describe a sender. An attribute that is too long for a label is left out, unless it is one by which
 * senders are named; then points are refused with the reason.
 */
function chooseResourceLabels(attributes: readonly Label[]): readonly Label[] {
  const named: Label[] = [];
  const others: Label[] = [];
  for (const attribute of attributes) {
    if (IDENTITY.has(attribute.name)) named.push(attribute);
    else if (attribute.fault === null && !isDescriptive(attribute.name)) others.push(attribute);
  }
  const fallback = named.some(({ name }) => name === INSTANCE) ? null : findFallback(attributes, named);
  if (fallback !== null) named.push(fallback);
  if (named.length + others.length > LABELS_MAX)
    others.sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)));
  return [...named, ...others].slice(0, LABELS_MAX);
}

function findFallback(attributes: readonly Label[], named: readonly Label[]): Label | null {
  for (const fallback of FALLBACKS) {
    if (fallback === 'service.version' && named.some(({ name }) => INSTANCE_NAMES.has(name))) return null;
    const attribute = attributes.find(({ name, fault }) => name === fallback && fault === null);
    if (attribute !== undefined) return attribute;
  }
  return null;
}

function isDescriptive(name: string): boolean {
  return (
    DESCRIPTIVE_PREFIXES.some((prefix) => name.startsWith(prefix)) ||
    DESCRIPTIVE_SUFFIXES.some((suffix) => name.endsWith(suffix)) ||
    DESCRIPTIVE_KUBERNETES.test(name)
  );
}

/**
 * A number for a resource or a scope with all its attributes, whatever their order: equal ones have the same, and
 * different ones very probably do not.
 */
function identityOf(labels: readonly Label[]): number {
  let a = 0;
  let b = 0;
  for (const { high, low } of labels) {
    a = (a + Math.imul(high ^ 0x2c1b3c6d, low | 1)) | 0;
    b = (b + Math.imul(low ^ 0x297a2d39, high | 1)) | 0;
  }
  return (a >>> 0) * 0x20_0000 + (b & 0x1f_ffff);
}

const SCOPE_PREFIX = 'otel_scope_';
const RESOURCE_PREFIX = 'resource_';
/** Limit on the attributes of one scope; few have any. */
const SCOPE_ATTRIBUTES_MAX = 8;

/** Names of the labels that a scope's own fields have, which its attributes do not replace. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['name', 'version', 'schema_url']);

/** An instrumentation scope; empty texts stand for what was not sent. */
export interface Scope {
  name: string;
  version: string;
  schemaUrl: string;
  readonly attributes: readonly Label[];
}

/** Returns a scope that says nothing, whose attributes are in this list. */
export function emptyScope(attributes: readonly Label[]): Scope {
  return { name: '', version: '', schemaUrl: '', attributes };
}

export class StreamLabels {
  readonly #admission: PointAdmission;
  readonly #labels: LabelCache;
  readonly #scopes: RequestScopes;
  #resource: readonly Label[] = [];
  #resourceIdentity = 0;
  /** The labels of the resource as a number: scopes of resources that share them are compared. */
  #senderIdentity = 0;
  #scope: readonly Label[] = [];
  #scopeIdentity = 0;
  /** Labels of resource and scope, in order of name. */
  #sorted: readonly Label[] = [];
  readonly #streamLabels: Label[] = [];
  readonly #merged: Label[] = [];

  constructor(admission: PointAdmission, labels: LabelCache, scopes: RequestScopes) {
    this.#admission = admission;
    this.#labels = labels;
    this.#scopes = scopes;
  }

  /** A number for the resource and the scope with all that was said of them. */
  get identity(): number {
    return this.#resourceIdentity + this.#scopeIdentity * 3;
  }

  beginResource(attributes: readonly Label[]): void {
    this.#resource = attributes.length === 0 ? [] : chooseResourceLabels(attributes);
    this.#resourceIdentity = identityOf(attributes);
    this.#senderIdentity = identityOf(this.#resource);
    this.beginScope(emptyScope([]));
  }

  /**
   * Begins a scope. Its version and its schema become labels only where they tell streams apart, so that not every
   * deploy starts new series.
   */
  beginScope({ name, version, schemaUrl, attributes }: Readonly<Scope>): void {
    const ofName = name === '' ? [] : [this.#scopeLabel('name', name)];
    const ofVersion = [...this.#distinct(name, 'version', version), ...this.#distinct(name, 'schema_url', schemaUrl)];
    const others = attributes.slice(0, SCOPE_ATTRIBUTES_MAX).flatMap((attribute) => {
      if (attribute.fault !== null || OWN_FIELDS.has(attribute.name)) return [];
      return [this.#scopeLabel(attribute.name, attribute.value)];
    });
    const labels = [...ofName, ...ofVersion, ...others];
    this.#scope = labels.filter(({ fault }) => fault === null || fault === UNREAD_LABEL.fault);
    this.#scopeIdentity = identityOf([...ofName, ...ofVersion, ...attributes]);
    this.#sorted = sortedByName([...this.#resource, ...this.#scope]);
  }

  /**
   * The labels of a point with those of its stream, in order of name. Its own take precedence, and an attribute of the
   * resource with another value keeps telling its stream apart, as `resource_` and its name. Of more labels than a series
   * may have, those of the stream are left out. The same array is filled each time.
   */
  merge(labels: readonly Label[], extra?: Label): readonly Label[] {
    if (extra === undefined && this.#sorted.length === 0) return labels;
    const list = this.#streamLabels;
    emptyLabels(list);
    for (const label of labels) list.push(label);
    if (extra !== undefined) list.push(extra);
    sortFew(list);
    const stream = this.#fitting(list.length);
    const merged = this.#merged;
    emptyLabels(merged);
    let shadowed: Label[] | null = null;
    let next = 0;
    for (const label of stream) {
      while (next < list.length && (list[next]?.name ?? '') < label.name) merged.push(list[next++] ?? label);
      const same = list[next];
      if (same?.name !== label.name) merged.push(label);
      else if (same.value !== label.value && this.#resource.includes(label)) (shadowed ??= []).push(label);
    }
    while (next < list.length) {
      const label = list[next++];
      if (label !== undefined) merged.push(label);
    }
    if (shadowed === null) return merged;
    for (const { name, value } of shadowed) {
      if (merged.length >= this.#admission.limits.labelsMax || !this.#admission.mayReadLabel(LABEL_BYTES)) break;
      const label = this.#labels.of(RESOURCE_PREFIX + name, value);
      if (label.fault === null) merged.push(label);
    }
    sortFew(merged);
    return merged;
  }

  #fitting(ownLength: number): readonly Label[] {
    const room = Math.max(0, this.#admission.limits.labelsMax - ownLength);
    if (this.#sorted.length <= room) return this.#sorted;
    return sortedByName([...this.#resource, ...this.#scope].slice(0, room));
  }

  /** The label of a version of a scope where its resource has several of them. */
  #distinct(scope: string, field: 'version' | 'schema_url', value: string): readonly Label[] {
    if (scope === '') return [];
    const isNeeded = this.#scopes.note(`${this.#senderIdentity} ${field} ${scope}`, value);
    return isNeeded && value !== '' ? [this.#scopeLabel(field, value)] : [];
  }

  #scopeLabel(name: string, value: string): Label {
    if (!this.#admission.mayReadLabel(LABEL_BYTES)) return UNREAD_LABEL;
    return this.#labels.of(SCOPE_PREFIX + name, value);
  }
}

function sortedByName(labels: readonly Label[]): readonly Label[] {
  return labels.toSorted((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)));
}

/** Sorts in place by name: points have few labels, which mostly are in order. */
function sortFew(labels: Label[]): void {
  for (let i = 1; i < labels.length; i += 1) {
    const label = labels[i];
    if (label === undefined) continue;
    let place = i;
    for (; place > 0; place -= 1) {
      const before = labels[place - 1];
      if (before === undefined || before.name <= label.name) break;
      labels[place] = before;
    }
    labels[place] = label;
  }
}
