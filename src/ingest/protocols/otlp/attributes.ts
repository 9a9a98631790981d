import { AppError } from '#kernel/errors.ts';

/** An attribute's value. Integers beyond 2^53 are texts, bytes are base64. */
export type AttributeValue =
  | string
  | number
  | boolean
  | null
  | readonly AttributeValue[]
  | { readonly [key: string]: AttributeValue };

/** Limit on the attributes of a resource; few of them become labels. */
export const RESOURCE_ATTRIBUTES_MAX = 1_000;

/** Longest name, version and schema of a scope; a longer one is dropped, as no label could hold it. */
export const SCOPE_TEXT_BYTES_MAX = 512;

const DEPTH_MAX = 8;

/** Refuses a request with deeply nested attributes; `depth` is the number of lists and maps around a value. */
export function checkDepth(depth: number): void {
  if (depth > DEPTH_MAX) {
    throw new AppError('invalid_input', `an attribute is nested deeper than ${DEPTH_MAX} lists or maps`);
  }
}

/** Labels are text: lists and maps become JSON, as OpenTelemetry specifies for systems that lack them. */
export function toAttributeText(value: AttributeValue): string {
  if (typeof value === 'string') return value;
  if (value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
