import { emptyLabels, type Label, UNREAD_LABEL } from '#ingest/admission/labels.ts';
import type { PointAdmission } from '#ingest/admission/point_admission.ts';
import type { LabelCache } from '#ingest/protocols/body/label_cache.ts';
import { LABEL_BYTES } from '#ingest/protocols/body/read_cost.ts';
import { chooseResourceLabels, identityOf } from '#ingest/protocols/otlp/resource_labels.ts';
import type { RequestScopes } from '#ingest/series/scope_versions.ts';

const SCOPE_PREFIX = 'otel_scope_';
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

/** The labels that points have from their resource and scope. */
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
  readonly #own: Label[] = [];
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
   * The labels of a point with those of its stream, in order of name; its own take precedence. Of more labels than a
   * series may have, those of the stream are left out. The same array is filled each time.
   */
  merge(labels: readonly Label[], extra?: Label): readonly Label[] {
    if (extra === undefined && this.#sorted.length === 0) return labels;
    const list = this.#own;
    emptyLabels(list);
    for (const label of labels) list.push(label);
    if (extra !== undefined) list.push(extra);
    sortFew(list);
    const stream = this.#fitting(list.length);
    const merged = this.#merged;
    emptyLabels(merged);
    let next = 0;
    for (const label of stream) {
      while (next < list.length && (list[next]?.name ?? '') < label.name) merged.push(list[next++] ?? label);
      if (list[next]?.name !== label.name) merged.push(label);
    }
    while (next < list.length) {
      const label = list[next++];
      if (label !== undefined) merged.push(label);
    }
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
