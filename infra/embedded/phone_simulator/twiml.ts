import { XMLParser, XMLValidator } from 'fast-xml-parser';

export type Spoken =
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'play'; readonly text: string }
  | { readonly kind: 'pause'; readonly seconds: number };

export interface Gather {
  readonly kind: 'gather';
  readonly prompts: readonly Spoken[];
  /** Null: the address of the document itself. */
  readonly action: string | null;
  readonly method: 'GET' | 'POST';
  readonly timeoutSeconds: number;
  /** Null: until the finish key or silence. */
  readonly numDigits: number | null;
  readonly finishOnKey: string;
  readonly actionOnEmptyResult: boolean;
}

export type Verb =
  | Spoken
  | Gather
  | { readonly kind: 'redirect'; readonly url: string; readonly method: 'GET' | 'POST' }
  | { readonly kind: 'hangup' }
  | { readonly kind: 'reject'; readonly reason: 'rejected' | 'busy' }
  | {
      readonly kind: 'message';
      readonly text: string;
      readonly to: string | null;
      readonly statusCallback: string | null;
    }
  | { readonly kind: 'unsupported'; readonly name: string };

/** Twilio's code for a document it could not use; shown as the call's or message's problem. */
export class TwimlError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(`${code} ${message}`);
    this.name = 'TwimlError';
    this.code = code;
  }
}

interface Node {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Node[];
  readonly text: string;
}

type RawNode = Readonly<Record<string, unknown>>;

const ATTRIBUTES = ':@';
const TEXT = '#text';
/** Twilio repeats `loop="0"` without end; a double need not. */
const LOOP_MAX = 10;

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
});

/** The verbs of a document in their order. Throws TwimlError 12100 (not XML), 12102 (wrong root). */
export function parseTwiml(xml: string): readonly Verb[] {
  if (XMLValidator.validate(xml) !== true || /<!DOCTYPE/i.test(xml))
    throw new TwimlError(12100, 'Document parse failure');
  const root = toNodes(parser.parse(xml)).find((node) => !node.name.startsWith('?') && node.name !== TEXT);
  if (root?.name !== 'Response') throw new TwimlError(12102, 'No Response element');
  return root.children.filter((node) => node.name !== TEXT).flatMap(toVerbs);
}

function toVerbs(node: Node): readonly Verb[] {
  const spoken = toSpoken(node);
  if (spoken !== null) return spoken;
  switch (node.name) {
    case 'Gather':
      return [toGather(node)];
    case 'Redirect':
      return [{ kind: 'redirect', url: node.text.trim(), method: methodOf(node, 'method') }];
    case 'Hangup':
      return [{ kind: 'hangup' }];
    case 'Reject':
      return [{ kind: 'reject', reason: node.attributes['reason'] === 'busy' ? 'busy' : 'rejected' }];
    case 'Message':
      return [toMessage(node)];
    default:
      return [{ kind: 'unsupported', name: node.name }];
  }
}

function toSpoken(node: Node): readonly Spoken[] | null {
  switch (node.name) {
    case 'Say':
      return repeated(node, { kind: 'say', text: node.text.replaceAll(/\s+/g, ' ').trim() });
    case 'Play':
      return repeated(node, { kind: 'play', text: node.text.trim() });
    case 'Pause':
      return [{ kind: 'pause', seconds: wholeNumber(node, 'length', 1) }];
    default:
      return null;
  }
}

function toGather(node: Node): Gather {
  const numDigits = wholeNumber(node, 'numDigits', 0);
  return {
    kind: 'gather',
    prompts: node.children.flatMap((child) => toSpoken(child) ?? []),
    action: node.attributes['action'] || null,
    method: methodOf(node, 'method'),
    timeoutSeconds: wholeNumber(node, 'timeout', 5),
    numDigits: numDigits > 0 ? numDigits : null,
    finishOnKey: node.attributes['finishOnKey'] ?? '#',
    actionOnEmptyResult: node.attributes['actionOnEmptyResult'] === 'true',
  };
}

function toMessage(node: Node): Verb {
  const body = node.children.find((child) => child.name === 'Body');
  const statusCallback = node.attributes['action'] ?? node.attributes['statusCallback'] ?? null;
  return { kind: 'message', text: (body ?? node).text.trim(), to: node.attributes['to'] ?? null, statusCallback };
}

function repeated(node: Node, spoken: Spoken): readonly Spoken[] {
  const loop = Math.min(wholeNumber(node, 'loop', 1) || LOOP_MAX, LOOP_MAX);
  return Array.from({ length: loop }, () => spoken);
}

function wholeNumber(node: Node, attribute: string, otherwise: number): number {
  const text = node.attributes[attribute];
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : otherwise;
}

function methodOf(node: Node, attribute: string): 'GET' | 'POST' {
  return node.attributes[attribute]?.toUpperCase() === 'GET' ? 'GET' : 'POST';
}

function toNodes(parsed: unknown): readonly Node[] {
  return Array.isArray(parsed) ? parsed.map((raw: RawNode) => toNode(raw)) : [];
}

function toNode(raw: RawNode): Node {
  const name = Object.keys(raw).find((key) => key !== ATTRIBUTES) ?? '';
  if (name === TEXT) return { name, attributes: {}, children: [], text: String(raw[TEXT]) };
  const children = toNodes(raw[name]);
  const text = children.map((child) => child.text).join('');
  return { name, attributes: toAttributes(raw[ATTRIBUTES]), children, text };
}

function toAttributes(raw: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(raw ?? {}).map(([name, value]) => [name, String(value)]));
}
