import type { IncidentActor } from '#modules/incidents/decide/incident.ts';
import { actorText } from '#modules/incidents/decide/incident_actor.ts';

/** Describes an event of a timeline that is about an agent; null for any other. No field is trusted. */
export function agentEventText(
  event: string,
  data: Readonly<Record<string, unknown>>,
  nameOf: (userId: unknown) => string,
): string | null {
  const agent = `The agent ${quoted(text(data['agent']))}`;
  switch (event) {
    case 'lease_taken':
      return `${agent} works on it for ${Number(data['minutes'] ?? 0)} minutes${heldText(data)}.`;
    case 'lease_released':
      return `${agent} no longer works on it${data['because'] === 'stopped' ? ': it was stopped' : ''}.`;
    case 'lease_lost':
      return `${agent} stopped answering, and lost its lease.`;
    case 'agent_proposed':
      return `${agent} proposes ${text(data['action'])} (#${Number(data['number'] ?? 0)}): ${text(data['sentence'])}`;
    case 'agent_asked':
      return `${agent} asks (#${Number(data['number'] ?? 0)}): ${text(data['sentence'])}`;
    case 'proposal_answered':
      return `${actorOf(data, nameOf)} ${ANSWERED[text(data['status'])] ?? 'answered'} #${Number(data['number'] ?? 0)} of ${agent.replace('The', 'the')}${wordsOf(data)}.`;
    default:
      return null;
  }
}

const ANSWERED: Readonly<Record<string, string>> = {
  carried_out: 'approved',
  approved: 'answered yes to',
  rejected: 'said no to',
};

function heldText(data: Readonly<Record<string, unknown>>): string {
  const held = text(data['heldUntil']);
  return held === '' ? '; the escalation goes on as planned' : '; the first step waits, at most until then';
}

function wordsOf(data: Readonly<Record<string, unknown>>): string {
  const words = text(data['answer']);
  return words === '' ? '' : `: ${words.replace(/[.!?]+$/, '')}`;
}

function actorOf(data: Readonly<Record<string, unknown>>, nameOf: (userId: unknown) => string): string {
  const by = data['by'] as IncidentActor | undefined;
  return by === undefined ? 'Somebody' : actorText(by, nameOf);
}

function text(value: unknown): string {
  return typeof value === 'string' ? visibleText(value) : '';
}

/**
 * Invisible characters, and those that change how the text after them is read; the joiners are part of how some scripts
 * are written.
 */
const HIDDEN = /(?![\u200C\u200D])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * Returns the text of an agent with its control characters, and those that change the direction, as escapes: `\u202e`.
 * Nobody approves anything but what they read.
 */
export function visibleText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(HIDDEN, (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
}

/** Returns a value as JSON in which everything can be seen; with `indent` on several lines. */
export function visibleJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).split('\n').map(visibleText).join('\n');
}

/** Quotes a text so that it cannot end the quotation by itself. */
export function quoted(text: string): string {
  return `"${visibleText(text).replaceAll(/["“”„«»]/g, "'")}"`;
}
