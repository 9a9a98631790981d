import { instantOf, type RawObject, textOf } from '#modules/moving_in/decide/raw.ts';

/**
 * Returns the window that a rendered timeline was asked for: as the document or its path says, else from its first to
 * its last change; null if it has none, since an empty timeline without a window says nothing.
 */
export function renderedWindow(
  path: string,
  value: RawObject,
  edges: readonly number[],
): { from: number; to: number } | null {
  const from = momentIn(path, ['since', 'start_date', 'date']) ?? instantOf(textOf(value, 'since'));
  const to = momentIn(path, ['until', 'end_date']) ?? instantOf(textOf(value, 'until'));
  if (edges.length === 0) return from !== null && to !== null && to > from ? { from, to } : null;
  let [first, last] = [Infinity, -Infinity];
  for (const edge of edges) [first, last] = [Math.min(first, edge), Math.max(last, edge)];
  const window = {
    from: minuteAfter(from === null ? first : Math.min(from, first)),
    to: to === null ? last : Math.max(to, last),
  };
  return window.to > window.from ? window : null;
}

function minuteAfter(ms: number): number {
  return Math.ceil(ms / 60_000) * 60_000;
}

/** Finds a moment that a path names, as a query or as such a query is spelt in the name of a file. */
function momentIn(path: string, names: readonly string[]): number | null {
  for (const name of names) {
    const match = new RegExp(
      String.raw`(?:^|[^a-z]|and)${name}[=\-_]+(\d{4})-(\d\d)-(\d\d)(?:t(\d\d)(?:-3a|:|%3a|-)?(\d\d)(?:(?:-3a|:|%3a|-)?(\d\d))?(?:\.\d+)?(z|(?:-2b|\+|%2b|-2d)\d\d(?:-3a|:|%3a)?\d\d)?)?`,
    ).exec(path);
    if (match === null) continue;
    const [, year, month, day, hour = '00', minute = '00', second = '00', zone = 'z'] = match;
    const offset = zone
      .replaceAll(/-3a|%3a/g, ':')
      .replace(/^(-2b|%2b)/, '+')
      .replace(/^-2d/, '-');
    const ms = instantOf(`${year}-${month}-${day}T${hour}:${minute}:${second}${offset}`);
    if (ms !== null) return ms;
  }
  return null;
}
