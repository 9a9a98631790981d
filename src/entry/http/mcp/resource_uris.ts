const RESULTS = 'tocsin://results/';

/** Returns the URI of the whole result of a read-only tool, valid for as long as the call would answer the same. */
export function resultUri(tool: string, input: unknown): string {
  const asked = typeof input === 'object' && input !== null ? Object.entries(input) : [];
  const query = new URLSearchParams(asked.map(([name, value]): [string, string] => [name, JSON.stringify(value)]));
  return RESULTS + tool + (query.size === 0 ? '' : `?${query.toString()}`);
}

/** Parses a URI written by `resultUri` into the call of a read-only tool; null for anything else. */
export function parseResultUri(uri: string): { readonly tool: string; readonly input: object } | null {
  if (!uri.startsWith(RESULTS)) return null;
  const [tool = '', query = ''] = uri.slice(RESULTS.length).split('?');
  try {
    const asked = [...new URLSearchParams(query)].map(([name, value]): [string, unknown] => [name, JSON.parse(value)]);
    return { tool, input: Object.fromEntries(asked) };
  } catch {
    return null;
  }
}
