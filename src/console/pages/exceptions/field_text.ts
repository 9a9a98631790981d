/** Returns any value of a sender as text; empty for an empty value. */
export function fieldText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  const text = JSON.stringify(value);
  return text === '{}' || text === '[]' ? '' : text;
}

type Field = readonly [name: string, text: string];

/**
 * Returns the members of an object that have a value, those of nested objects by names such as `headers.Accept`. A text
 * that replaces something too long is one member.
 */
export function fieldsOf(value: unknown): readonly Field[] {
  if (!isObject(value)) return [['value', fieldText(value)] as const].filter(hasText);
  return Object.entries(value)
    .flatMap(([name, member]): Field[] =>
      isObject(member)
        ? Object.entries(member).map(([inner, part]) => [`${name}.${inner}`, fieldText(part)] as const)
        : [[name, fieldText(member)]],
    )
    .filter(hasText);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function hasText([, text]: Field): boolean {
  return text !== '';
}
