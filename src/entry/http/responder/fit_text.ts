/** Limit on the length of an answer, so that it fits the context of a model many times. */
const TEXT_LENGTH_MAX = 24_000;

/**
 * Returns the result as JSON. If it is too long, its longest lists lose their middle, and state how many entries each
 * had: the first and the newest remain.
 */
export function fitText(result: unknown): string {
  let value = result;
  for (let most = 128; most >= 2; most = Math.floor(most / 2)) {
    const text = JSON.stringify(value);
    if (text.length <= TEXT_LENGTH_MAX) return text;
    value = shorten(result, most);
  }
  const text = JSON.stringify(value);
  return text.length <= TEXT_LENGTH_MAX ? text : `${text.slice(0, TEXT_LENGTH_MAX)} … cut`;
}

function shorten(value: unknown, most: number): unknown {
  if (Array.isArray(value)) {
    const all = value.map((item) => shorten(item, most));
    if (all.length <= most) return all;
    const half = Math.floor(most / 2);
    return [...all.slice(0, half), `… ${all.length - 2 * half} left out …`, ...all.slice(-half)];
  }
  if (typeof value === 'string' && value.length > most * 40) return `${value.slice(0, most * 40)} …`;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shorten(inner, most)]));
}
