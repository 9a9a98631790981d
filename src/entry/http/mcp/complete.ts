import type { CompleteRequest, CompleteResult } from '@modelcontextprotocol/server';

import { Directory } from '#entry/http/mcp/advice/directory.ts';
import type { Exchange } from '#entry/http/mcp/exchange.ts';
import type { Kind } from '#kernel/ids.ts';

/** As the protocol allows. */
const VALUES_MAX = 100;

/** What the arguments of prompts and resources name. */
const KINDS: Readonly<Record<string, Kind>> = {
  service: 'service',
  serviceId: 'service',
  team: 'team',
  incidentId: 'incident',
  ruleId: 'rule',
};

/** Ids for the addresses of resources, names for prompts; what was typed may be the beginning of an id or any part of a name. */
export async function complete(
  exchange: Exchange,
  { ref, argument }: CompleteRequest['params'],
): Promise<CompleteResult> {
  const kind = Object.hasOwn(KINDS, argument.name) ? KINDS[argument.name] : undefined;
  const entries = kind === undefined ? [] : await new Directory(exchange).list(kind);
  const typed = argument.value.toLowerCase();
  const found = entries.filter(
    ({ id, names }) => id.startsWith(typed) || names.some((name) => name.toLowerCase().includes(typed)),
  );
  const values = found.map(({ id, names: [name = id] }) => (ref.type === 'ref/prompt' ? name : id));
  return {
    completion: { values: values.slice(0, VALUES_MAX), total: values.length, hasMore: values.length > VALUES_MAX },
  };
}
