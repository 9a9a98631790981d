import { randomUUID } from 'node:crypto';

import { CLIENT_CAPABILITIES_META_KEY } from '@modelcontextprotocol/server';
import type { FastifyRequest } from 'fastify';

import { quoted } from '#core/responder/visible_text.ts';

/**
 * The page on which a person answers a proposal. Whoever opens it has to be signed in and may decide what they may decide
 * anyway: the agent, which passes it on, can do nothing with it.
 */
export interface ApprovalLink {
  readonly proposalId: string;
  readonly url: string;
  /** What the client shows beside it. */
  readonly message: string;
}

/** The link of what `propose_action` has answered; null for anything else, and for what was proposed before. */
export function approvalLinkOf(result: unknown): ApprovalLink | null {
  if (!isRecord(result)) return null;
  const { proposalId, answerUrl, agentName, proposed, number, isRepeated } = result;
  if (typeof proposalId !== 'string' || typeof answerUrl !== 'string' || typeof proposed !== 'string') return null;
  if (isRepeated === true) return null;
  const message = `The agent ${quoted(String(agentName))} proposes to ${proposed} (#${String(number)}). Tocsin asks you to sign in; then approve or reject it.`;
  return { proposalId, url: answerUrl, message };
}

/**
 * In front of the id of a session whose client opens links for its person. Of the generations with sessions a client says
 * so once, and this server keeps none: the id, which comes back with each request, is where it is kept.
 */
const SESSION_PREFIX = 'opens-links.';
/** The first version of the protocol that knows such links. */
const SINCE = '2025-11-25';

/** The id of a session for a client that begins, if it opens links; null if it does not. */
export function sessionIdFor(body: unknown): string | null {
  if (!isRecord(body) || body['method'] !== 'initialize' || !isRecord(body['params'])) return null;
  return opensLinks(body['params']['capabilities']) ? SESSION_PREFIX + randomUUID() : null;
}

/** Whether a request is of a session whose client opens links. */
export function isOfLinkSession({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  const session = headers['mcp-session-id'];
  return headers['mcp-protocol-version'] === SINCE && typeof session === 'string' && session.startsWith(SESSION_PREFIX);
}

/** Of the newest generation, whose clients say with each request what they can do. */
export function opensLinksNow(envelope: Readonly<Record<string, unknown>> | undefined): boolean {
  return opensLinks(envelope?.[CLIENT_CAPABILITIES_META_KEY]);
}

function opensLinks(capabilities: unknown): boolean {
  if (!isRecord(capabilities)) return false;
  const { elicitation } = capabilities;
  return isRecord(elicitation) && isRecord(elicitation['url']);
}

/** A JSON answer as the events of a stream: the links first, as requests of the server to the client. */
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
