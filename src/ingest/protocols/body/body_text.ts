import { isUtf8 } from 'node:buffer';

import type { Label } from '#ingest/admission/labels.ts';
import type { PointAdmission } from '#ingest/admission/point_admission.ts';
import { AppError } from '#kernel/errors.ts';

/** A longer text is made sooner by Node. */
const SHORT_BYTES_MAX = 12;
const code = String.fromCharCode;

/** The text of bytes below 0x80. Asking Node for a short one takes longer than everything else that is done with it. */
export function asciiText(bytes: Buffer, start: number, end: number): string {
  const length = end - start;
  if (length > SHORT_BYTES_MAX) return bytes.toString('latin1', start, end);
  if (length > 8) return fourAt(bytes, start) + fourAt(bytes, start + 4) + upToFour(bytes, start + 8, length - 8);
  return length > 4 ? fourAt(bytes, start) + upToFour(bytes, start + 4, length - 4) : upToFour(bytes, start, length);
}

function fourAt(bytes: Buffer, at: number): string {
  return code(bytes[at] ?? 0, bytes[at + 1] ?? 0, bytes[at + 2] ?? 0, bytes[at + 3] ?? 0);
}

function upToFour(bytes: Buffer, at: number, length: number): string {
  if (length === 4) return fourAt(bytes, at);
  if (length === 3) return code(bytes[at] ?? 0, bytes[at + 1] ?? 0, bytes[at + 2] ?? 0);
  if (length === 2) return code(bytes[at] ?? 0, bytes[at + 1] ?? 0);
  return length === 1 ? code(bytes[at] ?? 0) : '';
}

/** Throws `invalid_input` unless the body is UTF-8: replacement characters would make different texts equal. */
export function checkUtf8(body: Buffer): void {
  if (!isUtf8(body)) throw new AppError('invalid_input', 'the body is not UTF-8');
}

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
