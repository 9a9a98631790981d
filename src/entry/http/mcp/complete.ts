import type { CompleteRequest, CompleteResult } from '@modelcontextprotocol/server';

import { Directory } from '#entry/http/mcp/advice/directory.ts';
import type { Exchange } from '#entry/http/mcp/exchange.ts';
import type { Kind } from '#kernel/ids.ts';

/** Limit on the values of a completion, set by the protocol. */
const VALUES_MAX = 100;

/** Kinds of objects that the arguments of prompts and resources refer to. */
const KINDS: Readonly<Record<string, Kind>> = {
  service: 'service',
  serviceId: 'service',
  team: 'team',
  incidentId: 'incident',
  ruleId: 'rule',
};

/**
 * Completes an argument: ids for the addresses of resources, names for prompts; the typed text may be the beginning of
 * an id or any part of a name.
 */
export async function complete(
  exchange: Exchange,
  { ref, argument }: CompleteRequest['params'],
): Promise<CompleteResult> {
  const kind = Object.hasOwn(KINDS, argument.name) ? KINDS[argument.name] : undefined;
  const entries = kind === undefined ? [] : await new Directory(exchange).list(kind);
  const typed = argument.value.toLowerCase();
  const matching = entries.filter(
    ({ id, names }) => id.startsWith(typed) || names.some((name) => name.toLowerCase().includes(typed)),
  );
  const values = matching.map(({ id, names: [name = id] }) => (ref.type === 'ref/prompt' ? name : id));
  return {
    completion: { values: values.slice(0, VALUES_MAX), total: values.length, hasMore: values.length > VALUES_MAX },
  };
}
