import type { Via } from '#kernel/caller.ts';

/** Who settled an incident: `SettledBy`, and what views make of it. */
interface Settler {
  readonly userId?: string;
  readonly apiKeyId?: string;
  readonly apiKeyName?: string;
  readonly clientName?: string;
  readonly via: Via;
}

/** A person by name. */
type NameOf = (userId: string) => string;

/** Who it was: a person, the app or key that they acted through, or a key of the organization, by name. */
export function settlerName(by: Settler, nameOf: NameOf): string {
  if (by.userId !== undefined) {
    const name = nameOf(by.userId);
    if (by.clientName !== undefined) return `${name} through ${quoted(by.clientName)}`;
    return by.apiKeyName === undefined ? name : `${name} with the API key ${quoted(by.apiKeyName)}`;
  }
  if (by.apiKeyId !== undefined)
    return by.apiKeyName === undefined ? 'an API key' : `the API key ${quoted(by.apiKeyName)}`;
  return 'Tocsin itself, as its cause is gone';
}

/** Who it was, and how: `Anna by SMS`, `the API key "deploy bot" (MCP)`. */
export function settlerText(by: Settler, nameOf: NameOf): string {
  const name = settlerName(by, nameOf);
  if (by.userId === undefined && by.apiKeyId === undefined) return name;
  if (by.apiKeyName !== undefined || by.clientName !== undefined) return by.via === 'mcp' ? `${name} (MCP)` : name;
  return `${name} by ${WAYS[by.via]}`;
}

const WAYS: Readonly<Record<Via, string>> = {
  rest: 'the API',
  mcp: 'an agent (MCP)',
  console: 'the console',
  cli: 'the command line',
  sms: 'SMS',
  call: 'phone',
  push: 'push',
  email: 'mail',
  rule: 'a rule',
};

function quoted(name: string): string {
  return `"${name}"`;
}
