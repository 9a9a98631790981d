import type { PointAdmission } from '#core/metrics/admission.ts';
import type { Label } from '#core/metrics/labels.ts';

/** The labels of one request, each checked and hashed once. */
export class LabelCache {
  readonly #admission: PointAdmission;
  readonly #byName = new Map<string, Map<string, Label>>();

  constructor(admission: PointAdmission) {
    this.#admission = admission;
  }

  of(name: string, value: string): Label {
    let byValue = this.#byName.get(name);
    if (byValue === undefined) this.#byName.set(name, (byValue = new Map<string, Label>()));
    let label = byValue.get(value);
    if (label === undefined) byValue.set(value, (label = this.#admission.label(name, value)));
    return label;
  }
}
