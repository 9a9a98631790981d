const RESULTS = 'tocsin://results/';

/** Where the whole result of a tool that reads is found, for as long as the call would answer it. */
export function resultUri(tool: string, input: unknown): string {
  const asked = typeof input === 'object' && input !== null ? Object.entries(input) : [];
  const query = new URLSearchParams(asked.map(([name, value]): [string, string] => [name, JSON.stringify(value)]));
  return RESULTS + tool + (query.size === 0 ? '' : `?${query.toString()}`);
}

/** A call of a tool that reads, as `resultUri` wrote it; null for anything else. */
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
