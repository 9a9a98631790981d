import { ProtocolError, ProtocolErrorCode, type ReadResourceResult } from '@modelcontextprotocol/server';

import { getAction } from '#actions/registry.ts';
import { runAction } from '#actions/run_action.ts';
import { senderIdOf } from '#entry/http/connections/call_budget.ts';
import type { Exchange } from '#entry/http/mcp/exchange.ts';
import { renderDigest } from '#entry/http/mcp/digest.ts';
import { conditionText } from '#modules/rules/decide/rule_kinds.ts';
import { AppError } from '#kernel/errors.ts';
import { storesOf } from '#modules/stores.ts';

const RESULTS = 'tocsin://results/';

/** Resources that always exist. */
export const RESOURCES = [
  { uri: 'tocsin://services', name: 'Services', mimeType: 'application/json' },
  { uri: 'tocsin://incidents', name: 'Incidents', mimeType: 'application/json' },
] as const;

export const RESOURCE_TEMPLATES = [
  { uriTemplate: 'tocsin://services/{serviceId}', name: 'One service', mimeType: 'application/json' },
  { uriTemplate: 'tocsin://incidents/{incidentId}', name: 'One incident', mimeType: 'application/json' },
  { uriTemplate: 'tocsin://rules/{ruleId}/runbook', name: 'Runbook of a rule', mimeType: 'text/plain' },
] as const;

/** Reads a resource. Throws an error of the protocol if it does not exist, or may not be seen. */
export async function readResource(exchange: Exchange, uri: string): Promise<ReadResourceResult> {
  try {
    const [, ruleId] = /^tocsin:\/\/rules\/([^/?]+)\/runbook$/.exec(uri) ?? [];
    if (ruleId !== undefined) return textOf(uri, 'text/plain', await readRunbook(exchange, ruleId));
    const call = parseResultUri(uri) ?? callOf(uri);
    if (call === null) throw notThere(uri);
    return textOf(uri, 'application/json', JSON.stringify({ result: await read(exchange, call.tool, call.input) }));
  } catch (error) {
    if (error instanceof AppError && error.code !== 'internal')
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${error.code}: ${error.message}`);
    throw error;
  }
}

function callOf(uri: string): { readonly tool: string; readonly input: object } | null {
  if (uri === 'tocsin://services') return { tool: 'list_services', input: {} };
  if (uri === 'tocsin://incidents') return { tool: 'list_incidents', input: {} };
  const [, kind, id] = /^tocsin:\/\/(services|incidents)\/([^/?]+)$/.exec(uri) ?? [];
  if (id === undefined) return null;
  return kind === 'services'
    ? { tool: 'get_service', input: { serviceId: id } }
    : { tool: 'get_incident', input: { incidentId: id } };
}

async function read({ runtime, budget, caller, origin }: Exchange, tool: string, input: object): Promise<unknown> {
  const action = getAction(tool);
  if (action.effect !== 'read') throw notThere(`tocsin://results/${tool}`);
  return await budget.run(senderIdOf(caller), () => runAction(runtime, action, caller, input, origin));
}

function textOf(uri: string, mimeType: string, text: string): ReadResourceResult {
  return { contents: [{ uri, mimeType, text }] };
}

function notThere(uri: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no resource ${uri.slice(0, 200)}`);
}

/** Reads the runbook of a rule: its condition, whom it pages, and how its last incidents ended. */
async function readRunbook({ runtime, caller }: Exchange, ruleId: string): Promise<string> {
  if (!caller.permissions.has('oncall:view'))
    throw new AppError('forbidden', 'a runbook needs the permission oncall:view');
  const stores = storesOf(runtime.db.session());
  const rule = await stores.alertRules.get(caller.orgId, ruleId);
  const service = await stores.services.get(caller.orgId, rule.serviceId);
  const policy =
    rule.escalationPolicyId === null ? null : await stores.policies.get(caller.orgId, rule.escalationPolicyId);
  const since = runtime.clock.now().subtract({ hours: 24 * DAYS });
  const [counted] = await stores.incidentSearch.countByRule(caller.orgId, { ruleId: rule.id, since }, 1);
  return [
    `Runbook of the rule ${JSON.stringify(rule.name)} (${rule.id})`,
    renderDigest({
      service: service.name,
      serviceId: service.id,
      fires: conditionText(rule),
      enabled: rule.enabled,
      policy: policy?.name ?? 'none: it pages nobody',
      incidentsIn30Days: counted?.count ?? 0,
    }),
    '1. list_incidents with this serviceId and status triggered; take the incident of this rule.',
    '2. get_incident: read evidence first (deploys, changes, metrics that moved, how alike ones ended).',
    '3. Acknowledge only when somebody works on it: escalation pauses.',
    '4. Resolve when the condition above is false again, which query_metric or get_exception_group shows.',
  ].join('\n');
}

const DAYS = 30;

/** Returns the URI of the whole result of a read-only tool, valid for as long as the call would answer the same. */
export function resultUri(tool: string, input: unknown): string {
  const asked = typeof input === 'object' && input !== null ? Object.entries(input) : [];
  const query = new URLSearchParams(asked.map(([name, value]): [string, string] => [name, JSON.stringify(value)]));
  return RESULTS + tool + (query.size === 0 ? '' : `?${query.toString()}`);
}

/** Parses a URI written by `resultUri` into the call of a read-only tool; null for anything else. */
function parseResultUri(uri: string): { readonly tool: string; readonly input: object } | null {
  if (!uri.startsWith(RESULTS)) return null;
  const [tool = '', query = ''] = uri.slice(RESULTS.length).split('?');
  try {
    const asked = [...new URLSearchParams(query)].map(([name, value]): [string, unknown] => [name, JSON.parse(value)]);
    return { tool, input: Object.fromEntries(asked) };
  } catch {
    return null;
  }
}
