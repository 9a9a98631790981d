/** Kinds of resources that widgets name, by the property that names one. */
const NAMED_BY = new Map<string, 'service' | 'team'>([
  ['serviceId', 'service'],
  ['teamId', 'team'],
]);

type Widget = Readonly<Record<string, unknown>>;

/**
 * Returns the layout with other names of the services and teams in it, wherever they stand. A name for which `map`
 * returns null is left out. `place` is the path below the layout.
 */
export function mapIdsOfLayout(
  layout: readonly Widget[],
  map: (kind: 'service' | 'team', text: string, place: string) => string | null,
): Widget[] {
  const visit = (value: unknown, place: string): unknown => {
    if (Array.isArray(value)) return value.map((entry: unknown, index) => visit(entry, `${place}[${index}]`));
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).flatMap(([name, inner]: [string, unknown]) => {
      const kind = NAMED_BY.get(name);
      if (kind === undefined || typeof inner !== 'string') return [[name, visit(inner, `${place}.${name}`)]];
      const mapped = map(kind, inner, `${place}.${name}`);
      return mapped === null ? [] : [[name, mapped]];
    });
    return Object.fromEntries(entries) as unknown;
  };
  return layout.map((widget, index) => visit(widget, `[${index}]`) as Widget);
}
