import { randomUUID } from 'node:crypto';

import { CLIENT_CAPABILITIES_META_KEY } from '@modelcontextprotocol/server';
import type { FastifyRequest } from 'fastify';

import { quoted } from '#modules/agents/decide/agent_text.ts';

/**
 * Link to the page on which a person answers a proposal. Whoever opens it has to be signed in and may decide what they
 * may decide anyway: the agent, which passes it on, can do nothing with it.
 */
export interface ApprovalLink {
  readonly proposalId: string;
  readonly url: string;
  /** Text that the client shows beside the link. */
  readonly message: string;
}

/** Returns the link in a result of `propose_action`; null for anything else, and for a repeated proposal. */
export function approvalLinkOf(result: unknown): ApprovalLink | null {
  if (!isRecord(result)) return null;
  const { proposalId, answerUrl, agentName, proposed, number, isRepeated } = result;
  if (typeof proposalId !== 'string' || typeof answerUrl !== 'string' || typeof proposed !== 'string') return null;
  if (isRepeated === true) return null;
  const message = `The agent ${quoted(String(agentName))} proposes to ${proposed} (#${String(number)}). Tocsin asks you to sign in; then approve or reject it.`;
  return { proposalId, url: answerUrl, message };
}

/**
 * Prefix of the id of a session whose client opens links for its person. In the protocol versions with sessions a
 * client declares this once, and this server stores no sessions: the id, which comes back with each request, carries
 * it.
 */
const SESSION_PREFIX = 'opens-links.';
/** First version of the protocol with such links. */
const SINCE = '2025-11-25';

/** Returns the session id of a client that initializes, if it opens links; null if it does not. */
export function sessionIdFor(body: unknown): string | null {
  if (!isRecord(body) || body['method'] !== 'initialize' || !isRecord(body['params'])) return null;
  return opensLinks(body['params']['capabilities']) ? SESSION_PREFIX + randomUUID() : null;
}

/** Whether a request is of a session whose client opens links. */
export function isOfLinkSession({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  const session = headers['mcp-session-id'];
  return headers['mcp-protocol-version'] === SINCE && typeof session === 'string' && session.startsWith(SESSION_PREFIX);
}

/**
 * Whether the client of a request opens links, in the newest version of the protocol, where clients declare their
 * capabilities with each request.
 */
export function opensLinksNow(envelope: Readonly<Record<string, unknown>> | undefined): boolean {
  return opensLinks(envelope?.[CLIENT_CAPABILITIES_META_KEY]);
}

function opensLinks(capabilities: unknown): boolean {
  if (!isRecord(capabilities)) return false;
  const { elicitation } = capabilities;
  return isRecord(elicitation) && isRecord(elicitation['url']);
}

/** Converts a JSON answer to the events of a stream: the links first, as requests of the server to the client. */
export async function withLinks(answer: Response, links: readonly ApprovalLink[]): Promise<Response> {
  const asked = links.map(({ proposalId, url, message }) => ({
    jsonrpc: '2.0',
    id: `open ${proposalId}`,
    method: 'elicitation/create',
    params: { mode: 'url', elicitationId: proposalId, url, message },
  }));
  const said: unknown = await answer.json();
  const events = [...asked, ...(Array.isArray(said) ? said : [said])];
  const body = events.map((event) => `event: message\ndata: ${JSON.stringify(event)}\n\n`).join('');
  const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform' };
  return new Response(body, { headers });
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
