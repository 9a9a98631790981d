import type { PointAdmission } from '#ingest/admission/point_admission.ts';
import type { Label } from '#ingest/admission/labels.ts';

/** The labels of one request, so that each is checked and hashed only once. */
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
